// Shows the help dialog with the instructions, the help text and the keys.

import { command, text } from "./texts.js";

const element = (id) => document.getElementById(id);

export class Help {
  // ``covers``: called with true when the dialog covers the item, and with false when it closes.
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

  // People who dictate can switch single keys off, as dictated letters would otherwise be answers.
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
    for (const [id, content] of [["help-question", about.question], ["help-instructions", about.instructions], ["help-text", about.help]]) {
      element(id).textContent = content;
      element(id).lang = about.language;
      element(id).hidden = !content.trim();
    }
    element("help-undo").hidden = !about.undo;
    element("help-undo").textContent = text("undo explained", { undo: text("undo") });
    const rows = about.labels.map((label, index) => [keys[index], label]);
    if (about.undo) rows.push([[command("undo"), "Backspace"], text("undo")]);
    rows.push([[command("help"), "?"], text("help")], [[command("closer")], text("image closer")]);
    element("keys").replaceChildren(...rows.flatMap(([rowKeys, effect]) => [keyCell(rowKeys), effectCell(effect)]));
  }
}

function keyCell(keys) {
  const cell = document.createElement("dt");
  for (const key of keys) {
    const keyName = document.createElement("kbd");
    keyName.textContent = key;
    cell.append(keyName, " ");
  }
  return cell;
}

function effectCell(effect) {
  const cell = document.createElement("dd");
  cell.textContent = effect;
  return cell;
}
