// Instructions, help and keys, whenever they are asked for.

import { command, text } from "./texts.js";

const element = (id) => document.getElementById(id);

export class Help {
  constructor({ store, covers }) {
    this.store = store;
    this.dialog = element("help");
    element("help-button").addEventListener("click", () => this.open());
    element("help-close").addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    this.dialog.addEventListener("close", () => covers(false));
    this.covers = covers;
    const box = element("keys-on");
    box.checked = this.keysOn;
    box.addEventListener("change", () => {
      this.store.write("keys off", !box.checked);
      this.showHints();
    });
    this.showHints();
  }

  // Single keys can be switched off: who dictates would answer by speaking.
  get keysOn() {
    return !this.store.read("keys off");
  }

  showHints() {
    document.body.classList.toggle("no-keys", !this.keysOn);
  }

  get isOpen() {
    return this.dialog.open;
  }

  open() {
    if (this.isOpen) return;
    this.dialog.showModal();
    this.covers(true);
  }

  fill(about, keys) {
    for (const [id, words] of [["help-question", about.question], ["help-instructions", about.instructions], ["help-text", about.help]]) {
      element(id).textContent = words;
      element(id).lang = about.language;
      element(id).hidden = !words.trim();
    }
    element("help-undo").hidden = !about.undo;
    element("help-undo").textContent = text("undo explained", { undo: text("undo") });
    const rows = about.labels.map((label, index) => [keys[index], label]);
    if (about.undo) rows.push([[command("undo"), "Backspace"], text("undo")]);
    rows.push([[command("help"), "?"], text("help")], [[command("closer")], text("image closer")]);
    element("keys").replaceChildren(...rows.flatMap(([some, what]) => [term(some), told(what)]));
  }
}

function term(keys) {
  const made = document.createElement("dt");
  for (const key of keys) {
    const cap = document.createElement("kbd");
    cap.textContent = key;
    made.append(cap, " ");
  }
  return made;
}

function told(what) {
  const made = document.createElement("dd");
  made.textContent = what;
  return made;
}
