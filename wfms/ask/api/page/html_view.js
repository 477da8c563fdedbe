// HTML that the service has cleaned, apart from the page: neither's styles and names reach the other.

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
  // What is cleaned leads nowhere; this is the second lock.
  root.addEventListener("click", (event) => event.target.closest("a, area") && event.preventDefault());
  const ready = new Promise((done) => {
    style.addEventListener("load", done);
    style.addEventListener("error", done);
  });
  root.append(style, content);
  return { view, place: content.querySelector("mark"), ready };
}
