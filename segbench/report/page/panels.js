"use strict";
const dialog = find("#panel");
const slider = find("#threshold");
const STATES = ["nothing", "true", "false", "missed", "ignored", "partner"];
const whole = (count) => count.toLocaleString("en");
let open = null;

function picture(caption, alt, source) {
  const figure = find("#pictures").appendChild(document.createElement("figure"));
  figure.appendChild(document.createElement("figcaption")).textContent = caption;
  const node = figure.appendChild(document.createElement(source ? "img" : "canvas"));
  if (source) {
    node.src = source;
    node.alt = alt;
  } else {
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", alt);
  }
  return node;
}

function counted(method, at) {
  const [tp, fp] = [method.tp[at], method.fp[at]];
  return { tp, fp, missed: method.positives - tp, P: tp + fp ? tp / (tp + fp) : null, R: method.positives ? tp / method.positives : null, F: method.positives ? (2 * tp) / (method.positives + tp + fp) : null };
}

function bestOfImage(method) {
  const scores = method.tp ? method.tp.map((_, at) => counted(method, at).F) : method.metrics.F ?? method.metrics.covering;
  return scores.indexOf(Math.max(...scores.filter((score) => score !== null)));
}

const alone = (method) => (method.cuts.length === 1 && method.cuts[0] !== null ? `threshold ${written(method.cuts[0])} · ` : "");

async function slide() {
  const { panel, method, maps } = open;
  const at = Number(slider.value);
  find("#at").textContent = written(method.cuts[at]);
  slider.setAttribute("aria-valuetext", `threshold ${written(method.cuts[at])}`);
  let states;
  if (method.levels) {
    const { width, height, levels } = maps.levels;
    states = { width, height, levels: maps.truth.levels.map((label, place) => (label === 2 ? 4 : levels[place] > at ? (label ? 1 : 2) : label ? 3 : 0)) };
    const now = counted(method, at);
    find("#reading").textContent = `${alone(method)}precision ${written(now.P)} · recall ${written(now.R)} · F ${written(now.F)} · ${whole(now.tp)} true, ${whole(now.fp)} false, ${whole(now.missed)} missed pixels`;
  } else {
    const current = open;
    states = await decodePng(method.states[at]);
    if (method.outlines) paint(maps.outline, await decodePng(method.outlines[at]), SHADES);
    if (current !== open || at !== Number(slider.value)) return;
    find("#reading").textContent = alone(method) + Object.entries(method.metrics).map(([name, values]) => `${name} ${written(values[at])}`).join(" · ");
  }
  paint(maps.states, states, STATES.map((name) => rgba(`--${name}`)));
  const seen = new Set(states.levels);
  maps.states.setAttribute("aria-label", `True, false and missed pixels of ${panel.name}${method.cuts[at] === null ? "" : ` at threshold ${written(method.cuts[at])}`}: ${find("#reading").textContent}`);
  find("#key").replaceChildren(...open.words.map((words, state) => {
    const entry = document.createElement("span");
    entry.appendChild(document.createElement("i")).style.background = `var(--${STATES[state]})`;
    entry.append(words);
    entry.hidden = !words || !seen.has(state);
    return entry;
  }));
}

function explain(method) {
  const [width, height] = method.size;
  const reduced = method.side > 1 ? `Thumbnails: one pixel represents ${method.side} × ${method.side} of the image's ${width} × ${height}, an error or a positive one before others, so that nothing thin is lost. Metrics are those of the whole image.` : `Every pixel of the image, ${width} × ${height}.`;
  const few = method.cuts.length > 1 && method.states ? ` Matching takes the program, so there are ${method.cuts.length} thresholds to choose from.` : "";
  find("#caption").textContent = [reduced + few, method.note].filter(Boolean).join(" ");
}

