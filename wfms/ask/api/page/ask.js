// The page of a human task, which shows one item at a time. This file connects the other modules.

import { Answers } from "./answers.js";
import { Dock } from "./dock.js";
import { Help } from "./help.js";
import { ItemView } from "./item_view.js";
import { Items } from "./items.js";
import { commandOf, keysOf } from "./keys.js";
import { Looked } from "./looked.js";
import { Sender } from "./sender.js";
import { Service } from "./service.js";
import { Stage } from "./stage.js";
import { Store } from "./store.js";
import { Tab } from "./tabs.js";
import { choose, text } from "./texts.js";

const MIN_VIEW_MS = 200; // An earlier answer is the second of two taps: nobody has seen the item.
const ADDRESS = new URLSearchParams(window.location.search);
const base = window.location.pathname.replace(/\/+$/, "");

class AnnotationPage {
  constructor() {
    this.store = new Store(base);
    // The page uses its last language, or one of the browser, until it knows that of the template.
    choose(this.store.read("language"), ...navigator.languages);
    this.answers = new Answers(this.store);
    this.items = new Items(this.store);
    this.looked = new Looked();
    this.service = new Service(base);
    this.sender = new Sender({ service: this.service, answers: this.answers, items: this.items, listener: this });
    this.tab = new Tab(this.store, { lost: () => this.lost() });
    this.stage = new Stage();
    this.view = new ItemView({ ready: () => this.ready(), failed: () => this.pictureFailed() });
    this.help = new Help({ store: this.store, covers: (on) => this.looked.cover(on) });
    this.dock = new Dock({ answer: (index) => this.answer(index), undo: () => this.undo() });
    this.answerCount = 0;
    this.about = this.trouble = this.error = null;
    this.over = this.empty = false;
  }

  async open() {
    document.addEventListener("keydown", (event) => this.pressed(event));
    document.addEventListener("visibilitychange", () => this.visibilityChanged());
    window.addEventListener("pageshow", (event) => event.persisted && this.visibilityChanged());
    window.addEventListener("online", () => this.look());
    window.addEventListener("offline", () => this.render());
    for (const [action, call] of [["reload", () => window.location.reload()], ["take", () => this.take()], ["look", () => this.look()]]) {
      this.stage.on(action, call);
    }
    this.stage.on("undo", () => this.undo());
    this.stage.on("begin", () => this.begin());
    this.look();
  }

  // Requests the description of the human task, and retries until it arrives.
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

  fill(description) {
    const { language = "", labels = {} } = description;
    const about = { ...description, language, labels: description.answers.map((answer) => labels[answer] ?? answer) };
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

  // Sends pending answers when the page becomes hidden, and continues when it becomes visible.
  visibilityChanged() {
    if (document.hidden) {
      if (this.about && this.sender.hasPending()) this.sender.wake();
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
    if (this.view.display && !this.view.display.done) this.view.show(this.items.current, true);
    this.sender.start();
    this.render();
  }

  get unread() {
    const instructions = this.about.instructions.trim();
    return instructions && this.store.read("instructions") !== instructions;
  }

  begin() {
    this.store.write("instructions", this.about.instructions.trim());
    this.render();
  }

  answer(index) {
    const { display } = this.view;
    const item = this.items.current;
    if (!this.tab.asks) return this.lost();
    if (this.stage.screen !== "annotation" || !item || display?.item !== item || !display.done) return;
    if (performance.now() - display.at < MIN_VIEW_MS) return;
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
    if (!last) return this.stage.say(text("nothing to undo"), "temporary");
    const pendingAnswer = this.answers.get(last.item);
    const item = this.items.recent.get(last.item) || pendingAnswer?.shown;
    this.answers.drop(last.item);
    this.over = false;
    if (item) this.items.first(item);
    else this.stage.say(text("taking back"), "temporary");
    const mayBeSent = !pendingAnswer || pendingAnswer.tried;
    if (mayBeSent || !item) this.answers.takeBack(last.item, !pendingAnswer);
    this.sender.nudge();
    this.render();
  }

  // The sender calls the following methods.

  received({ results, items, answer_count: answerCount, over, wording }) {
    // The service has given this browser a new identity. The items of the old identity are void.
    if (results.some(({ state }) => state === "unknown")) {
      for (const item of [...this.items.queue]) this.items.drop(item.id);
      this.stage.say(text("browser not known"), "temporary");
    }
    if (wording !== this.about.wording) return this.reworded();
    const enqueue = this.tab.asks;
    this.items.add(items.filter((item) => !this.answers.get(item.id)), { enqueue });
    if (enqueue && !items.length) this.items.load();
    this.answerCount = answerCount;
    this.over = over;
    this.empty = this.sender.empty;
    if (over) for (const item of [...this.items.queue]) this.items.drop(item.id);
    this.trouble = null;
    this.render();
  }

  // Drops all items because the template has a new version. The service sends open items again.
  reworded() {
    for (const item of [...this.items.queue]) this.items.drop(item.id);
    this.sender.stop();
    this.about = null;
    this.learn();
  }

  undone(item) {
    this.answerCount = Math.max(0, this.answerCount - 1);
    if (this.answers.get(item.id) || this.items.has(item.id)) return;
    if (!this.tab.asks) return this.items.keep(item, -Date.now());
    this.items.first(item);
    this.stage.say("");
    this.render();
  }

  notUndone(id) {
    this.answers.drop(id);
    this.items.drop(id);
    this.stage.say(text("too late to undo"), "temporary");
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
    const asks = this.stage.screen === "annotation";
    if (asks && event.target === document.body && this.view.scroll(event.key)) return event.preventDefault();
    const command = this.help.keysOn && commandOf(event, this.keys);
    if (!command || event.target.matches?.("input, textarea, select")) return;
    event.preventDefault();
    if (command.name === "answer") this.answer(command.index);
    if (command.name === "undo") this.undo();
    if (command.name === "help") this.help.open();
    if (command.name === "closer") this.view.closer(!this.view.near);
  }

  render() {
    const unsent = this.about ? this.answers.unsent().length : 0;
    const answerCount = Math.max(0, this.answerCount + unsent);
    const screen = this.stage.choose({ page: this, answerCount, unsent });
    if (screen === "annotation") this.view.show(this.items.current);
    else if (!this.items.current) this.view.clear();
    this.dock.update({ last: this.answers.last(), isEnabled: Boolean(this.view.display?.done) });
  }
}

new AnnotationPage().open();
