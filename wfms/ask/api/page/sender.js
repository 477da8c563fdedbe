// Sends undos and answers, in this order, and fetches items. It sends one request at a time and
// retries until the service has answered.

import { NoConnection, Refused } from "./service.js";

const MAX_PER_REQUEST = 50; // The limit of the service for answers, and for items of the browser
const REQUEST_INTERVAL = 1; // Seconds between two requests if nothing is urgent
const LOW_QUEUE_LENGTH = 2; // With at most this number of items, the next request is urgent.
const RETRY_DELAYS = [1, 2, 4, 8, 15, 30]; // Seconds after consecutive failed requests
const POLL_DELAYS = [3, 5, 10, 20, 40, 60]; // Seconds while others have the remaining items

export class Sender {
  // ``listener`` has the methods ``received(response)``, ``undone(item)``, ``notUndone(id)``,
  // ``troubled(error)`` and ``stopped(error)``.
  constructor({ service, answers, items, listener }) {
    Object.assign(this, { service, answers, items, listener });
    this.running = false;
    this.active = false;
    this.failures = 0;
    this.polls = 0;
    this.rerun = false;
  }

  start() {
    this.active = true;
    this.failures = this.polls = 0;
    this.wake();
  }

  stop() {
    this.active = false;
    clearTimeout(this.timer);
  }

  // Starts a request now, even if a retry or a poll is scheduled.
  wake() {
    this.rerun = true;
    this.paced = false;
    if (this.running || !this.active) return;
    clearTimeout(this.timer);
    this.run();
  }

  // Starts a request soon, unless a retry is scheduled after a failure.
  nudge() {
    if (this.failures) return;
    if (this.isUrgent()) this.wake();
    else this.pace();
  }

  pace() {
    if (this.paced || this.running) return;
    this.wakeAfter(REQUEST_INTERVAL);
    this.paced = true;
  }

  isUrgent() {
    return this.items.queue.length <= LOW_QUEUE_LENGTH || this.answers.toTakeBack().length > 0;
  }

  wakeAfter(seconds) {
    clearTimeout(this.timer);
    if (this.active) this.timer = setTimeout(() => this.wake(), seconds * 1000);
  }

  async run() {
    this.running = true;
    try {
      do {
        this.rerun = false;
        await this.exchange();
        this.failures = 0;
      } while (this.active && (this.rerun || (this.hasPending() && this.isUrgent())));
      this.running = false;
      if (this.hasPending()) this.pace();
      else if (this.empty) this.wakeAfter(POLL_DELAYS[Math.min(this.polls++, POLL_DELAYS.length - 1)]);
    } catch (error) {
      this.failed(error);
    } finally {
      this.running = false;
    }
  }

  hasPending() {
    return this.answers.toTakeBack().length > 0 || this.answers.unsent().length > 0;
  }

  async exchange() {
    for (const undo of this.answers.toTakeBack()) await this.takeBack(undo);
    const all = this.answers.unsent();
    const sent = all.slice(0, MAX_PER_REQUEST);
    const requested = document.hidden ? 0 : this.items.countMissing();
    if (!sent.length && !requested) return;
    const rest = all.slice(MAX_PER_REQUEST).map((answer) => answer.item);
    const has = [...this.items.queue.map((item) => item.id), ...rest].slice(0, MAX_PER_REQUEST);
    for (const pendingAnswer of sent) this.answers.tried(pendingAnswer);
    const answers = sent.map(({ item, answer, seconds }) => ({ item, answer, seconds }));
    const response = await this.service.next({ answers, has, requested_items: requested });
    for (const { item, serial } of sent) this.answers.settle(item, serial);
    this.reportRejectedUndos(sent, response.results);
    this.empty = requested > 0 && !response.items.length;
    if (response.items.length) this.polls = 0;
    this.listener.received(response);
  }

  // Reports undos that came too late. The service already had the first answer, which counts,
  // although the page did not know this when it sent the new answer.
  reportRejectedUndos(sent, results) {
    const firstSent = new Set(sent.filter((answer) => !answer.tried).map((answer) => answer.item));
    for (const { item, state } of results) if (state === "already" && firstSent.has(item)) this.listener.notUndone(item);
  }

  async takeBack({ item, sure }) {
    try {
      const restoredItem = await this.service.undo(item);
      this.answers.takenBack(item);
      this.listener.undone(restoredItem);
    } catch (error) {
      if (!(error instanceof Refused) || ![404, 409].includes(error.status)) throw error;
      this.answers.takenBack(item);
      if (sure && this.active) this.listener.notUndone(item);
    }
  }

  failed(error) {
    const transient = error instanceof NoConnection || (error instanceof Refused && (error.status === 429 || error.status >= 500));
    if (!transient) {
      if (!(error instanceof Refused)) console.error(error);
      this.stop();
      this.listener.stopped(error);
      return;
    }
    const delay = RETRY_DELAYS[Math.min(this.failures++, RETRY_DELAYS.length - 1)];
    const seconds = Math.max(error.wait || 0, delay * (0.75 + Math.random() / 2));
    this.listener.troubled(error);
    this.wakeAfter(seconds);
  }
}
