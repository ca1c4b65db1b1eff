"use strict";
// The gallery as one picture: the columns that are shown, at the thresholds and slices that are set, on white paper.
const PICTURE_WIDE = 360;
const NAMES_WIDE = 180;
const LETTERS = 18;
const APART = 6;

const drawingOf = (cell) => find(".frame svg, .beside svg", cell);

async function decodedPicture(href) {
  const picture = new Image();
  picture.src = href;
  await picture.decode();
  return picture;
}

// A photograph below errors, grey and pale, as style.css shows it; not every browser has filters of canvases.
function washedPicture(picture, width, height) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(picture, 0, 0, width, height);
  const image = context.getImageData(0, 0, width, height);
  for (let at = 0; at < image.data.length; at += 4) {
    const level = 204 + 0.2 * (0.299 * image.data[at] + 0.587 * image.data[at + 1] + 0.114 * image.data[at + 2]);
    image.data.set([level, level, level, 255], at);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

async function drawCell(context, cell, left, top, width, height) {
  const followed = find(".followed canvas", cell);
  for (const part of drawingOf(cell).children) {
    if (part.matches("use, image") && !(followed && part.matches(".tint"))) {
      const source = part.matches("use") ? find(part.getAttribute("href")) : part;
      const picture = await decodedPicture(source.getAttribute("href"));
      context.imageSmoothingEnabled = part.matches("use") || picture.naturalWidth > width;
      context.drawImage(part.matches(".photo") ? washedPicture(picture, width, height) : picture, left, top, width, height);
    }
  }
  if (followed) {
    context.imageSmoothingEnabled = followed.width > width;
    context.drawImage(followed, left, top, width, height);
  }
  context.strokeStyle = "#b0b0b0";
  context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
  const metric = find("small:not(.slice, .rank)", cell)?.textContent;
  if (!metric) return;
  const wide = Math.min(width, context.measureText(metric).width + 8);
  context.fillStyle = "#fff";
  context.fillRect(left + width - wide - 1, top + height - LETTERS - 7, wide, LETTERS + 6);
  context.fillStyle = "#000";
  context.fillText(metric, left + width - wide + 3, top + height - 7, wide - 8);
}

async function galleryPicture(section) {
  const table = find(".gallery", section);
  const isShown = (element) => element.getClientRects().length > 0;
  const heads = all("thead th", table).slice(1).map((head) => (find(".name", head) ?? head).textContent.trim());
  const rows = all("tbody tr", table).filter(isShown).map((row) => {
    const cells = all("td", row).map((cell, column) => ({ cell, head: heads[column] })).filter(({ cell }) => isShown(cell));
    const shapes = cells.map(({ cell }) => drawingOf(cell)?.viewBox.baseVal).filter(Boolean);
    const height = Math.max(LETTERS, ...shapes.map((shape) => Math.round((PICTURE_WIDE * shape.height) / shape.width)));
    return { name: find(".name", row).textContent, cells, height };
  });
  const states = all(".key span", section).map((entry) => [getComputedStyle(find("i", entry)).backgroundColor, entry.textContent]);
  const canvas = document.createElement("canvas");
  canvas.width = NAMES_WIDE + Math.max(...rows.map(({ cells }) => cells.length)) * (PICTURE_WIDE + APART);
  canvas.height = rows.reduce((sum, { height }) => sum + height + APART, 4 * LETTERS + APART);
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.font = `${LETTERS}px sans-serif`;
  context.fillStyle = "#000";
  rows[0].cells.forEach(({ head }, place) => context.fillText(head, NAMES_WIDE + place * (PICTURE_WIDE + APART), 1.3 * LETTERS, PICTURE_WIDE));
  let top = 2 * LETTERS;
  for (const { name, cells, height } of rows) {
    context.fillStyle = "#000";
    context.fillText(name, 0, top + LETTERS, NAMES_WIDE - APART);
    for (const [place, { cell }] of cells.entries()) {
      const shape = drawingOf(cell)?.viewBox.baseVal;
      const left = NAMES_WIDE + place * (PICTURE_WIDE + APART);
      if (shape) await drawCell(context, cell, left, top, PICTURE_WIDE, Math.round((PICTURE_WIDE * shape.height) / shape.width));
    }
    top += height + APART;
  }
  let left = NAMES_WIDE;
  for (const [fill, words] of states) {
    if (fill === "rgba(0, 0, 0, 0)") context.drawImage(hatchedSquare(LETTERS), left, top + APART);
    else {
      context.fillStyle = fill;
      context.fillRect(left, top + APART, LETTERS, LETTERS);
    }
    context.fillStyle = "#000";
    context.fillText(words, left + LETTERS + APART, top + APART + 0.85 * LETTERS);
    left += 3 * LETTERS + context.measureText(words).width;
  }
  return canvas;
}

for (const section of all("main > section")) {
  const key = find(".gallery", section) && find(".key", section);
  if (!key) continue;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "tools save", textContent: "Save as PNG" });
  key.append(button);
  button.addEventListener("click", async () => {
    const canvas = await galleryPicture(section);
    canvas.toBlob((file) => {
      const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download: `${section.dataset.protocol}-pictures.png` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  });
}
