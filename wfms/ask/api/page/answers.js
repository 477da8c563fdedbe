// Stores the answers whose state is not known yet, the answers to undo, and the history for undo.

const MAX_HISTORY = 20;

export class Answers {
  constructor(store) {
    this.store = store;
    this.serial = Date.now();
  }

  // Returns the answers in the order in which they were given.
  unsent() {
    const all = this.store.names("answer ").map((name) => this.store.read(name));
    return all.filter((answer) => answer).sort((left, right) => left.serial - right.serial);
  }

  get(item) {
    return this.store.read(`answer ${item}`);
  }

  // Stores the answer with its item, which undo may need until the state of the answer is known.
  give(item, answer, label, seconds) {
    const { id } = item;
    this.serial = Math.max(this.serial + 1, Date.now());
    const pendingAnswer = { item: id, answer, seconds, shown: item, serial: this.serial };
    this.store.write(`answer ${id}`, pendingAnswer);
    const earlierAnswers = this.history().filter((entry) => entry.item !== id);
    const history = [...earlierAnswers, { item: id, answer, label }];
    this.store.write("history", history.slice(-MAX_HISTORY));
  }

  // Marks the answer as sent: the service may have it even if the response is lost.
  tried(pendingAnswer) {
    if (pendingAnswer.tried) return;
    this.store.write(`answer ${pendingAnswer.item}`, { ...pendingAnswer, tried: true });
  }

  // Removes an answer whose state is known, but not a later answer to the same item.
  settle(item, serial) {
    const pendingAnswer = this.get(item);
    if (pendingAnswer && pendingAnswer.serial === serial) this.store.remove(`answer ${item}`);
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

  // Removes the last answer from the history and returns it.
  stepBack() {
    const history = this.history();
    const last = history.pop() || null;
    this.store.write("history", history);
    return last;
  }

  // ``sure``: the service has the answer. If it refuses the undo, it is too late.
  takeBack(item, sure) {
    this.store.write(`undo ${item}`, { item, sure });
  }

  toTakeBack() {
    return this.store.names("undo ").map((name) => this.store.read(name)).filter((undo) => undo);
  }

  takenBack(item) {
    this.store.remove(`undo ${item}`);
  }
}
