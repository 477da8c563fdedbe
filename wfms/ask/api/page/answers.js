// Answers that were given here and whose fate is not known yet, what is to be taken back, and the way back.

const STEPS_BACK = 20;

export class Answers {
  constructor(store) {
    this.store = store;
    this.serial = Date.now();
  }

  // In the order in which they were given.
  unsent() {
    const all = this.store.names("answer ").map((name) => this.store.read(name));
    return all.filter((one) => one).sort((one, other) => one.serial - other.serial);
  }

  get(item) {
    return this.store.read(`answer ${item}`);
  }

  // With the item itself, until its fate is known: it may be wanted back.
  give(shown, answer, label, seconds) {
    const item = shown.id;
    this.serial = Math.max(this.serial + 1, Date.now());
    this.store.write(`answer ${item}`, { item, answer, seconds, shown, serial: this.serial });
    const back = this.history().filter((one) => one.item !== item);
    this.store.write("history", [...back, { item, answer, label }].slice(-STEPS_BACK));
  }

  // From now on the service may have it, whether it says so or not.
  tried(kept) {
    if (!kept.tried) this.store.write(`answer ${kept.item}`, { ...kept, tried: true });
  }

  // Its fate is known; an answer that was given to the same item afterwards stays.
  settle(item, serial) {
    const kept = this.get(item);
    if (kept && kept.serial === serial) this.store.remove(`answer ${item}`);
  }

  drop(item) {
    this.store.remove(`answer ${item}`);
  }

  history() {
    return this.store.read("history") || [];
  }

  last() {
    return this.history().at(-1) || null;
  }

  stepBack() {
    const back = this.history();
    const last = back.pop() || null;
    this.store.write("history", back);
    return last;
  }

  // ``sure``: the service has it, so that its not knowing it means that it is too late.
  takeBack(item, sure) {
    this.store.write(`undo ${item}`, { item, sure });
  }

  toTakeBack() {
    return this.store.names("undo ").map((name) => this.store.read(name)).filter((one) => one);
  }

  takenBack(item) {
    this.store.remove(`undo ${item}`);
  }
}
