"use strict";
const dialog = find("#panel");
const slider = find("#threshold");
const opacity = find("#opacity");
let open = null;

function picture(view, caption, alt, source) {
  const figure = find("#pictures").appendChild(document.createElement("figure"));
  figure.dataset.view = view;
  figure.appendChild(document.createElement("figcaption")).textContent = caption;
  const node = figure.appendChild(document.createElement(source ? "img" : "canvas"));
  if (source) {
    node.src = source;
    node.alt = alt;
  } else {
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", alt);
  }
  if (view) open.views[view] = node;
  return node;
}

const bestOfImage = (method) => {
  const [, values] = ranking(method);
  return values.indexOf(Math.max(...values.filter((value) => value !== null)));
};
const alone = (method) => (method.cuts.length === 1 && method.cuts[0] !== null ? `threshold ${writtenCut(method.cuts[0])} · ` : "");
const viewed = () => find("input[name=view]:checked").value;

// The large picture: errors, one of the small ones, or two methods.
async function stage() {
  const { main, views, states, panel } = open;
  const view = viewed();
  const source = views[view];
  const two = view === "difference" || view === "divider";
  find("#against").hidden = !two;
  find("#dividing").hidden = view !== "divider";
  main.style.opacity = panel.photo ? opacity.value / 100 : 1;
  if (!states) return;
  const colours = panel.photo ? tints(open.alphas, open.thin) : STATES.map((name) => rgba(`--${name}`));
  const other = panel.methods[find("#other").value];
  if (two && other && !other.problem) {
    const current = open;
    const theirs = await statesAt(panel, other, other.start);
    if (current !== open || states !== open.states) return;
    paint(main, ...(view === "divider" ? divided(states, theirs, colours) : differing(states, theirs)));
  } else if (source) {
    const draw = () => {
      main.width = source.naturalWidth ?? source.width;
      main.height = source.naturalHeight ?? source.height;
      main.getContext("2d").drawImage(source, 0, 0);
    };
    if (source.complete === false) source.addEventListener("load", draw, { once: true });
    else draw();
  } else paint(main, hatched(states), colours);
  if (view !== "difference") explainStates(states);
}

function divided(mine, theirs, colours) {
  const border = (find("#divider").value / 100) * mine.width;
  return [hatched({ ...mine, levels: mine.levels.map((state, place) => (place % mine.width < border ? state : theirs.levels[place])) }), colours];
}

// Pixels that only one of two methods got right, in its colour; grey where both are wrong.
function differing(mine, theirs) {
  const wrong = (state) => state === 2 || state === 3;
  const levels = mine.levels.map((state, place) => (wrong(state) ? (wrong(theirs.levels[place]) ? 3 : 2) : wrong(theirs.levels[place]) ? 1 : 0));
  const [one, other] = [open.place, Number(find("#other").value)];
  const names = [...find("#panel-method").options].map((option) => option.textContent);
  const own = (method) => rgba(`--${open.css[method].split(" ")[0]}`);
  const kinds = [[own(one), `only ${names[one]} is right`], [own(other), `only ${names[other]} is right`], [rgba("--ignored"), "both are wrong"]];
  legend(kinds.map(([[red, green, blue], words], kind) => [`rgb(${red} ${green} ${blue})`, `${words}: ${whole(levels.reduce((sum, level) => sum + (level === kind + 1), 0))} pixels drawn`]));
  return [{ ...mine, levels }, [[255, 255, 255, open.panel.photo ? 0 : 255], ...kinds.map(([shade]) => shade)]];
}

function legend(entries) {
  find("#key").replaceChildren(...entries.map(([shade, words]) => {
    const entry = document.createElement("span");
    entry.appendChild(document.createElement("i")).style.background = shade;
    entry.append(words);
    return entry;
  }));
}

// Of what is left out as its pixels are hatched.
const shade = (state) => (state === 4 ? "repeating-linear-gradient(135deg, var(--ignored) 0 3px, var(--between) 3px 6px)" : `var(--${STATES[state]})`);

