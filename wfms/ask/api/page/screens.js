// What the page says where it does not show an item, and in between: each a plain sentence with what to do.

const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

const thanks = (given) => (given ? `Thank you: you gave ${count(given, "answer")}.` : "Thank you for looking in.");

function keptNote(kept) {
  if (!kept) return "";
  return `${count(kept, "answer")} of yours ${kept === 1 ? "is" : "are"} kept in this browser and sent as soon as it can be done.`;
}

export function stoppedScreen(error, kept) {
  const more = keptNote(kept);
  switch (error.status) {
    case 401:
      return {
        title: "You are not signed in",
        text: "Open the link that you were given once more, and whole. If you have an account here, sign in and open this page from there.",
        more,
        button: ["Try again", "reload"],
        link: ["Sign in", "/"],
      };
    case 410:
      return { title: "This link has ended", text: "Ask the one who sent it to you for a new one, and open that.", more, button: ["Try again", "reload"] };
    case 404:
      return { title: "Nothing is asked here", text: "Look whether the address is right, or ask the one who sent it to you.", more };
    default:
      return {
        title: "This did not work",
        text: sentence(error.status ? error.message : "This page has met a fault of its own."),
        more: more || "Try again; if it stays so, tell the one who sent you here.",
        button: ["Try again", "reload"],
      };
  }
}

export function elsewhereScreen() {
  return { title: "You went on in another tab", text: "One tab asks at a time. Answer there, or go on here.", button: ["Go on here", "take"] };
}

export function overScreen(given, kept) {
  return { title: "That was all", text: `Nothing is asked here any more. ${thanks(given)}`, more: keptNote(kept) || "Should something new come while this page is open, it is shown.", button: ["Look again", "look"] };
}

export function waitingScreen(given) {
  return {
    title: "Nothing for you right now",
    text: `${thanks(given)} Others are at what is left.`,
    more: "This page looks again by itself; you may leave it open, or close it.",
    button: ["Look now", "look"],
  };
}

export function awayScreen(trouble, kept) {
  const title = trouble.status ? "The service does not answer just now" : "No connection";
  const text = trouble.status === 429 ? "Too many ask at once. This page goes on by itself." : "This page tries again by itself.";
  return { title, text, more: keptNote(kept), button: ["Try now", "look"] };
}

// While answering goes on.
export function troubleNotice(trouble, kept) {
  const what = kept ? `${count(kept, "answer")} ${kept === 1 ? "is" : "are"} kept here and sent later.` : "You can go on.";
  if (trouble.status === 429) return `A moment, please: too many ask at once. ${what}`;
  return trouble.status ? `The service does not answer just now. ${what}` : `No connection. ${what}`;
}

export const givenWords = (given) => (given ? `${count(given, "answer")} given` : "");

function sentence(text) {
  const trimmed = text.trim();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
