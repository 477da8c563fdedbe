// Shows one item and scrolls to its marked place.

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
    Object.assign(this, { ready, failed, display: null, near: false });
    this.pane = element("pane");
    this.button = element("closer");
    this.button.addEventListener("click", () => this.closer(!this.near));
    new ResizeObserver(() => this.settle()).observe(this.pane);
  }

  // Shows an item once. ``again`` shows it again, after its image did not load.
  show(item, again = false) {
    if (!again && this.display?.item === item) return;
    const display = { item, ...viewOf(item), done: false, at: performance.now() };
    this.display = display;
    element("item-title").textContent = item.title || "";
    element("item-title").hidden = !item.title;
    element("item-body").replaceChildren(display.view);
    if (display.closer) display.view.addEventListener("click", () => this.closer(!this.near));
    element("item").dataset.kind = display.closer ? "image" : "text";
    element("item").dataset.ready = "";
    this.pane.scrollTo(0, 0);
    this.settle();
    display.ready.then(
      () => this.isReady(display),
      () => this.display === display && this.failed(item),
    );
  }

  clear() {
    this.display = null;
    element("item-title").hidden = true;
    element("item-body").replaceChildren();
    element("item").dataset.ready = "";
  }

  isReady(display) {
    if (this.display !== display) return;
    Object.assign(display, { done: true, at: performance.now() });
    this.settle();
    element("item").dataset.ready = display.item.id;
    this.ready(display.item);
  }

  closer(near) {
    if (this.button.hidden) return;
    this.near = near;
    this.settle();
  }

  // Adjusts zoom and scroll position after the size of the window or of the item has changed.
  settle() {
    const { closer, done, place } = this.display || {};
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
    const distance = { ArrowDown: 48, ArrowUp: -48, PageDown: page, PageUp: -page, " ": page }[key];
    if (distance) this.pane.scrollBy({ top: distance, behavior: "instant" });
    return Boolean(distance);
  }
}
