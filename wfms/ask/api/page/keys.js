// Which key gives which answer: a digit always, the first letter where no other answer has it.

import { command } from "./texts.js";

const ALSO = { yes: "j" }; // as in ja: beside n for no on every keyboard

// ``labels``: what the buttons say, in the order of the answers.
export function keysOf(answers, labels) {
  const taken = ["undo", "help", "closer"].map(command);
  const firsts = labels.map((label) => [...label.toLocaleLowerCase()][0]);
  return answers.map((answer, index) => {
    const keys = [];
    const first = firsts[index];
    const alone = firsts.filter((other) => other === first).length === 1;
    if (alone && !taken.includes(first) && /\p{L}/u.test(first)) keys.push(first);
    const also = ALSO[answer.toLocaleLowerCase()];
    if (also && !firsts.includes(also) && !taken.includes(also)) keys.push(also);
    return [...keys, String(index + 1)];
  });
}

// Undo by Backspace too, as a letter may be out of reach.
export function meaning(event, keys) {
  if (event.repeat || event.isComposing || event.altKey) return null;
  const key = event.key.toLocaleLowerCase();
  if (event.ctrlKey || event.metaKey) return key === "z" && !event.shiftKey ? { does: "undo" } : null;
  if (key === command("undo") || key === "backspace") return { does: "undo" };
  if (key === command("help") || key === "?") return { does: "help" };
  if (key === command("closer")) return { does: "closer" };
  // A digit is one on keyboards too where it is written with shift.
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1];
  const index = keys.findIndex((some) => some.includes(key) || (digit && some.includes(digit)));
  return index < 0 ? null : { does: "answer", index };
}
