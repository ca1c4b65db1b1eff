"use strict";
// Canvases may be read back altered, against fingerprinting, so a browser's own decoder cannot be trusted with
// numbers. These are 8-bit grey and not interlaced, as the maker of this page writes them.
async function decodePng(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const packed = [];
  for (let at = 8; at < bytes.length; at += 12 + view.getUint32(at)) {
    if (view.getUint32(at + 4) === 0x49444154) packed.push(bytes.subarray(at + 8, at + 8 + view.getUint32(at)));
  }
  const stream = new Blob(packed).stream().pipeThrough(new DecompressionStream("deflate"));
  const raw = new Uint8Array(await new Response(stream).arrayBuffer());
  const levels = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    const filter = raw[row * (width + 1)];
    for (let column = 0; column < width; column++) {
      const at = row * width + column;
      const left = column ? levels[at - 1] : 0;
      const above = row ? levels[at - width] : 0;
      const corner = row && column ? levels[at - width - 1] : 0;
      levels[at] = raw[at + row + 1] + predicted(filter, left, above, corner);
    }
  }
  return { width, height, levels };
}

function predicted(filter, left, above, corner) {
  if (filter < 3) return [0, left, above][filter];
  if (filter === 3) return (left + above) >> 1;
  const [a, b, c] = [above - corner, left - corner, left + above - 2 * corner].map(Math.abs);
  return a <= b && a <= c ? left : b <= c ? above : corner;
}

function paint(canvas, { width, height, levels }, colours) {
  canvas.width = width;
  canvas.height = height;
  const image = new ImageData(width, height);
  levels.forEach((level, at) => image.data.set(colours[level], 4 * at));
  canvas.getContext("2d").putImageData(image, 0, 0);
}

const grey = (share) => {
  const level = Math.round(255 * Math.min(1, Math.max(0, share)));
  return [level, level, level, 255];
};
const SHADES = Array.from({ length: 256 }, (_, level) => grey(level / 255));
const rgba = (name) => [...colour(name).match(/[\d.]+/g).slice(0, 3).map(Number), 255];