function explainStates({ levels }) {
  const seen = new Set(levels);
  legend(open.words.map((words, state) => [shade(state), words, state]).filter(([, words, state]) => words && seen.has(state)));
}

function address() {
  const { section, panel, place, method } = open;
  const fields = new URLSearchParams();
  if (all("main > section").length > 1) fields.set("in", section.dataset.protocol);
  fields.set("image", panel.name);
  fields.set("method", find("#panel-method").options[place].textContent);
  const cut = method?.cuts[slider.value];
  if (method?.cuts.length > 1 && cut !== null) fields.set("t", written(cut));
  history.replaceState(null, "", `#${fields.toString().replace(/\+/g, "%20")}`);
}

async function slide() {
  const current = open;
  const { panel, method } = open;
  const at = Number(slider.value);
  find("#at").textContent = writtenCut(method.cuts[at]);
  slider.setAttribute("aria-valuetext", `threshold ${writtenCut(method.cuts[at])}`);
  const [states, outlines] = await Promise.all([statesAt(panel, method, at), method.outlines && decodeOnce(method.outlines[at])]);
  if (current !== open || method !== open.method || at !== Number(slider.value)) return;
  if (outlines) paint(open.views.prediction, outlines, SHADES);
  if (method.levels) {
    const now = counted(method, at);
    find("#reading").textContent = `${alone(method)}precision ${written(now.P)} · recall ${written(now.R)} · F ${written(now.F)} · ${whole(now.tp)} true, ${whole(now.fp)} false, ${whole(now.missed)} missed pixels`;
  } else {
    find("#reading").textContent = alone(method) + Object.entries(method.metrics).map(([name, values]) => `${name} ${written(values[at])}`).join(" · ");
    find("#instances").textContent = method.words?.[at] ?? "";
  }
  open.states = states;
  await stage();
  open.main.setAttribute("aria-label", `${method.classes ? "Wrong" : "True, false and missed"} pixels of ${panel.name}${method.cuts[at] === null ? "" : ` at threshold ${writtenCut(method.cuts[at])}`}: ${find("#reading").textContent}`);
  address();
}

// Of a volume, the fields of the chosen slice take the place of those of the method.
function chooseSlice(panel, at) {
  for (const method of panel.methods) if (method.slices) Object.assign(method, method.slices[at], { slice_shown: at });
  if (panel.photos) panel.photo = panel.photos[at];
}

function explain(method) {
  const [width, height] = method.size;
  const reduced = method.side > 1 ? `Thumbnails: one pixel represents ${method.side} × ${method.side} of the image's ${width} × ${height}, an error or a positive one before others, so that nothing thin is lost. Metrics are those of the whole image.` : `Every pixel of the image, ${width} × ${height}.`;
  const few = method.cuts.length > 1 && method.states ? ` Matching takes the program, so there are ${method.cuts.length} thresholds to choose from.` : "";
  find("#caption").textContent = [method.slice && `${method.slice}. Metrics are those of the whole volume.`, reduced + few, method.note].filter(Boolean).join(" ");
}

