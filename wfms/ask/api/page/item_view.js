// Shows one item, its marked place in view.

import { viewHtml } from "./html_view.js";
import { viewImage } from "./image_view.js";
import { viewText } from "./text_view.js";

const element = (id) => document.getElementById(id);

function viewOf(item) {
  if (item.image) return viewImage(item);
  return item.html !== null && item.html !== undefined ? viewHtml(item) : viewText({ ...item, text: item.text ?? "" });
}

export class ItemView {
  constructor({ ready, failed }) {
    Object.assign(this, { ready, failed, shown: null, near: false });
    this.pane = element("pane");
    this.button = element("closer");
    this.button.addEventListener("click", () => this.closer(!this.near));
    new ResizeObserver(() => this.settle()).observe(this.pane);
  }

  // Once for each item; again where its image did not come.
  show(item, again = false) {
    if (!again && this.shown?.item === item) return;
    const made = { item, ...viewOf(item), done: false, at: performance.now() };
    this.shown = made;
    element("item-title").textContent = item.title || "";
    element("item-title").hidden = !item.title;
    element("item-body").replaceChildren(made.view);
    if (made.closer) made.view.addEventListener("click", () => this.closer(!this.near));
    element("item").dataset.kind = made.closer ? "image" : "text";
    element("item").dataset.ready = "";
    this.pane.scrollTo(0, 0);
    this.settle();
    made.ready.then(
      () => this.isReady(made),
      () => this.shown === made && this.failed(item),
    );
  }

  clear() {
    this.shown = null;
    element("item-title").hidden = true;
    element("item-body").replaceChildren();
    element("item").dataset.ready = "";
  }

  isReady(made) {
    if (this.shown !== made) return;
    Object.assign(made, { done: true, at: performance.now() });
    this.settle();
    element("item").dataset.ready = made.item.id;
    this.ready(made.item);
  }

  closer(near) {
    if (this.button.hidden) return;
    this.near = near;
    this.settle();
  }

  // After the size of the window, or of what is shown, has changed.
  settle() {
    const { closer, done, place } = this.shown || {};
    this.button.hidden = !(closer && done && closer(this.near, this.pane));
    this.button.setAttribute("aria-pressed", String(this.near));
    if (!place || !done) return;
    const [outer, inner] = [this.pane.getBoundingClientRect(), place.getBoundingClientRect()];
    if (!this.near && inner.top >= outer.top && inner.bottom <= outer.bottom) return;
    this.pane.scrollBy({
      left: inner.left + inner.width / 2 - outer.left - outer.width / 2,
      top: inner.top + inner.height / 2 - outer.top - outer.height / 2,
      behavior: "instant",
    });
  }

  scroll(key) {
    const page = this.pane.clientHeight * 0.85;
    const way = { ArrowDown: 48, ArrowUp: -48, PageDown: page, PageUp: -page, " ": page }[key];
    if (way) this.pane.scrollBy({ top: way, behavior: "instant" });
    return Boolean(way);
  }
}
