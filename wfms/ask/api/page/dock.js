// The buttons below an item: answers, and the way back.

import { text } from "./texts.js";

const FLASH = 160; // ms
const SHORT = 24; // characters that a button has room for beside others
const WORD = 10; // of them without a break
const FEW = 4; // buttons that may be large

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
    const isLong = (label) => label.length > SHORT || label.split(/[\s-]+/).some((word) => word.length > WORD);
    this.answers.classList.toggle("long", labels.some(isLong));
    this.answers.classList.toggle("many", labels.length > FEW);
    this.buttons = labels.map((label, index) => this.button(label, language, index, keys[index]));
    this.answers.replaceChildren(...this.buttons);
  }

  button(label, language, index, keys) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "answer";
    button.setAttribute("aria-keyshortcuts", keys.map((key) => key.toUpperCase()).join(" "));
    const words = document.createElement("span");
    words.lang = language;
    words.dir = "auto";
    words.textContent = label;
    const cap = document.createElement("kbd");
    cap.textContent = keys[0];
    cap.setAttribute("aria-hidden", "true");
    button.append(words, cap);
    button.addEventListener("click", () => this.answer(index));
    return button;
  }

  flash(index) {
    const button = this.buttons[index];
    button.classList.add("chosen");
    setTimeout(() => button.classList.remove("chosen"), FLASH);
  }

  update({ last, able }) {
    this.label.textContent = last ? text("undo answer", { answer: last.label ?? last.answer }) : text("undo");
    this.back.setAttribute("aria-disabled", String(!last));
    for (const button of this.buttons || []) button.setAttribute("aria-disabled", String(!able));
  }
}