async function show(threshold = null) {
  const { panel, place, protocol } = open;
  const method = panel.methods[place];
  const name = find("#panel-method").selectedOptions[0].textContent;
  const pictures = find("#pictures");
  pictures.replaceChildren();
  pictures.classList.toggle("maps", Boolean(method.classes));
  open.views = {};
  open.states = null;
  open.method = null;
  find("#sliding").hidden = Boolean(method.problem) || method.cuts.length < 2;
  find("#slicing").hidden = !(method.slices?.length > 1);
  find("#views").hidden = Boolean(method.problem);
  find("#opacity-of").hidden = Boolean(method.problem) || !panel.photo;
  for (const id of ["#reading", "#instances", "#key", "#classes", "#caption"]) find(id).replaceChildren();
  const photo = panel.photo && `data:image/webp;base64,${panel.photo}`;
  if (method.problem) {
    if (photo) picture("", "Photograph", `Photograph ${panel.name}`, photo);
    find("#reading").textContent = `No pictures: ${method.problem}`;
    return address();
  }
  open.method = method;
  const current = open;
  const [truth, levels, classes] = await Promise.all([panel.truths[method.truth], method.levels, method.classes].map((map) => map && decodeOnce(map)));
  if (current !== open || open.method !== method) return;
  open.main = picture("", method.classes ? "Errors" : "True, false, missed", "");
  const main = open.main.parentElement;
  main.className = "main";
  main.tabIndex = 0; // for the arrow keys, which move what is zoomed
  if (photo) {
    const frame = document.createElement("div");
    frame.className = "frame";
    open.main.replaceWith(frame);
    frame.append(Object.assign(document.createElement("img"), { src: photo, alt: "" }), open.main);
    picture("photograph", "Photograph", `Photograph ${panel.name}`, photo);
  }
  const canvas = picture("truth", "Ground truth", `Ground truth of ${panel.name}`);
  if (method.classes || method.levels) paintLabels(canvas, truth, method.classes ? open.shades : [grey(0), grey(1), ...open.leftOut]);
  else paint(canvas, truth, SHADES);
  const predicted = `Prediction of ${name} for ${panel.name}`;
  if (levels) {
    // Of scores that are no shares, the lowest is black and the highest white.
    const [low, high] = [Math.min(0, method.cuts[0]), Math.max(1, method.cuts.at(-1))];
    // A single threshold is that of a mask, which is black and white whatever its two values.
    const soft = method.cuts.length === 1 ? [grey(0), grey(1)] : [low, ...method.cuts].map((cut) => grey((cut - low) / (high - low)));
    paint(picture("prediction", low < 0 || high > 1 ? `Prediction, scores from ${written(low)} to ${written(high)}` : "Prediction", predicted), levels, soft);
  }
  if (classes) {
    paintLabels(picture("prediction", "Prediction", predicted), classes, open.shades);
    const both = new Set([...truth.levels, ...classes.levels]);
    find("#classes").replaceChildren(...open.classes.names.map((words, place) => {
      const entry = document.createElement("span");
      entry.appendChild(document.createElement("i")).style.background = open.classes.colours[place];
      entry.append(words);
      entry.hidden = !both.has(place);
      return entry;
    }));
  }
  if (method.soft) picture("prediction", "Prediction", predicted, `data:image/webp;base64,${method.soft}`);
  if (method.outlines) picture("prediction", "Predicted regions", `Outlines of the regions that ${name} predicts for ${panel.name}`);
  const slices = find("#slice");
  slices.max = (method.slices?.length ?? 1) - 1;
  slices.value = method.slice_shown ?? 0;
  find("#slice-at").textContent = method.slice ?? "";
  slider.max = method.cuts.length - 1;
  slider.value = threshold === null ? method.start : nearestCut(method, threshold);
  explain(method);
  if (panel.noPhoto) find("#caption").append(` No photograph: ${panel.noPhoto}`);
  await slide();
}

const bytes = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).concat(255);

function openPanel(section, image, place, threshold = null) {
  const protocol = section.dataset.protocol;
  const { names, images, states, classes, alphas, css } = sectionData(protocol);
  const at = images.indexOf(image);
  if (at < 0 || !names[place] || document.readyState === "loading") return;
  const panel = panelData(protocol, at);
  const leftOut = [rgba("--ignored"), rgba("--between")];
  const shades = [...classes.colours.map(bytes), grey(1), ...leftOut];
  const thin = Boolean(find(".gallery.thin", section));
  open = { section, panel, protocol, images, at, words: states, classes, shades, leftOut, place, alphas, css, thin };
  find("#panel-name").textContent = panel.name;
  find("#panel-method").replaceChildren(...names.map((name, method) => new Option(name, method)));
  find("#panel-method").value = place;
  const others = names.map((name, method) => new Option(name, method)).filter((_, method) => method !== place && !panel.methods[method].problem);
  const kept = find("#other").value;
  find("#other").replaceChildren(...others);
  if (others.some((option) => option.value === kept)) find("#other").value = kept;
  for (const view of ["difference", "divider"]) find(`.view-${view}`).hidden = !others.length;
  find(".view-photograph").hidden = !panel.photo;
  if (find("input[name=view]:checked").parentElement.hidden) find("input[name=view]").checked = true;
  if (!dialog.open) dialog.showModal();
  return show(threshold);
}

