// Sends what was given and taken back, in this order, and fetches items: one request at a time, for as long as it takes.

import { NoConnection, Refused } from "./service.js";

const AT_ONCE = 50; // of the service
const PACE = 1; // seconds between two requests, where there is no hurry
const FEW = 2; // items at hand
const PAUSES = [1, 2, 4, 8, 15, 30]; // seconds, where there is no connection
const LOOKS = [3, 5, 10, 20, 40, 60]; // seconds, where others have what is left

export class Sender {
  // ``tell``: ``came(answer)``, ``undone(item)``, ``notUndone(id)``, ``troubled(error)``, ``stopped(error)``.
  constructor({ service, answers, items, tell }) {
    Object.assign(this, { service, answers, items, tell });
    this.running = false;
    this.active = false;
    this.failures = 0;
    this.looks = 0;
    this.again = false;
  }

  start() {
    this.active = true;
    this.failures = this.looks = 0;
    this.wake();
  }

  stop() {
    this.active = false;
    clearTimeout(this.timer);
  }

  // Something is to be done: now, whatever it waits for.
  wake() {
    this.again = true;
    this.paced = false;
    if (this.running || !this.active) return;
    clearTimeout(this.timer);
    this.run();
  }

  // Something is to be done soon, unless the service asked for patience, or cannot be reached.
  nudge() {
    if (this.failures) return;
    if (this.hurries()) this.wake();
    else this.pace();
  }

  pace() {
    if (this.paced || this.running) return;
    this.later(PACE);
    this.paced = true;
  }

  hurries() {
    return this.items.held.length <= FEW || this.answers.toTakeBack().length > 0;
  }

  later(seconds) {
    clearTimeout(this.timer);
    if (this.active) this.timer = setTimeout(() => this.wake(), seconds * 1000);
  }

  async run() {
    this.running = true;
    try {
      do {
        this.again = false;
        await this.turn();
        this.failures = 0;
      } while (this.active && (this.again || (this.due() && this.hurries())));
      this.running = false;
      if (this.due()) this.pace();
      else if (this.empty) this.later(LOOKS[Math.min(this.looks++, LOOKS.length - 1)]);
    } catch (error) {
      this.failed(error);
    } finally {
      this.running = false;
    }
  }

  due() {
    return this.answers.toTakeBack().length > 0 || this.answers.unsent().length > 0;
  }

  async turn() {
    for (const one of this.answers.toTakeBack()) await this.takeBack(one);
    const all = this.answers.unsent();
    const sent = all.slice(0, AT_ONCE);
    const wanted = document.hidden ? 0 : this.items.wanted();
    if (!sent.length && !wanted) return;
    const rest = all.slice(AT_ONCE).map((one) => one.item);
    const has = [...this.items.held.map((item) => item.id), ...rest].slice(0, AT_ONCE);
    for (const one of sent) this.answers.tried(one);
    const given = sent.map(({ item, answer, seconds }) => ({ item, answer, seconds }));
    const came = await this.service.next({ answers: given, has, wanted });
    for (const one of sent) this.answers.settle(one.item, one.serial);
    this.tellOfTheFirst(sent, came.fates);
    this.empty = wanted > 0 && !came.items.length;
    if (came.items.length) this.looks = 0;
    this.tell.came(came);
  }

  // What was taken back too late, while nobody knew whether the service had it, counts as it was given first.
  tellOfTheFirst(sent, fates) {
    const anew = new Set(sent.filter((one) => !one.tried).map((one) => one.item));
    for (const { item, fate } of fates) if (fate === "already" && anew.has(item)) this.tell.notUndone(item);
  }

  async takeBack({ item, sure }) {
    try {
      const shown = await this.service.undo(item);
      this.answers.takenBack(item);
      this.tell.undone(shown);
    } catch (error) {
      if (!(error instanceof Refused) || ![404, 409].includes(error.status)) throw error;
      this.answers.takenBack(item);
      if (sure && this.active) this.tell.notUndone(item);
    }
  }

  failed(error) {
    const passing = error instanceof NoConnection || (error instanceof Refused && (error.status === 429 || error.status >= 500));
    if (!passing) {
      if (!(error instanceof Refused)) console.error(error);
      this.stop();
      this.tell.stopped(error);
      return;
    }
    const pause = PAUSES[Math.min(this.failures++, PAUSES.length - 1)];
    const seconds = Math.max(error.wait || 0, pause * (0.75 + Math.random() / 2));
    this.tell.troubled(error);
    this.later(seconds);
  }
}
