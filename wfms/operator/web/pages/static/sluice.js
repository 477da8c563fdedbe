"use strict";
// Keeps an open page up to date, copies addresses, and asks before something is canceled or deleted. Everything works without it.

const note = document.getElementById("live-note");
const period = Number(document.body.dataset.period);

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

// An address is copied by a button that is not there without this script; where the clipboard is closed to pages, it is selected.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const box = document.getElementById(button.dataset.copy);
    box.select();
    try {
      await navigator.clipboard.writeText(box.value);
      button.textContent = "Copied";
    } catch {
      note.textContent = "Copy what is selected by the keys of your system.";
    }
  });
}

// Puts new content into an element only when it differs, and leaves the keyboard's place and what was typed alone.
function renew(id, html) {
  const element = document.getElementById(id);
  if (!element || element.dataset.shown === html) return;
  const active = document.activeElement;
  const inside = element.contains(active);
  if (inside && active.matches("input, textarea, select")) return;
  const place = inside ? active.id || active.getAttribute("href") : "";
  const typed = [...element.querySelectorAll("input[type=text][id], input[type=number][id]")].filter((box) => box.value !== box.defaultValue).map((box) => [box.id, box.value]);
  const scrolled = [...element.querySelectorAll(".flow, .table, .log")].map((box) => [box.scrollLeft, box.scrollTop]);
  element.innerHTML = html;
  element.dataset.shown = html;
  [...element.querySelectorAll(".flow, .table, .log")].forEach((box, index) => {
    [box.scrollLeft, box.scrollTop] = scrolled[index] || [0, 0];
  });
  for (const [box, text] of typed) if (text && document.getElementById(box)) document.getElementById(box).value = text;
  if (place) {
    const again = [...element.querySelectorAll("a, button")].find((candidate) => candidate.id === place || candidate.getAttribute("href") === place);
    if (again) again.focus({ preventScroll: true });
  }
}

async function follow(address) {
  let pause = period;
  for (;;) {
    await new Promise((wake) => setTimeout(wake, pause));
    if (document.hidden) continue;
    try {
      const answer = await fetch(address, { headers: { Accept: "application/json" } });
      if (answer.status === 401) {
        note.textContent = "Your session is over: load the page again to sign in.";
        return;
      }
      if (!answer.ok) throw new Error(String(answer.status));
      const { parts, again } = await answer.json();
      for (const [id, html] of Object.entries(parts)) renew(id, html);
      if (note.textContent) note.textContent = "";
      document.body.dataset.followed = String(Number(document.body.dataset.followed || 0) + 1);
      pause = period;
      if (!again) return;
    } catch {
      note.textContent = "No connection; what is shown may be old. Trying again.";
      pause = Math.min(pause * 2, 30000);
    }
  }
}

if (document.body.dataset.live) follow(document.body.dataset.live);
