// Which screen is on, and what is said beside it.

import { awayScreen, elsewhereScreen, givenWords, overScreen, stoppedScreen, troubleNotice, waitingScreen } from "./screens.js";

import { Reading } from "./reading.js";

const element = (id) => document.getElementById(id);
const PASSING = 6000; // ms
const PATIENT = 4000; // ms, until loading is said to be slow

export class Stage {
  constructor() {
    this.screen = "loading";
    this.calls = new Map();
    this.reading = new Reading();
    element("begin").addEventListener("click", () => this.call("begin"));
    element("state-button").addEventListener("click", () => this.call(this.action));
    element("state-undo").addEventListener("click", () => this.call("undo"));
    setTimeout(() => (element("slow").hidden = false), PATIENT);
  }

  on(what, call) {
    this.calls.set(what, call);
  }

  call(what) {
    this.calls.get(what)?.();
  }

  name(about, base) {
    const [template, step] = base.split("/").slice(-2).map(decodeURIComponent);
    document.title = `${about.question} · ${template} ${step} · Sluice`;
    element("question").textContent = about.question;
    for (const id of ["question", "instructions-text", "item-title", "item-body"]) element(id).lang = about.language;
    element("question").hidden = false;
    this.reading.fill(about.instructions.trim());
  }

  // The screen that the state of the page asks for, put on.
  choose({ page, given, unsent }) {
    const { about, error, trouble, items } = page;
    element("given").textContent = givenWords(given);
    let screen = "state";
    if (error) this.state(stoppedScreen(error, unsent));
    else if (!about) trouble ? this.state(awayScreen(trouble, 0)) : (screen = "loading");
    else if (!page.tab.asks) this.state(elsewhereScreen());
    else if (page.over) this.state(overScreen(given, unsent), about.undo && page.answers.last());
    else if (page.unread) screen = "instructions";
    else if (items.current) screen = "asking";
    else if (trouble) this.state(awayScreen(trouble, unsent), about.undo && page.answers.last());
    else if (page.empty) this.state(waitingScreen(given), about.undo && page.answers.last());
    else screen = "loading";
    this.show(screen);
    this.trouble(screen === "asking" && (trouble || (navigator.onLine ? null : {})), unsent);
    return screen;
  }

  state({ title, text, more = "", button, link }, undo = false) {
    set("state-title", title);
    set("state-text", text);
    set("state-more", more);
    element("state-button").hidden = !button;
    if (button) [element("state-button").textContent, this.action] = button;
    element("state-link").hidden = !link;
    if (link) [element("state-link").textContent, element("state-link").href] = link;
    element("state-undo").hidden = !undo;
  }

  show(screen) {
    if (screen === this.screen) return;
    const active = document.activeElement;
    const lost = active !== document.body && element(this.screen).contains(active);
    for (const id of ["loading", "instructions", "asking", "state"]) element(id).hidden = id !== screen;
    document.body.dataset.screen = this.screen = screen;
    if (screen === "instructions") this.reading.look();
    // Never left on what is gone; a state is always read out.
    if (screen === "state") element("state-title").focus({ preventScroll: true });
    else if (lost) element(screen === "asking" ? "pane" : `${screen}-title`)?.focus({ preventScroll: true });
  }

  // ``how``: "passing" goes by itself; else it stays until something else is said.
  say(words, how = "") {
    clearTimeout(this.timer);
    this.said = words;
    set("notice", words || this.lasting || "");
    if (how === "passing") this.timer = setTimeout(() => this.say(""), PASSING);
  }

  trouble(trouble, unsent) {
    this.lasting = trouble ? troubleNotice(trouble, unsent) : "";
    if (!this.said) set("notice", this.lasting);
  }
}

// Only what differs, as all of it is read out.
function set(id, words) {
  if (element(id).textContent !== words) element(id).textContent = words;
}
