// Assigns keys to answers. Each answer has a digit, and its first letter if no other answer has it.

import { command } from "./texts.js";

const EXTRA_KEYS = { yes: "j" }; // "j" as in "ja" is near "n" for "no" on every keyboard.

// ``labels``: the labels of the buttons, in the order of the answers.
export function keysOf(answers, labels) {
  const taken = ["undo", "help", "closer"].map(command);
  const firsts = labels.map((label) => [...label.toLocaleLowerCase()][0]);
  return answers.map((answer, index) => {
    const keys = [];
    const first = firsts[index];
    const alone = firsts.filter((other) => other === first).length === 1;
    if (alone && !taken.includes(first) && /\p{L}/u.test(first)) keys.push(first);
    const extraKey = EXTRA_KEYS[answer.toLocaleLowerCase()];
    if (extraKey && !firsts.includes(extraKey) && !taken.includes(extraKey)) keys.push(extraKey);
    return [...keys, String(index + 1)];
  });
}

// Returns the command of a key, or null. Backspace is undo too, in case a keyboard lacks its letter.
export function commandOf(event, keys) {
  if (event.repeat || event.isComposing || event.altKey) return null;
  const key = event.key.toLocaleLowerCase();
  if (event.ctrlKey || event.metaKey) return key === "z" && !event.shiftKey ? { name: "undo" } : null;
  if (key === command("undo") || key === "backspace") return { name: "undo" };
  if (key === command("help") || key === "?") return { name: "help" };
  if (key === command("closer")) return { name: "closer" };
  // The code of the key identifies a digit also on keyboards that need Shift for digits.
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1];
  const index = keys.findIndex((answerKeys) => answerKeys.includes(key) || (digit && answerKeys.includes(digit)));
  return index < 0 ? null : { name: "answer", index };
}
