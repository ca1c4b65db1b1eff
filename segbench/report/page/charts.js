"use strict";
const WORDS = { precision: "precision", recall: "recall", fpr: "false positive rate", tpr: "true positive rate", f: "F", threshold: "threshold" };
const REACH = 34;
const plain = (value) => (value === null ? "not known" : String(Number(value.toPrecision(5))));
const SVG = "http://www.w3.org/2000/svg";

// Brings out a method wherever it is shown: while pointed at, or kept by a click.
function lighting(section) {
  const kept = new Set();
  const marked = all(".method[data-method], .pick", section);
  let passing = null;
  const show = () => {
    const lit = passing === null ? kept : new Set([...kept, passing]);
    section.classList.toggle("lit", lit.size > 0);
    for (const element of marked) element.classList.toggle("on", lit.has(Number(element.dataset.method)));
    for (const button of all(".pick", section)) button.setAttribute("aria-pressed", kept.has(Number(button.dataset.method)));
  };
  return {
    kept,
    pass(method) { if (passing !== method) { passing = method; show(); } },
    keep(method) { if (!kept.delete(method)) kept.add(method); show(); },
  };
}

function axis(text) {
  const [column, low, high, start, end] = text.split(" ");
  return { column, at: (value) => Number(start) + ((value - low) / (high - low)) * (end - start) };
}

// The points of a chart that can be read off, by method, in the units of its drawing.
function readable(svg, readings) {
  const [x, y] = [axis(svg.dataset.x), axis(svg.dataset.y)];
  const places = readings.map((columns) => {
    if (!columns?.[x.column] || !columns[y.column]) return [];
    return columns[x.column].map((value, at) => [x.at(value), y.at(columns[y.column][at]), at]).filter(([left, top]) => Number.isFinite(left + top));
  });
  return { x, y, places };
}

function reader(figure, section, readings, names, light) {
  const svg = find("svg.readable", figure);
  const { places } = readable(svg, readings);
  const told = find(".drawing", figure).appendChild(document.createElement("div"));
  told.className = "told";
  told.setAttribute("aria-live", "polite");
  told.hidden = true;
  const ring = svg.appendChild(document.createElementNS(SVG, "circle"));
  ring.setAttribute("r", 6);
  ring.setAttribute("class", "ring");
  let at = null;

  function tell(method, nth) {
    at = { method, nth };
    const [left, top, reading] = places[method][nth];
    const columns = readings[method];
    const lines = Object.keys(columns).filter((name) => name === "threshold" || svg.dataset.x.startsWith(`${name} `) || svg.dataset.y.startsWith(`${name} `) || (name === "f" && svg.dataset.x.startsWith("recall")));
    told.replaceChildren(names[method], ...lines.map((name) => {
      const line = document.createElement("span");
      const value = columns[name][reading];
      line.textContent = `${WORDS[name] ?? name} ${name === "threshold" ? plain(value) : written(value)}`;
      return line;
    }));
    told.hidden = false;
    const box = svg.viewBox.baseVal;
    told.style.left = `${(100 * left) / box.width}%`;
    told.style.top = `${(100 * top) / box.height}%`;
    told.classList.toggle("flipped", left > box.width / 2);
    mark(method, places[method][nth]);
    light.pass(method);
  }
  function mark(method, [left, top]) {
    ring.setAttribute("cx", left);
    ring.setAttribute("cy", top);
    ring.setAttribute("class", `ring on ${find(`.method[data-method="${method}"]`, svg).getAttribute("class")}`);
  }
  function silence() {
    at = null;
    told.hidden = true;
    ring.setAttribute("class", "ring");
    light.pass(null);
  }
  function nearest(event, methods, reach) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = [reach, null];
    for (const method of methods) {
      places[method].forEach(([left, top], nth) => {
        const far = Math.hypot(left - point.x, top - point.y);
        if (far < best[0]) best = [far, { method, nth }];
      });
    }
    return best[1];
  }
  const methods = places.map((_, method) => method).filter((method) => places[method].length);
  const seen = () => (light.kept.size ? methods.filter((method) => light.kept.has(method)) : methods);
  let dragged = null;
  const move = (event) => {
    const found = dragged === null ? nearest(event, seen(), REACH) : nearest(event, [dragged], Infinity);
    if (!found) return silence();
    tell(found.method, found.nth);
    if (dragged !== null) chosen();
  };
  const chosen = () => {
    const threshold = readings[at.method].threshold[places[at.method][at.nth][2]];
    if (threshold !== null) section.dispatchEvent(new CustomEvent("threshold", { detail: { method: at.method, threshold } }));
  };
  svg.addEventListener("pointermove", move);
  svg.addEventListener("pointerleave", () => { if (dragged === null) silence(); });
  svg.addEventListener("pointerdown", (event) => {
    const found = nearest(event, seen(), REACH);
    if (!found) return;
    dragged = found.method;
    svg.setPointerCapture(event.pointerId);
    move(event);
  });
  for (const kind of ["pointerup", "pointercancel"]) svg.addEventListener(kind, () => { dragged = null; });
  svg.addEventListener("blur", silence);
  section.addEventListener("threshold", ({ detail: { method, threshold } }) => {
    if (at || !places[method].length) return;
    const far = ([, , reading]) => Math.abs((readings[method].threshold[reading] ?? Infinity) - threshold);
    mark(method, places[method].reduce((best, place) => (far(place) < far(best) ? place : best)));
  });
  svg.addEventListener("keydown", (event) => {
    const [along, across] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if (!(along || across) || !methods.length) return;
    event.preventDefault();
    if (!at) return tell(methods[0], 0);
    const method = methods[(methods.indexOf(at.method) + across + methods.length) % methods.length];
    const rising = places[method][0][0] <= places[method].at(-1)[0] ? along : -along;
    tell(method, Math.min(Math.max(at.nth + rising, 0), places[method].length - 1));
    chosen();
  });
}

