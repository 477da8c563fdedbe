// Items at hand: the first one is shown, the others wait behind it.

const LEAST = 4;
const MOST = 20;
const AHEAD = 60; // seconds of work at hand: about a tunnel
const BACK = 20; // answered items that can come back without being asked for

export class Items {
  constructor() {
    this.held = [];
    this.recent = new Map(); // answered last, for the way back
    this.done = new Set(); // ids of all that were answered here
    this.pace = [];
    this.pictures = new Map();
  }

  get current() {
    return this.held[0] || null;
  }

  has(id) {
    return this.held.some((item) => item.id === id);
  }

  // Those that are new here; answered ones do not come again unless they are taken back.
  add(items) {
    const fresh = items.filter((item) => !this.has(item.id) && !this.done.has(item.id));
    this.held.push(...fresh);
    for (const item of fresh) this.fetchPicture(item);
    return fresh.length;
  }

  first(item) {
    this.recent.delete(item.id);
    this.done.delete(item.id);
    this.held = [item, ...this.held.filter((other) => other.id !== item.id)];
    this.fetchPicture(item);
  }

  answered(seconds) {
    const item = this.held.shift();
    this.recent.set(item.id, item);
    this.done.add(item.id);
    if (this.recent.size > BACK) this.recent.delete(this.recent.keys().next().value);
    this.pictures.delete(item.id);
    this.pace = [...this.pace, Math.min(seconds, AHEAD)].slice(-5);
    return item;
  }

  drop(id) {
    this.held = this.held.filter((item) => item.id !== id);
  }

  clear() {
    this.held = [];
    this.recent.clear();
    this.done.clear();
    this.pictures.clear();
  }

  answeredBefore(id) {
    return this.recent.get(id) || null;
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
