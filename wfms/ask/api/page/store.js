// Stores the data of this step in the browser, or in memory if the browser does not store anything.
// Each value has its own key, so that two tabs do not overwrite each other's values.

const memory = new Map();
const EVICTABLE = "item "; // Values whose names have this prefix are evicted if the storage is full.

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
    this.storage = storage();
  }

  read(name) {
    const key = this.prefix + name;
    try {
      const text = memory.get(key) ?? this.storage?.getItem(key);
      return text ? JSON.parse(text) : null;
    } catch {
      return null;
    }
  }

  write(name, value) {
    const key = this.prefix + name;
    const text = JSON.stringify(value);
    if (this.put(key, text) || (!name.startsWith(EVICTABLE) && this.evictItems() && this.put(key, text))) {
      memory.delete(key);
      return;
    }
    memory.set(key, text); // The storage is full or not allowed.
    this.storage?.removeItem(key);
  }

  put(key, text) {
    try {
      this.storage.setItem(key, text);
      return true;
    } catch {
      return false;
    }
  }

  // Moves the items to memory. They may be large and are less valuable than answers.
  evictItems() {
    for (const name of this.storage ? this.names(EVICTABLE) : []) {
      const key = this.prefix + name;
      memory.set(key, memory.get(key) ?? this.storage.getItem(key));
      this.storage.removeItem(key);
    }
    return Boolean(this.storage);
  }

  remove(name) {
    memory.delete(this.prefix + name);
    this.storage?.removeItem(this.prefix + name);
  }

  // Returns the names with this prefix.
  names(beginning) {
    const prefix = this.prefix + beginning;
    const keys = [...memory.keys(), ...(this.storage ? Object.keys(this.storage) : [])];
    return [...new Set(keys.filter((key) => key.startsWith(prefix)))].map((key) => key.slice(this.prefix.length));
  }

  // Calls ``call`` with the value when another tab writes it.
  onOther(name, call) {
    window.addEventListener("storage", (event) => {
      if (event.key === this.prefix + name) call(this.read(name));
    });
  }
}
