// The queue of items, of which the page shows the first. The service does not send an item twice to
// a browser. So the browser stores the items until they are answered, even if the page is closed.

const MIN_ITEMS = 4; // Minimum length of the queue to aim at
const MAX_ITEMS = 20; // Maximum length of the queue to aim at
const SECONDS_AHEAD = 60; // Work to have in the queue: about the time that a train is in a tunnel
const MAX_RECENT_ITEMS = 20; // Answered items that undo can show without a request

export class Items {
  constructor(store) {
    this.store = store;
    this.wording = ""; // The current version of the question; stored items of others are dropped.
    this.queue = [];
    this.recent = new Map(); // The items that were answered last, for undo
    this.pace = [];
    this.pictures = new Map();
  }

  get current() {
    return this.queue[0] || null;
  }

  has(id) {
    return this.queue.some((item) => item.id === id);
  }

  // Loads the items that this page or another one has stored in this browser.
  load() {
    const all = this.store.names("item ").map((name) => this.store.read(name)).filter((entry) => entry);
    for (const { wording, item } of all) if (wording !== this.wording) this.store.remove(`item ${item.id}`);
    const current = all.filter((entry) => entry.wording === this.wording);
    this.enqueue(current.sort((left, right) => left.place - right.place).map((entry) => entry.item));
  }

  // Items from the service are put into the queue only if this page asks.
  add(items, { enqueue }) {
    const place = Date.now();
    items.forEach((item, index) => this.keep(item, place + index / items.length));
    if (enqueue) this.enqueue(items);
  }

  enqueue(items) {
    const fresh = items.filter((item) => !this.has(item.id));
    this.queue.push(...fresh);
    for (const item of fresh) this.fetchPicture(item);
  }

  keep(item, place) {
    this.store.write(`item ${item.id}`, { item, place, wording: this.wording });
  }

  first(item) {
    this.recent.delete(item.id);
    this.queue = [item, ...this.queue.filter((other) => other.id !== item.id)];
    this.keep(item, -Date.now());
    this.fetchPicture(item);
  }

  answered(seconds) {
    const item = this.queue.shift();
    this.store.remove(`item ${item.id}`);
    this.recent.set(item.id, item);
    if (this.recent.size > MAX_RECENT_ITEMS) this.recent.delete(this.recent.keys().next().value);
    this.pictures.delete(item.id);
    this.pace = [...this.pace, Math.min(seconds, SECONDS_AHEAD)].slice(-5);
  }

  drop(id) {
    this.queue = this.queue.filter((item) => item.id !== id);
    this.store.remove(`item ${id}`);
  }

  // Empties the queue because another page asks now. The stored items are left to that page.
  leave() {
    this.queue = [];
    this.recent.clear();
    this.pictures.clear();
  }

  // Returns how many more items to request, which depends on the pace of the answers.
  countMissing() {
    const total = this.pace.reduce((sum, seconds) => sum + seconds, 0);
    const mean = this.pace.length ? total / this.pace.length : SECONDS_AHEAD / MIN_ITEMS;
    const items = SECONDS_AHEAD / Math.max(mean, 0.5);
    const ahead = Math.round(Math.min(MAX_ITEMS, Math.max(MIN_ITEMS, items)));
    return this.queue.length > Math.max(2, ahead / 2) ? 0 : ahead - this.queue.length;
  }

  // Loads the image of an item before the item is shown.
  fetchPicture(item) {
    if (!item.image || this.pictures.has(item.id)) return;
    const picture = new Image();
    picture.src = item.image;
    this.pictures.set(item.id, picture);
  }
}
