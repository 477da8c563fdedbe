// An image as large as the window lets it be, with its box drawn over it; closer on demand.

import { text } from "./texts.js";

const LARGEST = 4; // times its own size
const BOX_PART = 0.4; // of the window, when looked at closer
const WORTH = 1.25; // closer by less is not offered

export function viewImage(item) {
  const view = document.createElement("div");
  view.className = "picture";
  const image = document.createElement("img");
  image.alt = item.title ? text("image named", { title: item.title }) : text("image");
  if (item.box) image.alt += `, ${text("with a box")}`;
  view.append(image);
  const box = document.createElement("div");
  box.className = "box";
  const ready = loaded(image, item.image).then(() => {
    const { naturalWidth: width, naturalHeight: height } = image;
    view.style.setProperty("--ratio", width / height);
    view.style.setProperty("--most", `${width * LARGEST}px`);
    if (!item.box) return;
    const [left, top, across, down] = item.box;
    const part = (some, whole) => `${(100 * some) / whole}%`;
    Object.assign(box.style, { left: part(left, width), top: part(top, height), width: part(across, width), height: part(down, height) });
    view.append(box);
  });
  return { view, place: item.box ? box : null, ready, closer: (on, pane) => scale(view, image, item.box, on, pane) };
}

async function loaded(image, address) {
  image.src = address;
  if (image.complete && image.naturalWidth) return;
  await new Promise((done, failed) => {
    image.addEventListener("load", done, { once: true });
    image.addEventListener("error", () => failed(new Error("the image did not come")), { once: true });
  });
}

// Whether closer is worth it here; shown so where it is asked for.
function scale(view, image, box, on, pane) {
  view.style.width = "";
  view.classList.remove("closer");
  const fit = view.clientWidth / image.naturalWidth;
  const room = Math.min(pane.clientWidth, pane.clientHeight) * BOX_PART;
  const close = box ? Math.min(LARGEST, room / Math.max(box[2], box[3], 1)) : 1;
  if (close < fit * WORTH) return false;
  if (on) {
    view.style.width = `${image.naturalWidth * close}px`;
    view.classList.add("closer");
  }
  return true;
}
