"use strict";
// Files made here, and texts for the clipboard.
function save(name, kind, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const fileName = (button, kind, end) => `${button.closest("main > section").dataset.protocol}-${kind}.${end}`;

// A chart by itself has no style sheet: its strokes and colours go into its elements.
const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-size", "font-weight"];
function styled(element, original) {
  const look = getComputedStyle(original);
  for (const name of LOOKS) element.setAttribute(name, look.getPropertyValue(name));
  for (const name of ["class", "data-method", "data-image"]) element.removeAttribute(name);
  return element;
}

// Curves have their legend beside them on the page; a chart by itself has it below.
function addLegend(copy, svg, section) {
  const methods = [...new Set(all(".method[data-method]", svg).map((part) => Number(part.dataset.method)))].sort((one, other) => one - other);
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const sample = find("text", svg);
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = "12px sans-serif";
  const between = 18;
  let [left, top] = [0, height + between];
  for (const method of methods) {
    const pick = find(`.pick[data-method="${method}"]`, section);
    const words = find(".name", pick).textContent;
    const wide = 48 + ruler.measureText(words).width;
    if (left && left + wide > width) [left, top] = [0, top + between];
    const line = find("line", pick);
    const stroke = copy.appendChild(styled(line.cloneNode(), line));
    stroke.setAttribute("transform", `translate(${left} ${top - 8})`);
    const text = copy.appendChild(styled(document.createElementNS(SVG, "text"), sample));
    for (const [name, value] of Object.entries({ x: left + 32, y: top })) text.setAttribute(name, value);
    text.textContent = words;
    left += wide;
  }
  copy.setAttribute("viewBox", `0 0 ${width} ${top + 8}`);
}

function selfContained(svg) {
  const section = svg.closest("section");
  const copy = svg.cloneNode(true);
  const originals = all("*", svg);
  // What is highlighted on the page is not a part of the chart.
  const on = all(".on", svg);
  const lit = section.classList.contains("lit");
  section.classList.remove("lit");
  for (const element of on) element.classList.remove("on");
  all("*", copy).forEach((element, at) => (originals[at].matches(".ring") ? element.remove() : styled(element, originals[at])));
  if (svg.matches(".readable")) addLegend(copy, svg, section);
  section.classList.toggle("lit", lit);
  for (const element of on) element.classList.add("on");
  for (const { name } of [...copy.attributes]) if (name !== "viewBox") copy.removeAttribute(name);
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("font-family", "sans-serif");
  copy.setAttribute("font-size", 12);
  return new XMLSerializer().serializeToString(copy);
}

const cell = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
const csv = (rows) => rows.map((row) => row.map((value) => cell(String(value ?? ""))).join(",")).join("\n").concat("\n");

function tableRows(table) {
  const heads = all("thead tr:last-child th button", table).map((button) => button.title || button.textContent);
  return [heads, ...[...table.tBodies[0].rows].map((row) => [...row.cells].map((one) => one.dataset.v))];
}

function chartRows(section) {
  const { readings, names } = sectionData(section.dataset.protocol);
  const columns = [...new Set(readings.flatMap((columns) => Object.keys(columns ?? {})))];
  const rows = readings.flatMap((known, method) => (known ? known.threshold.map((_, at) => [names[method], ...columns.map((name) => known[name]?.[at])]) : []));
  return [["method", ...columns], ...rows];
}

for (const tools of all("span.tools, .copy")) tools.hidden = false;
for (const button of all(".save-svg")) {
  button.addEventListener("click", () => {
    const figure = button.closest("figure");
    const theme = root.dataset.theme;
    root.dataset.theme = "light"; // paper is white
    save(fileName(button, figure.dataset.kind, "svg"), "image/svg+xml", selfContained(find("svg", figure)));
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
  });
}
for (const button of all(".save-csv")) {
  button.addEventListener("click", () => save(fileName(button, "curves", "csv"), "text/csv", csv(chartRows(button.closest("section")))));
}
for (const button of all(".save-table")) {
  button.addEventListener("click", () => {
    const heading = button.closest("h3");
    const table = find(`[aria-labelledby="${heading.id}"] table`, heading.closest("section"));
    save(fileName(button, heading.id.split("-").at(-1), "csv"), "text/csv", csv(tableRows(table)));
  });
}
for (const button of all(".copy")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.nextElementSibling.textContent);
    button.textContent = "Copied";
  });
}
