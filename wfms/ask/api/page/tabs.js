// One tab of a browser asks at a time: the one that was opened or looked at last.

export class Tab {
  constructor(store, { lost }) {
    this.store = store;
    this.name = `${Date.now()} ${Math.random()}`;
    store.onOther("tab", () => {
      if (!this.asks) lost();
    });
  }

  take() {
    this.store.write("tab", this.name);
  }

  get asks() {
    return this.store.read("tab") === this.name;
  }
}
