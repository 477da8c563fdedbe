// Items at hand: the first one is shown, the others wait behind it. The service gives none twice to a browser,
// so they are kept until they are answered, whatever becomes of the page.

const LEAST = 4;
const MOST = 20;
const AHEAD = 60; // seconds of work at hand: about a tunnel
const BACK = 20; // answered items that can come back without being asked for

export class Items {
  constructor(store) {
    this.store = store;
    this.wording = ""; // of what is asked; items that were kept of another one do not count
    this.held = [];
    this.recent = new Map(); // answered last, for the way back
    this.pace = [];
    this.pictures = new Map();
  }

  get current() {
    return this.held[0] || null;
  }

  has(id) {
    return this.held.some((item) => item.id === id);
  }

  // What was kept here, by this page or another.
  load() {
    const all = this.store.names("item ").map((name) => this.store.read(name)).filter((one) => one);
    for (const one of all) if (one.wording !== this.wording) this.store.remove(`item ${one.item.id}`);
    const kept = all.filter((one) => one.wording === this.wording);
    this.hold(kept.sort((one, other) => one.place - other.place).map((one) => one.item));
  }

  // From the service; held only where this page asks.
  add(items, { hold }) {
    const place = Date.now();
    items.forEach((item, index) => this.keep(item, place + index / items.length));
    if (hold) this.hold(items);
  }

  hold(items) {
    const fresh = items.filter((item) => !this.has(item.id));
    this.held.push(...fresh);
    for (const item of fresh) this.fetchPicture(item);
  }

  keep(item, place) {
    this.store.write(`item ${item.id}`, { item, place, wording: this.wording });
  }

  first(item) {
    this.recent.delete(item.id);
    this.held = [item, ...this.held.filter((other) => other.id !== item.id)];
    this.keep(item, -Date.now());
    this.fetchPicture(item);
  }

  answered(seconds) {
    const item = this.held.shift();
    this.store.remove(`item ${item.id}`);
    this.recent.set(item.id, item);
    if (this.recent.size > BACK) this.recent.delete(this.recent.keys().next().value);
    this.pictures.delete(item.id);
    this.pace = [...this.pace, Math.min(seconds, AHEAD)].slice(-5);
  }

  drop(id) {
    this.held = this.held.filter((item) => item.id !== id);
    this.store.remove(`item ${id}`);
  }

  // Another page asks: what is kept is left to it.
  leave() {
    this.held = [];
    this.recent.clear();
    this.pictures.clear();
  }

  // How many more are wanted, by how fast one answers; none while there are enough.
  wanted() {
    const mean = this.pace.length ? this.pace.reduce((sum, one) => sum + one, 0) / this.pace.length : AHEAD / LEAST;
    const ahead = Math.round(Math.min(MOST, Math.max(LEAST, AHEAD / Math.max(mean, 0.5))));
    return this.held.length > Math.max(2, ahead / 2) ? 0 : ahead - this.held.length;
  }

  // Loaded before it is shown.
  fetchPicture(item) {
    if (!item.image || this.pictures.has(item.id)) return;
    const picture = new Image();
    picture.src = item.image;
    this.pictures.set(item.id, picture);
  }
}
