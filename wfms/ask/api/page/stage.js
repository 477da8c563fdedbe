// Chooses the screen to show, and shows notices beside it.

import { answerCountText, awayScreen, elsewhereScreen, overScreen, stoppedScreen, troubleNotice, waitingScreen } from "./screens.js";

import { Reading } from "./reading.js";

const element = (id) => document.getElementById(id);
const NOTICE_MS = 6000; // Duration of a temporary notice
const SLOW_LOADING_MS = 4000; // Time until the page says that loading is slow

export class Stage {
  constructor() {
    this.screen = "loading";
    this.calls = new Map();
    this.reading = new Reading();
    element("begin").addEventListener("click", () => this.call("begin"));
    element("state-button").addEventListener("click", () => this.call(this.action));
    element("state-undo").addEventListener("click", () => this.call("undo"));
    setTimeout(() => (element("slow").hidden = false), SLOW_LOADING_MS);
  }

  on(action, call) {
    this.calls.set(action, call);
  }

  call(action) {
    this.calls.get(action)?.();
  }

  name(about, base) {
    const [template, step] = base.split("/").slice(-2).map(decodeURIComponent);
    document.title = `${about.question} · ${template} ${step} · Sluice`;
    element("question").textContent = about.question;
    for (const id of ["question", "instructions-text", "item-title", "item-body"]) element(id).lang = about.language;
    element("question").hidden = false;
    this.reading.fill(about.instructions.trim());
  }

  // Shows the screen for the state of the page and returns its name.
  choose({ page, answerCount, unsent }) {
    const { about, error, trouble, items } = page;
    element("answer-count").textContent = answerCountText(answerCount);
    let screen = "state";
    if (error) this.state(stoppedScreen(error, unsent));
    else if (!about) trouble ? this.state(awayScreen(trouble, 0)) : (screen = "loading");
    else if (!page.tab.asks) this.state(elsewhereScreen());
    else if (page.over) this.state(overScreen(answerCount, unsent), about.undo && page.answers.last());
    else if (page.unread) screen = "instructions";
    else if (items.current) screen = "annotation";
    else if (trouble) this.state(awayScreen(trouble, unsent), about.undo && page.answers.last());
    else if (page.empty) this.state(waitingScreen(answerCount), about.undo && page.answers.last());
    else screen = "loading";
    this.show(screen);
    this.trouble(screen === "annotation" && (trouble || (navigator.onLine ? null : {})), unsent);
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
    const losesFocus = active !== document.body && element(this.screen).contains(active);
    for (const id of ["loading", "instructions", "annotation", "state"]) element(id).hidden = id !== screen;
    document.body.dataset.screen = this.screen = screen;
    if (screen === "instructions") this.reading.look();
    // The focus never stays on a hidden element. A state gets it always, so that it is read out.
    if (screen === "state") element("state-title").focus({ preventScroll: true });
    else if (losesFocus) element(screen === "annotation" ? "pane" : `${screen}-title`)?.focus({ preventScroll: true });
  }

  // ``how``: a "temporary" notice disappears by itself. Other notices stay until the next notice.
  say(words, how = "") {
    clearTimeout(this.timer);
    this.notice = words;
    set("notice", words || this.troubleText || "");
    if (how === "temporary") this.timer = setTimeout(() => this.say(""), NOTICE_MS);
  }

  trouble(trouble, unsent) {
    this.troubleText = trouble ? troubleNotice(trouble, unsent) : "";
    if (!this.notice) set("notice", this.troubleText);
  }
}

// Sets a text only if it has changed, because screen readers read out every change.
function set(id, words) {
  if (element(id).textContent !== words) element(id).textContent = words;
}
