// The texts of the page when it shows no item, and its notices. Each text says what to do.

import { text } from "./texts.js";

const thanks = (answerCount) => (answerCount ? text("thanks", { count: answerCount }) : text("thanks for looking in"));

const unsentNote = (unsentCount) => (unsentCount ? text("kept", { count: unsentCount }) : "");

export function stoppedScreen(error, unsentCount) {
  const more = unsentNote(unsentCount);
  const again = [text("try again"), "reload"];
  switch (error.status) {
    case 401:
      return { title: text("not signed in"), text: text("not signed in text"), more, button: again, link: [text("sign in"), "/"] };
    case 410:
      return { title: text("link ended"), text: text("link ended text"), more, button: again };
    case 404:
      return { title: text("nothing asked"), text: text("nothing asked text"), more };
    default: {
      const cause = error.status ? text("service said", { message: sentence(error.message) }) : text("own fault");
      return { title: text("did not work"), text: cause, more: more || text("try again or tell"), button: again };
    }
  }
}

export function elsewhereScreen() {
  return { title: text("another tab"), text: text("another tab text"), button: [text("go on here"), "take"] };
}

export function overScreen(answerCount, unsentCount) {
  return {
    title: text("that was all"),
    text: text("that was all text", { thanks: thanks(answerCount) }),
    more: unsentNote(unsentCount) || text("should something come"),
    button: [text("look again"), "look"],
  };
}

export function waitingScreen(answerCount) {
  return {
    title: text("nothing right now"),
    text: text("nothing right now text", { thanks: thanks(answerCount) }),
    more: text("looks by itself"),
    button: [text("look now"), "look"],
  };
}

export function awayScreen(trouble, unsentCount) {
  return {
    title: text(trouble.status ? "no answer" : "no connection"),
    text: text(trouble.status === 429 ? "too many" : "tries by itself"),
    more: unsentNote(unsentCount),
    button: [text("try now"), "look"],
  };
}

// Returns the notice about a connection problem while there are still items to answer.
export function troubleNotice(trouble, unsentCount) {
  const what = unsentCount ? text("kept here", { count: unsentCount }) : text("you can go on");
  if (trouble.status === 429) return text("too many notice", { what });
  return text(trouble.status ? "no answer notice" : "no connection notice", { what });
}

export const answerCountText = (answerCount) => (answerCount ? text("answer count", { count: answerCount }) : "");

function sentence(message) {
  const trimmed = message.trim();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
