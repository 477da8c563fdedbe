// Sends requests to the ask service.

export class NoConnection extends Error {}

// ``wait``: seconds after which the page may send the request again, or 0 if the service gave none.
export class Refused extends Error {
  constructor(status, problem, wait) {
    super(problem.detail || problem.title || `HTTP ${status}`);
    this.status = status;
    this.wait = wait;
  }
}

const TIMEOUT_MS = 20_000;

export class Service {
  constructor(base) {
    this.base = base;
  }

  // Signs in with the link of the page, or throws the reason why the service refuses it.
  async enter() {
    let answer;
    try {
      answer = await fetch(window.location.href, { headers: { Accept: "application/json" }, redirect: "manual" });
    } catch (error) {
      throw new NoConnection(String(error));
    }
    if (answer.type === "opaqueredirect") return window.location.reload();
    this.refuse(answer, await answer.json().catch(() => ({})));
  }

  about() {
    return this.ask("GET", "about");
  }

  async next(body) {
    const response = await this.ask("POST", "next", body);
    return { ...response, items: response.items.map((item) => this.withImagePath(item)) };
  }

  async undo(item) {
    return this.withImagePath(await this.ask("POST", "undo", { item }));
  }

  // Returns the item with the address of its image as an absolute path.
  withImagePath(item) {
    if (!item.image) return item;
    return { ...item, image: new URL(item.image, `${window.location.origin}${this.base}/`).pathname };
  }

  async ask(method, name, body) {
    const headers = { Accept: "application/json", "Sluice-Ask": "1" };
    if (body) headers["Content-Type"] = "application/json";
    const options = { method, headers, body: body && JSON.stringify(body), cache: "no-store" };
    // Answers are sent even if the browser is closed immediately afterwards.
    if (body) options.keepalive = true;
    let answer, content;
    try {
      answer = await fetch(`${this.base}/${name}`, { ...options, signal: timeoutSignal() });
      content = await answer.json().catch((error) => (answer.ok ? Promise.reject(error) : {}));
    } catch (error) {
      throw new NoConnection(String(error));
    }
    if (!answer.ok) this.refuse(answer, content);
    return content;
  }

  refuse(answer, problem) {
    throw new Refused(answer.status, problem, Number(answer.headers.get("Retry-After")) || 0);
  }
}

function timeoutSignal() {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), TIMEOUT_MS);
  return controller.signal;
}
