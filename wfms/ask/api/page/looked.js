// Measures how many seconds an item was visible, without the time when the page was hidden or covered.

const MAX_SECONDS = 86_400;

export class Looked {
  constructor() {
    this.covered = false;
    this.begin();
    document.addEventListener("visibilitychange", () => this.note());
  }

  begin() {
    this.sum = 0;
    this.since = this.sees ? performance.now() : null;
  }

  cover(covered) {
    this.covered = covered;
    this.note();
  }

  get sees() {
    return !document.hidden && !this.covered;
  }

  note() {
    if (this.since !== null) this.sum += performance.now() - this.since;
    this.since = this.sees ? performance.now() : null;
  }

  get seconds() {
    this.note();
    return Math.min(MAX_SECONDS, Math.round(this.sum) / 1000);
  }
}
