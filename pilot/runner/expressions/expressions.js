// Evaluates JavaScript: a line of JSON {id, code} in, a line of JSON {id, value} or {id, error} out. Nothing of one expression is seen
// by the next: each has its own context, with no object of this program in it.
"use strict";
const vm = require("vm");

function said(error) {
  try {
    return String(error && error.stack ? `${error.name}: ${error.message}` : error);
  } catch {
    return "an error that cannot be told";
  }
}

function answer(request) {
  try {
    const value = JSON.stringify(vm.runInNewContext(request.code, Object.create(null)));
    if (value === undefined) {
      return JSON.stringify({ id: request.id, error: "it gives undefined, or a function" });
    }
    return `{"id":${JSON.stringify(request.id)},"value":${value}}`;
  } catch (error) {
    return JSON.stringify({ id: request.id, error: said(error) });
  }
}

// Callbacks that an expression left behind are not run.
process.on("unhandledRejection", () => {});
process.on("uncaughtException", () => {});

let pieces = [];
process.stdin.setEncoding("utf8");
process.stdin.on("data", (piece) => {
  const end = piece.indexOf("\n");
  if (end < 0) {
    pieces.push(piece);
    return;
  }
  const line = pieces.join("") + piece.slice(0, end);
  pieces = [piece.slice(end + 1)];
  process.stdout.write(answer(JSON.parse(line)) + "\n");
});
process.stdin.on("end", () => process.exit());
