"use strict";
// Names may hold what plotly takes for tags.
const literal = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const nameOf = (method) => literal(short(method.name, 44));
const skip = { hoverinfo: "skip", showlegend: false };
const digits = ":.4f";
const cut = (threshold) => (threshold === null ? "not known" : String(Number(threshold.toPrecision(5))));

function frame(x, y, more = {}) {
  const axis = { gridcolor: colour("--grid"), linecolor: colour("--rule"), zeroline: false, color: colour("--quiet"), tickfont: { size: 11 } };
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: colour("--ink") },
    margin: { l: 46, r: 34, t: 30, b: 42 },
    showlegend: false,
    hovermode: "closest",
    hoverdistance: 30,
    hoverlabel: { bgcolor: colour("--raised"), bordercolor: colour("--quiet"), font: { color: colour("--ink"), size: 12 }, align: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--quiet"), activecolor: colour("--accent") },
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    uirevision: "kept",
    ...more,
    xaxis: { ...axis, title: { text: x, standoff: 8 }, ...more.xaxis },
    yaxis: { ...axis, title: { text: y, standoff: 8 }, ...more.yaxis },
  };
}
const unit = { range: [0, 1], dtick: 0.2, constrain: "domain" };

function equalF() {
  const x = [], y = [], annotations = [];
  for (let f = 0.1; f < 0.95; f += 0.1) {
    for (let step = 0; step <= 60; step++) {
      const recall = f / (2 - f) + (step / 60) * (1 - f / (2 - f));
      x.push(recall);
      y.push((f * recall) / (2 * recall - f));
    }
    x.push(null);
    y.push(null);
    annotations.push({ x: 1, y: f / (2 - f), text: `F .${Math.round(10 * f)}`, showarrow: false, xanchor: "left", xshift: 3, font: { size: 10, color: colour("--iso-text") } });
  }
  return { trace: { x, y, mode: "lines", line: { color: colour("--iso"), width: 1 }, ...skip }, annotations };
}

// Areas of more methods than this hide each other, and the curves.
const MOST_SHADED = 6;

function curveTraces(method, space, hover, shaded) {
  const curve = method[space];
  const line = { color: colour(`--c${method.colour}`), dash: method.dash, width: 2 };
  const named = { name: nameOf(method), showlegend: false, hovertemplate: hover };
  const f = ([x, y]) => (x + y ? (2 * x * y) / (x + y) : 0);
  const traces = (shaded ? curve.areas : []).map(([x, y]) => ({ x, y, fill: "toself", fillcolor: line.color, opacity: 0.1, mode: "none", ...skip }));
  traces.push({ x: curve.x, y: curve.y, mode: "lines", line, ...skip });
  traces.push({
    x: curve.points.map((point) => point[0]),
    y: curve.points.map((point) => point[1]),
    customdata: curve.points.map((point) => [cut(point[2]), f(point)]),
    mode: "markers",
    marker: { color: line.color, size: 7, opacity: curve.points.length < 3 ? 1 : 0 },
    ...named,
  });
  if (curve.best && curve.best[0] !== null) {
    const [x, y, threshold, best] = curve.best;
    traces.push({ x: [x], y: [y], customdata: [[cut(threshold), best]], mode: "markers", marker: { color: line.color, size: 9, line: { color: colour("--raised"), width: 1.5 } }, ...named, hovertemplate: `<b>ODS</b> ${curve.open ? hover.replace("<extra>", `<br>${curve.open}<extra>`) : hover}` });
  }
  return traces;
}

function prChart(methods) {
  const iso = equalF();
  const hover = `%{fullData.name}<br>threshold %{customdata[0]}<br>precision %{y${digits}}<br>recall %{x${digits}}<br>F %{customdata[1]${digits}}<extra></extra>`;
  const drawn = methods.filter((method) => method.pr);
  const rates = [...new Set(drawn.map((method) => method.pr.prevalence).filter(Boolean))];
  const base = rates.map((rate) => ({ x: [0, 1], y: [rate, rate], mode: "lines", line: { color: colour("--quiet"), width: 1, dash: "dot" }, ...skip }));
  const layout = frame("Recall", "Precision", { xaxis: unit, yaxis: unit, annotations: iso.annotations });
  return [[iso.trace, ...base, ...drawn.flatMap((method) => curveTraces(method, "pr", hover, drawn.length <= MOST_SHADED))], layout];
}

