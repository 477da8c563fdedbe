// Shows an image as large as the window permits, draws its box over it, and zooms in on demand.

import { text } from "./texts.js";

const MAX_ZOOM = 4; // Maximum size of an image, as a multiple of its natural size
const BOX_SHARE = 0.4; // Share of the window that the box takes after zooming in
const MIN_ZOOM_GAIN = 1.25; // The zoom is offered only if it enlarges the image by this factor.

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
    view.style.setProperty("--most", `${width * MAX_ZOOM}px`);
    if (!item.box) return;
    const [left, top, across, down] = item.box;
    const part = (length, whole) => `${(100 * length) / whole}%`;
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

// Returns whether the image can be zoomed in by a useful factor, and does it if ``on`` is true.
function scale(view, image, box, on, pane) {
  view.style.width = "";
  view.classList.remove("closer");
  const fit = view.clientWidth / image.naturalWidth;
  const boxSize = Math.min(pane.clientWidth, pane.clientHeight) * BOX_SHARE;
  const zoom = box ? Math.min(MAX_ZOOM, boxSize / Math.max(box[2], box[3], 1)) : 1;
  if (zoom < fit * MIN_ZOOM_GAIN) return false;
  if (on) {
    view.style.width = `${image.naturalWidth * zoom}px`;
    view.classList.add("closer");
  }
  return true;
}