for (const section of all("main > section")) {
  const { readings, names } = sectionData(section.dataset.protocol);
  const light = lighting(section);
  for (const button of all(".pick", section)) {
    const method = Number(button.dataset.method);
    button.disabled = false;
    button.addEventListener("pointerenter", () => light.pass(method));
    button.addEventListener("pointerleave", () => light.pass(null));
    button.addEventListener("click", () => light.keep(method));
  }
  for (const svg of all("svg.readable", section)) reader(svg.closest("figure"), section, readings, names, light);
  for (const figure of all("figure.images", section)) pointing(figure, section);
}

// The same image lies in the line of every method: pointing at it marks it in all, and a click opens it.
function pointing(figure, section) {
  const { images_of_chart: names } = sectionData(section.dataset.protocol);
  const [low, high, start, end] = find("table", figure).dataset.axis.split(" ").map(Number);
  const value = (x) => low + ((x - start) / (end - start)) * (high - low);
  const lines = all("path.points", figure).map((path) => ({
    row: path.closest("tr"),
    drawing: path.ownerSVGElement,
    points: path.getAttribute("d").slice(1).split("M").map((point) => point.match(/-?[\d.]+/g).map(Number)),
    mark: path.ownerSVGElement.parentElement.appendChild(document.createElementNS(SVG, "circle")),
  }));
  for (const { mark } of lines) { mark.setAttribute("class", "mark"); mark.setAttribute("r", 4.5); mark.setAttribute("visibility", "hidden"); }
  const told = find("figcaption", figure).appendChild(document.createElement("output"));
  function nearest({ clientX, clientY, target }) {
    const line = lines.find(({ row }) => row.contains(target));
    if (!line) return null;
    const { left, top, width } = line.drawing.getBoundingClientRect();
    let best = [9, null];
    line.points.forEach(([x, y], at) => {
      const far = Math.hypot(left + (x / 1000) * width - clientX, top + y - clientY);
      if (far < best[0]) best = [far, at];
    });
    return best[1] === null ? null : { line, at: best[1] };
  }
  function bring(found) {
    for (const { points, mark } of lines) {
      const [x, y] = found ? points[found.at] : [-9, -9];
      mark.setAttribute("cx", `${x / 10}%`);
      mark.setAttribute("cy", y);
      mark.setAttribute("visibility", y < 0 ? "hidden" : "visible");
    }
    told.textContent = found ? ` ${names[found.at]}: ${Number(value(found.line.points[found.at][0]).toPrecision(3))}` : "";
  }
  figure.addEventListener("pointermove", (event) => bring(nearest(event)));
  figure.addEventListener("pointerleave", () => bring(null));
  figure.addEventListener("click", (event) => {
    const found = nearest(event);
    if (found) openPanel(section, names[found.at], Number(found.line.row.dataset.method));
  });
}