function rocChart(methods) {
  const hover = `%{fullData.name}<br>threshold %{customdata[0]}<br>true positive rate %{y${digits}}<br>false positive rate %{x${digits}}<extra></extra>`;
  const diagonal = { x: [0, 1], y: [0, 1], mode: "lines", line: { color: colour("--quiet"), width: 1, dash: "dot" }, ...skip };
  const drawn = methods.filter((method) => method.roc);
  return [[diagonal, ...drawn.flatMap((method) => curveTraces(method, "roc", hover, drawn.length <= MOST_SHADED))], frame("False positive rate", "True positive rate", { xaxis: unit, yaxis: unit })];
}

const levelChart = (metric) => (methods) => {
  const drawn = methods.filter((method) => method.levels?.[metric]?.some((value) => value !== null));
  const traces = drawn.map((method) => ({
    x: method.levels.thresholds,
    y: method.levels[metric],
    name: nameOf(method),
    mode: method.levels.thresholds.length > 1 ? "lines" : "markers",
    line: { color: colour(`--c${method.colour}`), dash: method.dash, width: 2 },
    marker: { color: colour(`--c${method.colour}`), size: 9 },
    hovertemplate: `%{fullData.name}<br>threshold %{x}<br>${metric} %{y${digits}}<extra></extra>`,
  }));
  return [traces, frame("Threshold", metric, { yaxis: { rangemode: "tozero" } })];
};

function imageChart(methods, places, headline, width) {
  const traces = methods.map((method, row) => {
    const look = { orientation: "h", name: nameOf(method), line: { color: colour(`--c${method.colour}`), width: 1.5 }, marker: { color: colour(`--c${method.colour}`), size: 5, opacity: 0.55 }, fillcolor: "rgba(128,128,128,.10)", width: 0.62 };
    const { box, values, names } = method.images;
    if (box) return { type: "box", y: [row], lowerfence: [box[0]], q1: [box[1]], median: [box[2]], q3: [box[3]], upperfence: [box[4]], ...look };
    return { type: "box", x: values, y: values.map(() => row), text: names.map(literal), customdata: names.map((name) => [name, places[row]]), boxpoints: "all", jitter: 0.5, pointpos: 0, hoveron: "points", hovertemplate: `%{text}<br>${headline} %{x${digits}}<extra>%{fullData.name}</extra>`, ...look };
  });
  const most = width < 600 ? 14 : 34;
  const longest = Math.max(0, ...methods.map((method) => Math.min(most, method.name.length)));
  const ticks = { tickvals: methods.map((_, row) => row), ticktext: methods.map((method) => literal(short(method.name, most))), range: [methods.length - 0.5, -0.5], showgrid: false, fixedrange: true };
  return [traces, frame(headline === "f" ? "F of each image" : `${headline} of each image`, "", { margin: { l: 20 + 7 * longest, r: 16, t: 30, b: 42 }, yaxis: ticks, xaxis: { range: [-0.02, 1.02] } })];
}

function classChart(names) {
  return (methods) => {
    const drawn = methods.filter((method) => method.by_class);
    const traces = drawn.map((method) => ({
      type: "bar",
      orientation: "h",
      x: method.by_class,
      y: names.map((_, row) => row),
      text: names.map(literal),
      textposition: "none",
      name: nameOf(method),
      marker: { color: colour(`--c${method.colour}`) },
      hovertemplate: `%{fullData.name}<br>%{text}<br>IoU %{x${digits}}<extra></extra>`,
    }));
    return [traces, frame("IoU", "", { barmode: "group", margin: { l: 120, r: 16, t: 30, b: 42 }, xaxis: { range: [0, 1] }, yaxis: classTicks(names) })];
  };
}

const classTicks = (names) => ({ tickvals: names.map((_, row) => row), ticktext: names.map((name) => literal(short(name, 16))), range: [names.length - 0.5, -0.5], showgrid: false });

