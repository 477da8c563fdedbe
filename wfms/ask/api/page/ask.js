// The page of a step that people do: one item at a time. This file ties the others together.

import { Answers } from "./answers.js";
import { Dock } from "./dock.js";
import { Help } from "./help.js";
import { ItemView } from "./item_view.js";
import { Items } from "./items.js";
import { keysOf, meaning } from "./keys.js";
import { Looked } from "./looked.js";
import { Sender } from "./sender.js";
import { Service } from "./service.js";
import { Stage } from "./stage.js";
import { Store } from "./store.js";
import { Tab } from "./tabs.js";
import { choose, text } from "./texts.js";

const TOO_QUICK = 200; // ms: nobody has seen an item yet; the second of two taps
const ADDRESS = new URLSearchParams(window.location.search);
const base = window.location.pathname.replace(/\/+$/, "");

class AskingPage {
  constructor() {
    this.store = new Store(base);
    // Until the template's language is known: as the last time, or as the browser prefers.
    choose(this.store.read("language"), ...navigator.languages);
    this.answers = new Answers(this.store);
    this.items = new Items(this.store);
    this.looked = new Looked();
    this.service = new Service(base);
    this.sender = new Sender({ service: this.service, answers: this.answers, items: this.items, tell: this });
    this.tab = new Tab(this.store, { lost: () => this.lost() });
    this.stage = new Stage();
    this.view = new ItemView({ ready: () => this.ready(), failed: () => this.pictureFailed() });
    this.help = new Help({ store: this.store, covers: (on) => this.looked.cover(on) });
    this.dock = new Dock({ answer: (index) => this.answer(index), undo: () => this.undo() });
    this.given = 0;
    this.about = this.trouble = this.error = null;
    this.over = this.empty = false;
  }

  async open() {
    document.addEventListener("keydown", (event) => this.pressed(event));
    document.addEventListener("visibilitychange", () => this.turned());
    window.addEventListener("pageshow", (event) => event.persisted && this.turned());
    window.addEventListener("online", () => this.look());
    window.addEventListener("offline", () => this.render());
    for (const [what, does] of [["reload", () => window.location.reload()], ["take", () => this.take()], ["look", () => this.look()]]) {
      this.stage.on(what, does);
    }
    this.stage.on("undo", () => this.undo());
    this.stage.on("begin", () => this.begin());
    this.look();
  }

  // What is asked here; until it is known.
  async learn() {
    if (this.learning) return;
    this.learning = true;
    clearTimeout(this.learnTimer);
    try {
      if (ADDRESS.has("key")) await this.service.enter();
      this.fill(await this.service.about());
    } catch (error) {
      if (error.status && error.status !== 429 && error.status < 500) return this.stopped(error);
      this.trouble = error;
      this.learnTimer = setTimeout(() => this.learn(), 1000 * Math.max(error.wait || 0, 3));
    } finally {
      this.learning = false;
      this.render();
    }
  }

  fill(answered) {
    const { language = "", labels = {} } = answered;
    const about = { ...answered, language, labels: answered.answers.map((answer) => labels[answer] ?? answer) };
    choose(language || "en");
    this.store.write("language", language || "en");
    this.about = about;
    this.trouble = null;
    this.over = about.over;
    this.items.wording = about.wording;
    this.keys = keysOf(about.answers, about.labels);
    this.stage.name(about, base);
    this.dock.fill(about, this.keys);
    this.help.fill(about, this.keys);
    this.take();
  }

  take() {
    this.tab.take();
    this.items.load();
    this.sender.start();
    this.render();
  }

  lost() {
    this.sender.stop();
    this.items.leave();
    this.render();
  }

  // Back in front, or gone behind.
  turned() {
    if (document.hidden) {
      if (this.about && this.sender.due()) this.sender.wake();
    } else if (this.about && !this.error) {
      this.take();
    } else if (!this.about) {
      this.look();
    }
  }

  look() {
    if (!this.about) return this.learn();
    if (this.over) this.over = false;
    this.empty = false;
    if (this.view.shown && !this.view.shown.done) this.view.show(this.items.current, true);
    this.sender.start();
    this.render();
  }

  get unread() {
    const words = this.about.instructions.trim();
    return words && this.store.read("instructions") !== words;
  }

