// Requests to the service that asks.

export class NoConnection extends Error {}

// ``wait``: seconds after which it may be asked again, where it says so.
export class Refused extends Error {
  constructor(status, problem, wait) {
    super(problem.detail || problem.title || `HTTP ${status}`);
    this.status = status;
    this.wait = wait;
  }
}

const PATIENCE = 20_000; // ms

export class Service {
  constructor(base) {
    this.base = base;
  }

  // By a link that has not let in at once: says why.
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
    const came = await this.ask("POST", "next", body);
    return { ...came, items: came.items.map((item) => this.placed(item)) };
  }

  async undo(item) {
    return this.placed(await this.ask("POST", "undo", { item }));
  }

  // Images have their address from here.
  placed(item) {
    if (!item.image) return item;
    return { ...item, image: new URL(item.image, `${window.location.origin}${this.base}/`).pathname };
  }

  async ask(method, name, body) {
    const headers = { Accept: "application/json", "Sluice-Ask": "1" };
    if (body) headers["Content-Type"] = "application/json";
    const options = { method, headers, body: body && JSON.stringify(body), cache: "no-store" };
    // So that answers leave even where the browser is closed right after them.
    if (body) options.keepalive = true;
    let answer, read;
    try {
      answer = await fetch(`${this.base}/${name}`, { ...options, signal: limit() });
      read = await answer.json().catch((error) => (answer.ok ? Promise.reject(error) : {}));
    } catch (error) {
      throw new NoConnection(String(error));
    }
    if (!answer.ok) this.refuse(answer, read);
    return read;
  }

  refuse(answer, problem) {
    throw new Refused(answer.status, problem, Number(answer.headers.get("Retry-After")) || 0);
  }
}

function limit() {
  const end = new AbortController();
  setTimeout(() => end.abort(), PATIENCE);
  return end.signal;
}
