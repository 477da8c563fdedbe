// Shows HTML that the service has sanitized. A shadow root isolates its styles and ids.

export function viewHtml(item) {
  const view = document.createElement("div");
  view.className = "html";
  const root = view.attachShadow({ mode: "open" });
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("item.css", import.meta.url);
  const content = document.createElement("div");
  content.className = "content";
  content.dir = "auto";
  content.innerHTML = item.html;
  // Sanitized links have no address. This listener is a second safeguard.
  root.addEventListener("click", (event) => event.target.closest("a, area") && event.preventDefault());
  const ready = new Promise((done) => {
    style.addEventListener("load", done);
    style.addEventListener("error", done);
  });
  root.append(style, content);
  return { view, place: content.querySelector("mark"), ready };
}
