// What this browser keeps for this step. In memory where the browser keeps nothing.
// One key for each thing: what two tabs do at once cannot overwrite each other's.

const memory = new Map();
const ROOM = "item "; // what gives way to the rest

function storage() {
  try {
    window.localStorage.getItem("");
    return window.localStorage;
  } catch {
    return null;
  }
}

export class Store {
  constructor(step) {
    this.prefix = `sluice-ask ${step} `;
    this.kept = storage();
  }

  read(name) {
    const key = this.prefix + name;
    try {
      const text = memory.get(key) ?? this.kept?.getItem(key);
      return text ? JSON.parse(text) : null;
    } catch {
      return null;
    }
  }

  write(name, value) {
    const key = this.prefix + name;
    const text = JSON.stringify(value);
    if (this.put(key, text) || (!name.startsWith(ROOM) && this.makeRoom() && this.put(key, text))) {
      memory.delete(key);
      return;
    }
    memory.set(key, text); // full, or not allowed
    this.kept?.removeItem(key);
  }

  put(key, text) {
    try {
      this.kept.setItem(key, text);
      return true;
    } catch {
      return false;
    }
  }

  // Items may be large, and are worth less than what was answered.
  makeRoom() {
    for (const name of this.kept ? this.names(ROOM) : []) {
      const key = this.prefix + name;
      memory.set(key, memory.get(key) ?? this.kept.getItem(key));
      this.kept.removeItem(key);
    }
    return Boolean(this.kept);
  }

  remove(name) {
    memory.delete(this.prefix + name);
    this.kept?.removeItem(this.prefix + name);
  }

  // Names that begin so.
  names(beginning) {
    const prefix = this.prefix + beginning;
    const keys = [...memory.keys(), ...(this.kept ? Object.keys(this.kept) : [])];
    return [...new Set(keys.filter((key) => key.startsWith(prefix)))].map((key) => key.slice(this.prefix.length));
  }

  // Calls with the value when another tab writes it.
  onOther(name, call) {
    window.addEventListener("storage", (event) => {
      if (event.key === this.prefix + name) call(this.read(name));
    });
  }
}
