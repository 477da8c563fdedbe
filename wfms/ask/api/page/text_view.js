// Shows a text with its marked place. A very long text is cut to the context of the place, and the
// rest is shown on demand.

import { text } from "./texts.js";

const CONTEXT_LENGTH = 4_000; // Characters on each side

// Cuts a text at its marked place. The service counts code points, not UTF-16 units.
function cut(words, mark) {
  const all = Array.from(words);
  const [begin, end] = mark ? mark.map((place) => Math.min(Math.max(place, 0), all.length)) : [0, 0];
  const from = Math.max(0, begin - CONTEXT_LENGTH);
  const to = Math.min(all.length, Math.max(begin, end) + CONTEXT_LENGTH);
  const part = (start, stop) => all.slice(start, stop).join("");
  return {
    early: part(0, from),
    before: part(from, begin),
    marked: part(begin, Math.max(begin, end)),
    after: part(Math.max(begin, end), to),
    late: part(to, all.length),
  };
}

function more(words, label) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "more";
  button.textContent = label;
  button.addEventListener("click", () => button.replaceWith(words));
  return button;
}

export function viewText(item) {
  const { early, before, marked, after, late } = cut(item.text, item.mark);
  const view = document.createElement("p");
  view.className = "text";
  view.dir = "auto";
  if (early) view.append(more(early, text("show before")));
  view.append(before);
  let place = null;
  if (item.mark) {
    place = document.createElement("mark");
    place.textContent = marked;
    view.append(place);
  }
  view.append(after);
  if (late) view.append(more(late, text("show after")));
  return { view, place, ready: Promise.resolve() };
}
