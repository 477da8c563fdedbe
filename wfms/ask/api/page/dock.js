// Shows the buttons below an item: the answers and undo.

import { text } from "./texts.js";

const FLASH_MS = 160;
const MAX_LABEL_LENGTH = 24; // A button with a longer label does not fit beside other buttons.
const MAX_WORD_LENGTH = 10; // A button with a longer word does not fit beside other buttons.
const MAX_LARGE_BUTTONS = 4; // If there are more buttons, all of them are small.

export class Dock {
  constructor({ answer, undo }) {
    this.answer = answer;
    this.answers = document.getElementById("answers");
    this.back = document.getElementById("undo");
    this.label = document.getElementById("undo-label");
    this.back.addEventListener("click", undo);
  }

  fill({ labels, language, undo }, keys) {
    this.back.hidden = !undo;
    this.labels = labels;
    this.answers.dataset.count = labels.length;
    const isLong = (label) => label.length > MAX_LABEL_LENGTH || label.split(/[\s-]+/).some((word) => word.length > MAX_WORD_LENGTH);
    this.answers.classList.toggle("long", labels.some(isLong));
    this.answers.classList.toggle("many", labels.length > MAX_LARGE_BUTTONS);
    this.buttons = labels.map((label, index) => this.button(label, language, index, keys[index]));
    this.answers.replaceChildren(...this.buttons);
  }

  button(label, language, index, keys) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "answer";
    button.setAttribute("aria-keyshortcuts", keys.map((key) => key.toUpperCase()).join(" "));
    const caption = document.createElement("span");
    caption.lang = language;
    caption.dir = "auto";
    caption.textContent = label;
    const keyHint = document.createElement("kbd");
    keyHint.textContent = keys[0];
    keyHint.setAttribute("aria-hidden", "true");
    button.append(caption, keyHint);
    button.addEventListener("click", () => this.answer(index));
    return button;
  }

  flash(index) {
    const button = this.buttons[index];
    button.classList.add("chosen");
    setTimeout(() => button.classList.remove("chosen"), FLASH_MS);
  }

  update({ last, isEnabled }) {
    this.label.textContent = last ? text("undo answer", { answer: last.label ?? last.answer }) : text("undo");
    this.back.setAttribute("aria-disabled", String(!last));
    for (const button of this.buttons || []) button.setAttribute("aria-disabled", String(!isEnabled));
  }
}
