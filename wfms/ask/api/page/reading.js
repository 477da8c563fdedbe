// Shows the instructions and enables the begin button after their end has been visible.

const element = (id) => document.getElementById(id);
const SLACK = 4; // Pixels, because sizes may be fractional

export class Reading {
  constructor() {
    this.pane = element("instructions-pane");
    this.begin = element("begin");
    this.atEnd = false;
    this.pane.addEventListener("scroll", () => this.look());
    new ResizeObserver(() => this.look()).observe(this.pane);
  }

  // Shows new instructions from their beginning, and does nothing if they have not changed.
  fill(instructions) {
    if (this.instructions === instructions) return;
    this.instructions = instructions;
    element("instructions-text").textContent = instructions;
    this.pane.scrollTo(0, 0);
    this.atEnd = false;
    this.look();
  }

  look() {
    const { scrollTop, clientHeight, scrollHeight } = this.pane;
    this.atEnd ||= clientHeight > 0 && scrollTop + clientHeight >= scrollHeight - SLACK;
    this.begin.disabled = !this.atEnd;
    element("instructions-hint").hidden = this.atEnd;
  }
}
