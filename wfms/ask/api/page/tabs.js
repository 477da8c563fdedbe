// Only one tab of a browser shows items at a time: the tab that was opened or visible last.

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
