// What the page says where it does not show an item, and in between: each a plain sentence with what to do.

import { text } from "./texts.js";

const thanks = (given) => (given ? text("thanks", { count: given }) : text("thanks for looking in"));

const keptNote = (kept) => (kept ? text("kept", { count: kept }) : "");

export function stoppedScreen(error, kept) {
  const more = keptNote(kept);
  const again = [text("try again"), "reload"];
  switch (error.status) {
    case 401:
      return { title: text("not signed in"), text: text("not signed in text"), more, button: again, link: [text("sign in"), "/"] };
    case 410:
      return { title: text("link ended"), text: text("link ended text"), more, button: again };
    case 404:
      return { title: text("nothing asked"), text: text("nothing asked text"), more };
    default: {
      const said = error.status ? text("service said", { message: sentence(error.message) }) : text("own fault");
      return { title: text("did not work"), text: said, more: more || text("try again or tell"), button: again };
    }
  }
}

export function elsewhereScreen() {
  return { title: text("another tab"), text: text("another tab text"), button: [text("go on here"), "take"] };
}

export function overScreen(given, kept) {
  return {
    title: text("that was all"),
    text: text("that was all text", { thanks: thanks(given) }),
    more: keptNote(kept) || text("should something come"),
    button: [text("look again"), "look"],
  };
}

export function waitingScreen(given) {
  return {
    title: text("nothing right now"),
    text: text("nothing right now text", { thanks: thanks(given) }),
    more: text("looks by itself"),
    button: [text("look now"), "look"],
  };
}

export function awayScreen(trouble, kept) {
  return {
    title: text(trouble.status ? "no answer" : "no connection"),
    text: text(trouble.status === 429 ? "too many" : "tries by itself"),
    more: keptNote(kept),
    button: [text("try now"), "look"],
  };
}

// While answering goes on.
export function troubleNotice(trouble, kept) {
  const what = kept ? text("kept here", { count: kept }) : text("you can go on");
  if (trouble.status === 429) return text("too many notice", { what });
  return text(trouble.status ? "no answer notice" : "no connection notice", { what });
}

export const givenWords = (given) => (given ? text("given", { count: given }) : "");

function sentence(words) {
  const trimmed = words.trim();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