async function show() {
  const { panel, place, protocol } = open;
  const method = panel.methods[place];
  const name = find("#panel-method").selectedOptions[0].textContent;
  const pictures = find("#pictures");
  pictures.replaceChildren();
  find("#sliding").hidden = Boolean(method.problem) || method.cuts.length < 2;
  for (const id of ["#reading", "#key", "#classes", "#caption"]) find(id).replaceChildren();
  if (panel.photo) picture("Photograph", `Photograph ${panel.name}`, `data:image/webp;base64,${panel.photo}`);
  if (method.problem) {
    find("#reading").textContent = `No pictures: ${method.problem}`;
    return;
  }
  open.method = method;
  const current = open;
  const truth = await decodePng(panel.truths[method.truth]);
  const levels = method.levels && (await decodePng(method.levels));
  if (current !== open || current.method !== method) return;
  open.maps = { truth, levels };
  paint(picture("Ground truth", `Ground truth of ${panel.name}`), truth, method.classes ? open.shades : protocol === "pixels" ? [grey(0), grey(1), rgba("--ignored")] : SHADES);
  if (levels) {
    // Of scores that are no shares, the lowest is black and the highest white.
    const [low, high] = [Math.min(0, method.cuts[0]), Math.max(1, method.cuts.at(-1))];
    // A single threshold is that of a mask, which is black and white whatever its two values.
    const soft = method.cuts.length === 1 ? [grey(0), grey(1)] : [low, ...method.cuts].map((cut) => grey((cut - low) / (high - low)));
    paint(picture(low < 0 || high > 1 ? `Prediction, scores from ${written(low)} to ${written(high)}` : "Prediction", `Prediction of ${name} for ${panel.name}`), levels, soft);
  }
  if (method.classes) {
    const predicted = await decodePng(method.classes);
    if (current !== open || current.method !== method) return;
    paint(picture("Prediction", `Prediction of ${name} for ${panel.name}`), predicted, open.shades);
    const both = new Set([...truth.levels, ...predicted.levels]);
    find("#classes").replaceChildren(...open.classes.names.map((words, place) => {
      const entry = document.createElement("span");
      entry.appendChild(document.createElement("i")).style.background = open.classes.colours[place];
      entry.append(words);
      entry.hidden = !both.has(place);
      return entry;
    }));
  }
  if (method.soft) picture("Prediction", `Prediction of ${name} for ${panel.name}`, `data:image/webp;base64,${method.soft}`);
  if (method.outlines) open.maps.outline = picture("Predicted regions", `Outlines of the regions that ${name} predicts for ${panel.name}`);
  open.maps.states = picture(method.classes ? "Right and wrong" : "True, false, missed", "");
  const main = open.maps.states.parentElement;
  main.className = "main";
  pictures.prepend(main);
  slider.max = method.cuts.length - 1;
  slider.value = method.start;
  explain(method);
  if (panel.noPhoto) find("#caption").append(` No photograph: ${panel.noPhoto}`);
  await slide();
}

const bytes = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).concat(255);

function openPanel(section, image, place) {
  const protocol = section.dataset.protocol;
  const { names, images, states, classes } = data(`data-${protocol}`);
  const at = images.indexOf(image);
  if (at < 0 || !names[place]) return;
  const panel = data(`panel-${protocol}-${at}`);
  const shades = [...classes.colours.map(bytes), grey(1), rgba("--ignored")];
  open = { section, panel, protocol, images, at, words: states, classes, shades, place };
  find("#panel-name").textContent = panel.name;
  find("#panel-method").replaceChildren(...names.map((name, method) => new Option(name, method)));
  find("#panel-method").value = place;
  if (!dialog.open) dialog.showModal();
  return show();
}

// A link names an image and a method, and perhaps a protocol and a threshold.
function follow() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const section = document.getElementById(fields.get("in")) ?? find("main > section");
  const image = fields.get("image");
  if (image === null) return dialog.open && dialog.close();
  const { names } = data(`data-${section.dataset.protocol}`);
  openPanel(section, image, Math.max(0, names.indexOf(fields.get("method"))));
}

function step(by) {
  const image = open.images[open.at + by];
  if (image !== undefined) openPanel(open.section, image, open.place);
}

addEventListener("hashchange", follow);
slider.addEventListener("input", slide);
find("#panel-method").addEventListener("change", (event) => {
  open.place = Number(event.target.value);
  show();
});
find("#pool-best").addEventListener("click", () => { slider.value = open.method.start; slide(); });
find("#image-best").addEventListener("click", () => { slider.value = bestOfImage(open.method); slide(); });
find("#previous").addEventListener("click", () => step(-1));
find("#next").addEventListener("click", () => step(1));
find("#close").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => {
  open = null;
  if (location.hash.includes("image=")) history.replaceState(null, "", location.pathname + location.search);
});
themed.push(() => { if (open?.maps?.states) slide(); });
rethemed();
follow();
