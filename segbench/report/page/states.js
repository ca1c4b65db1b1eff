"use strict";
// What became of each pixel of an image by a method, at one of its thresholds: as arrays, and in colours.
const STATES = ["nothing", "true", "false", "missed", "ignored", "partner", "near", "far", "between"];
const whole = (count) => count.toLocaleString("en");

function counted(method, at) {
  const [tp, fp] = [method.tp[at], method.fp[at]];
  return { tp, fp, missed: method.positives - tp, P: tp + fp ? tp / (tp + fp) : null, R: method.positives ? tp / method.positives : null, F: method.positives ? (2 * tp) / (method.positives + tp + fp) : null };
}

function panelData(protocol, place) {
  const panel = data(`panel-${protocol}-${place}`);
  const { cuts } = sectionData(protocol);
  for (const method of panel.methods) method.cuts = cuts[method.cuts];
  return panel;
}

// The metric that is read off first: its name and its values threshold by threshold.
function ranking(method) {
  if (method.tp) return ["F", method.tp.map((_, at) => counted(method, at).F)];
  const name = method.metrics.F ? "F" : Object.keys(method.metrics)[0];
  return name === undefined ? [] : [name, method.metrics[name]];
}

function nearestCut(method, threshold) {
  let best = method.start;
  method.cuts.forEach((cut, at) => { if (Math.abs(cut - threshold) < Math.abs(method.cuts[best] - threshold)) best = at; });
  return best;
}

const decoded = new Map();
function decodeOnce(base64) {
  if (!decoded.has(base64)) decoded.set(base64, decodePng(base64));
  return decoded.get(base64);
}

async function statesAt(panel, method, at) {
  if (!method.levels) return decodeOnce(method.states[at]);
  const [truth, { width, height, levels }] = await Promise.all([decodeOnce(panel.truths[method.truth]), decodeOnce(method.levels)]);
  return { width, height, levels: truth.levels.map((label, place) => (label === 2 ? 4 : levels[place] > at ? (label ? 1 : 2) : label ? 3 : 0)) };
}

// What is left out, hatched: of states, or of labels whose colours end with those of the lines and of what is between.
function hatched({ width, height, levels }, leftOut = 4, between = STATES.length - 1) {
  const step = Math.max(3, Math.ceil(Math.max(width, height) / 128));
  return { width, height, levels: levels.map((level, place) => (level === leftOut && Math.floor((Math.floor(place / width) + (place % width)) / step) % 2 ? between : level)) };
}

function paintLabels(canvas, labels, colours) {
  paint(canvas, hatched(labels, colours.length - 2, colours.length - 1), colours);
}

function hatchedSquare(side) {
  const canvas = document.createElement("canvas");
  paint(canvas, hatched({ width: side, height: side, levels: new Uint8Array(side * side).fill(4) }), STATES.map((name) => rgba(`--${name}`)));
  return canvas;
}

// Colours of the states over a photograph: opaque where what is tinted is thin.
function tints(alphas, thin) {
  return STATES.map((name, state) => [...rgba(`--${name}`).slice(0, 3), alphas[state] && thin ? 255 : alphas[state]]);
}