  begin() {
    this.store.write("instructions", this.about.instructions.trim());
    this.render();
  }

  answer(index) {
    const { shown } = this.view;
    const item = this.items.current;
    if (!this.tab.asks) return this.lost();
    if (this.stage.screen !== "asking" || !item || shown?.item !== item || !shown.done) return;
    if (performance.now() - shown.at < TOO_QUICK) return;
    const { seconds } = this.looked;
    this.answers.give(item, this.about.answers[index], this.about.labels[index], seconds);
    this.items.answered(seconds);
    this.dock.flash(index);
    this.stage.say("");
    this.sender.nudge();
    this.render();
  }

  undo() {
    if (!this.about?.undo) return;
    if (!this.tab.asks) return this.lost();
    const last = this.answers.stepBack();
    if (!last) return this.stage.say(text("nothing to undo"), "passing");
    const kept = this.answers.get(last.item);
    const item = this.items.recent.get(last.item) || kept?.shown;
    this.answers.drop(last.item);
    this.over = false;
    if (item) this.items.first(item);
    else this.stage.say(text("taking back"), "passing");
    if (!kept || kept.tried || !item) this.answers.takeBack(last.item, !kept);
    this.sender.nudge();
    this.render();
  }

  // What the sender tells.

  came({ fates, items, given, over, wording }) {
    // Known by another name from now on: what the earlier one was given is not asked of this one.
    if (fates.some((one) => one.fate === "unknown")) {
      for (const item of [...this.items.held]) this.items.drop(item.id);
      this.stage.say(text("browser not known"), "passing");
    }
    if (wording !== this.about.wording) return this.reworded();
    const hold = this.tab.asks;
    this.items.add(items.filter((item) => !this.answers.get(item.id)), { hold });
    if (hold && !items.length) this.items.load();
    this.given = given;
    this.over = over;
    this.empty = this.sender.empty;
    if (over) for (const item of [...this.items.held]) this.items.drop(item.id);
    this.trouble = null;
    this.render();
  }

  // Another version of the template asks: what was at hand comes again when it is asked again.
  reworded() {
    for (const item of [...this.items.held]) this.items.drop(item.id);
    this.sender.stop();
    this.about = null;
    this.learn();
  }

  undone(item) {
    this.given = Math.max(0, this.given - 1);
    if (this.answers.get(item.id) || this.items.has(item.id)) return;
    if (!this.tab.asks) return this.items.keep(item, -Date.now());
    this.items.first(item);
    this.stage.say("");
    this.render();
  }

  notUndone(id) {
    this.answers.drop(id);
    this.items.drop(id);
    this.stage.say(text("too late to undo"), "passing");
    this.render();
  }

  troubled(error) {
    this.trouble = error;
    this.render();
  }

  stopped(error) {
    this.error = error;
    this.render();
  }

  ready() {
    this.looked.begin();
    this.render();
  }

  pictureFailed() {
    this.stage.say(text("image did not come"));
    clearTimeout(this.pictureTimer);
    this.pictureTimer = setTimeout(() => this.items.current && this.view.show(this.items.current, true), 3000);
  }

  pressed(event) {
    if (this.help.isOpen || !this.about || event.defaultPrevented) return;
    const asks = this.stage.screen === "asking";
    if (asks && event.target === document.body && this.view.scroll(event.key)) return event.preventDefault();
    const meant = this.help.keysOn && meaning(event, this.keys);
    if (!meant || event.target.matches?.("input, textarea, select")) return;
    event.preventDefault();
    if (meant.does === "answer") this.answer(meant.index);
    if (meant.does === "undo") this.undo();
    if (meant.does === "help") this.help.open();
    if (meant.does === "closer") this.view.closer(!this.view.near);
  }

  render() {
    const unsent = this.about ? this.answers.unsent().length : 0;
    const given = Math.max(0, this.given + unsent);
    const screen = this.stage.choose({ page: this, given, unsent });
    if (screen === "asking") this.view.show(this.items.current);
    else if (!this.items.current) this.view.clear();
    this.dock.update({ last: this.answers.last(), able: Boolean(this.view.shown?.done) });
  }
}

new AskingPage().open();