// A link names an image and a method, and perhaps a protocol and a threshold.
function follow(hash = location.hash) {
  const fields = new URLSearchParams(hash.slice(1));
  const section = document.getElementById(fields.get("in")) ?? find("main > section");
  const image = fields.get("image");
  if (image === null) return dialog.open && dialog.close();
  const { names } = sectionData(section.dataset.protocol);
  const threshold = fields.has("t") && Number.isFinite(Number(fields.get("t"))) ? Number(fields.get("t")) : null;
  openPanel(section, image, Math.max(0, names.indexOf(fields.get("method"))), threshold);
}

function step(images, methods = 0) {
  const image = open.images[open.at + images];
  const place = (open.place + methods + open.panel.methods.length) % open.panel.methods.length;
  if (image !== undefined) openPanel(open.section, image, place);
}

addEventListener("hashchange", ({ newURL }) => follow(new URL(newURL).hash)); // a panel that closes clears the address
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.thumb, a.open");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  follow(link.hash);
});
slider.addEventListener("input", slide);
find("#slice").addEventListener("input", ({ target }) => {
  const threshold = open.method.cuts[slider.value];
  chooseSlice(open.panel, Number(target.value));
  show(threshold);
});
opacity.addEventListener("input", stage);
for (const input of [find("#other"), find("#divider")]) input.addEventListener("input", stage);
for (const choice of all("input[name=view]")) choice.addEventListener("change", stage);
find("#panel-method").addEventListener("change", (event) => openPanel(open.section, open.panel.name, Number(event.target.value)));
find("#pool-best").addEventListener("click", () => { slider.value = open.method.start; slide(); });
find("#image-best").addEventListener("click", () => { slider.value = bestOfImage(open.method); slide(); });
find("#previous").addEventListener("click", () => step(-1));
find("#next").addEventListener("click", () => step(1));
find("#close").addEventListener("click", () => dialog.close());
find("#zoom").addEventListener("click", ({ currentTarget }) => {
  const zoomed = find("#pictures").classList.toggle("zoomed");
  currentTarget.setAttribute("aria-pressed", zoomed);
  const main = find("#pictures .main");
  if (zoomed && main) main.scrollTo(main.scrollWidth / 3, main.scrollHeight / 3);
});
dialog.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: [-1], ArrowRight: [1], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!by || event.target.matches("input, select") || event.target.closest(".zoomed .main")) return;
  event.preventDefault();
  step(...by);
});
let touched = null;
dialog.addEventListener("touchstart", (event) => { touched = event.target.matches("input, select") || event.target.closest(".zoomed .main") ? null : event.touches[0]; }, { passive: true });
dialog.addEventListener("touchend", (event) => {
  const { clientX, clientY } = event.changedTouches[0];
  if (!touched || Math.abs(clientX - touched.clientX) < 60 || Math.abs(clientY - touched.clientY) > 40) return;
  step(clientX < touched.clientX ? 1 : -1);
});
dialog.addEventListener("close", () => {
  if (dialog.open) return; // opened again before the event came
  open = null;
  if (location.hash.includes("image=")) history.replaceState(null, "", location.pathname + location.search);
});
themed.push(() => { if (open?.states) stage(); });
rethemed();
addEventListener("DOMContentLoaded", () => follow());
