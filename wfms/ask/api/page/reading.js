// Instructions that have to be read to their end: the button works once the end has been in view.

const element = (id) => document.getElementById(id);
const SLACK = 4; // px, of sizes that are no whole numbers

export class Reading {
  constructor() {
    this.pane = element("instructions-pane");
    this.begin = element("begin");
    this.atEnd = false;
    this.pane.addEventListener("scroll", () => this.look());
    new ResizeObserver(() => this.look()).observe(this.pane);
  }

  // Other instructions: they are read from their beginning.
  fill(words) {
    if (this.words === words) return;
    this.words = words;
    element("instructions-text").textContent = words;
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