function confusionChart(names) {
  return (methods) => {
    const method = methods.find((one) => one.confusion);
    if (!method) return [[], frame("Predicted", "Ground truth")];
    const columns = [...names, "outside"].slice(0, method.confusion[0].length);
    const trace = {
      type: "heatmap",
      z: method.confusion,
      x: columns.map((_, column) => column),
      y: names.map((_, row) => row),
      customdata: names.map((name) => columns.map((column) => [literal(name), literal(column)])),
      name: nameOf(method),
      zmin: 0,
      zmax: 1,
      showscale: false,
      colorscale: [[0, colour("--raised")], [1, colour(`--c${method.colour}`)]],
      texttemplate: names.length <= 12 ? "%{z:.0%}" : "",
      hovertemplate: `${nameOf(method)}<br>%{customdata[0]}, predicted as %{customdata[1]}<br>%{z:.2%}<extra></extra>`,
    };
    const across = { ...classTicks(columns), range: [-0.5, columns.length - 0.5], tickangle: 90 };
    return [[trace], frame(`Predicted by ${nameOf(method)}`, "", { margin: { l: 120, r: 16, t: 30, b: 120 }, xaxis: across, yaxis: classTicks(names) })];
  };
}

const CAPTIONS = { PRI: "Probabilistic Rand index", VOI: "Variation of information, in bits" };

// The charts that the curves of some methods fill: in a space, or against the threshold.
function kinds(methods, classes) {
  const spaces = [["pr", "Precision and recall, with lines of equal F", prChart], ["roc", "ROC", rocChart]];
  const names = new Set(methods.flatMap((method) => Object.keys(method.levels ?? {}).filter((name) => name !== "thresholds")));
  const levels = [...names].map((name) => [CAPTIONS[name] ?? name[0].toUpperCase() + name.slice(1), levelChart(name)]);
  const several = methods.filter((method) => method.confusion).length > 1;
  const byClass = classes.length ? [["IoU of each class", classChart(classes)], [`Confusion matrix${several ? " of the first method drawn" : ""}: shares of the pixels of the true class`, confusionChart(classes)]] : [];
  return [...spaces.filter(([space]) => methods.some((method) => method[space])).map(([, ...kind]) => kind), ...levels, ...byClass];
}
// Named one by one: among those that plotly has by itself is one that sends the chart away.
const modeBarButtons = [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]];
const options = { displaylogo: false, responsive: true, modeBarButtons, plotlyServerURL: "", topojsonURL: "" };

for (const section of all("main > section")) {
  const { headline, methods, classes } = data(`charts-${section.dataset.protocol}`);
  const boxes = all(".methods input", section);
  const charts = [];
  for (const [caption, build] of kinds(methods, classes.names)) {
    if (!build(methods)[0].some((trace) => trace.name)) continue;
    const figure = find(".charts", section).appendChild(document.createElement("figure"));
    figure.appendChild(document.createElement("figcaption")).textContent = caption;
    const node = figure.appendChild(document.createElement("div"));
    node.className = "chart";
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", `${caption}: ${methods.map((method) => method.name).join(", ")}; the values are in the table of methods`);
    charts.push([node, (chosen) => build(chosen)]);
  }
  if (!charts.length) {
    find(".charts", section).textContent = "No curve is known.";
    find(".methods", section).hidden = true;
  }
  const known = methods.some((method) => method.images.box || method.images.values.length);
  const strip = find(".strip", section);
  if (strip) strip.hidden = !known;
  if (strip && known) {
    strip.setAttribute("role", "img");
    strip.setAttribute("aria-label", "Distribution of the metric over images, one row per method; the values are in the table below");
    charts.push([strip, (chosen, places) => {
      strip.style.height = `${112 + 44 * Math.max(1, chosen.length)}px`;
      const kept = chosen.map((method, row) => [method, places[row]]).filter(([method]) => method.images.box || method.images.values.length);
      return imageChart(kept.map(([method]) => method), kept.map(([, place]) => place), headline, strip.clientWidth);
    }]);
  }
  const redraw = () => {
    const places = boxes.filter((box) => box.checked).map((box) => Number(box.dataset.method));
    const chosen = places.map((place) => methods[place]);
    for (const [node, build] of charts) Plotly.react(node, ...build(chosen, places), options);
  };
  redraw();
  themed.push(redraw);
  for (const box of boxes) box.addEventListener("change", redraw);
  for (const button of all("[data-all]", section)) {
    button.addEventListener("click", () => {
      for (const box of boxes) box.checked = Boolean(button.dataset.all);
      redraw();
    });
  }
  if (known) strip?.on("plotly_click", ({ points: [point] }) => {
    const opener = all(".open", section).find((button) => button.textContent === point.customdata?.[0] && Number(button.dataset.method) === point.customdata[1]);
    opener?.click();
  });
}
