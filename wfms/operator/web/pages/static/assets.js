"use strict";
// Sends the files of an asset piece by piece, so that they may be of any size. Without it the form sends small ones.

const form = document.getElementById("put-asset");
const progress = document.getElementById("put-progress");
const PIECE = 8 * 1024 * 1024;

async function ask(method, path, body, type) {
  const answer = await fetch(path, { method, body, headers: type ? { "Content-Type": type } : {} });
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  const problem = await answer.json().catch(() => ({ detail: `HTTP ${answer.status}` }));
  throw new Error([problem.detail, ...(problem.findings || []).map((finding) => finding.message)].join(" · "));
}

async function send(place, number, file, received) {
  for (let offset = received; offset < file.size; offset += PIECE) {
    const path = `${place}/files/${number}?offset=${offset}`;
    await ask("PUT", path, file.slice(offset, offset + PIECE), "application/octet-stream");
    progress.textContent = `${file.name}: ${Math.floor((100 * Math.min(offset + PIECE, file.size)) / file.size)} %`;
  }
  await ask("POST", `${place}/files/${number}`);
}

async function put(name, files, note) {
  const base = `/api/v1/assets/${encodeURIComponent(name)}`;
  const listed = [...files].map(([path, file]) => ({ path, size: file.size }));
  const draft = await ask("POST", `${base}/drafts`, JSON.stringify({ files: listed, note }), "application/json");
  const place = `${base}/drafts/${draft.uid}`;
  for (const missing of draft.missing) await send(place, missing.number, files.get(missing.path), missing.received);
  return ask("POST", place);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const files = new Map();
  for (const file of form.elements.file.files) files.set(file.name, file);
  for (const file of form.elements.folder.files) files.set(file.webkitRelativePath.split("/").slice(1).join("/"), file);
  if (!files.size) {
    progress.textContent = "Choose files, or a folder.";
    return;
  }
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const stored = await put(form.elements.name.value.trim(), files, form.elements.note.value);
    window.location.assign(`/assets/${encodeURIComponent(stored.version.name)}`);
  } catch (error) {
    progress.textContent = error.message;
    button.disabled = false;
  }
});
