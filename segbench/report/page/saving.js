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
function selfContained(svg) {
  const copy = svg.cloneNode(true);
  const originals = all("*", svg);
  all("*", copy).forEach((element, at) => {
    const look = getComputedStyle(originals[at]);
    for (const name of LOOKS) element.setAttribute(name, look.getPropertyValue(name));
    for (const name of ["class", "data-method", "data-image"]) element.removeAttribute(name);
  });
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
