// Provides the page's texts in the language of the template. To add a language, add a catalogue file
// and an entry in CATALOGUES.

import english from "./texts_en.js";
import polish from "./texts_pl.js";

const CATALOGUES = { en: english, pl: polish };
let language = "en";

// Selects the first language that has a catalogue, by its first subtag ("pl" of "pl-PL").
export function choose(...languages) {
  const known = languages.map((tag) => (tag || "").toLowerCase().split("-")[0]).find((tag) => Object.hasOwn(CATALOGUES, tag));
  language = known || "en";
  document.documentElement.lang = language;
  document.documentElement.style.setProperty("--marked", JSON.stringify(text("marked")));
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = text(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", text(node.dataset.label));
  for (const node of document.querySelectorAll("[data-key]")) {
    const key = command(node.dataset.key);
    node.setAttribute("aria-keyshortcuts", key.toUpperCase());
    node.querySelector("kbd").textContent = key;
  }
}

// Returns a text with its {values} inserted, in the plural form for ``values.count``.
export function text(name, values = {}) {
  const found = CATALOGUES[language][name] ?? english[name];
  const form = typeof found === "string" ? found : (found[new Intl.PluralRules(language).select(values.count)] ?? found.other);
  return form.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
}

// Returns the key of a command: "undo", "help" or "closer".
export function command(name) {
  return text(`key ${name}`);
}
