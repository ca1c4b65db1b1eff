"use strict";
const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const data = (id) => JSON.parse(document.getElementById(id).textContent);
const shared = new Map();
function sectionData(protocol) {
  if (!shared.has(protocol)) shared.set(protocol, data(`data-${protocol}`));
  return shared.get(protocol);
}
const root = document.documentElement;

const written = (value) => (value === null ? "–" : value.toFixed(4).replace(/^(-?)0\./, "$1."));

// A threshold is rounded down: what reaches it reaches the printed one, too.
function writtenCut(cut) {
  const near = cut === null ? null : Number(cut.toFixed(4));
  return written(near > cut ? near - 1e-4 : near);
}

// A custom property may read light-dark(...): only an element that wears it knows the colour.
const probe = document.body.appendChild(document.createElement("i"));
probe.hidden = true;
function colour(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

const systemDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches);
const themed = [];
function rethemed() {
  find("#theme").textContent = isDark() ? "Light" : "Dark";
  find("#theme").setAttribute("aria-label", `Switch to the ${isDark() ? "light" : "dark"} theme`);
  for (const redraw of themed) redraw();
}
find("#theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  rethemed();
});
systemDark.addEventListener("change", rethemed);
for (const element of all("[hidden].filters, #theme")) element.hidden = false;

function sort(head) {
  const heads = [...head.parentElement.children];
  const column = heads.indexOf(head);
  const sorted = head.getAttribute("aria-sort");
  const direction = sorted ? (sorted === "ascending" ? "descending" : "ascending") : head.dataset.first;
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", direction);
  const body = head.closest("table").tBodies[0];
  const textual = body.rows[0]?.cells[column].matches("th, .text");
  const sign = direction === "ascending" ? 1 : -1;
  const compare = textual
    ? (a, b) => a.localeCompare(b, undefined, { numeric: true })
    : (a, b) => a - b;
  const keyed = [...body.rows].map((row) => [row.cells[column].dataset.v, row]);
  // What is undefined stays last, whichever way one sorts.
  keyed.sort(([a], [b]) => (a === "" || b === "" ? (a === "") - (b === "") : sign * compare(a, b)));
  body.append(...keyed.map(([, row]) => row));
}
for (const button of all(".sortable thead button")) {
  button.addEventListener("click", () => sort(button.closest("th")));
}

// Says below a table that is clipped that it can be scrolled, as long as there is more.
for (const box of all(".scroll")) {
  const cue = document.createElement("span");
  cue.className = "cue";
  cue.setAttribute("aria-hidden", "true");
  box.after(cue);
  const tell = () => {
    const across = box.scrollWidth - box.clientWidth - box.scrollLeft > 4;
    const down = box.scrollHeight - box.clientHeight - box.scrollTop > 4;
    cue.textContent = [across && "more columns: scroll →", down && "more rows: scroll ↓"].filter(Boolean).join(" · ");
    cue.hidden = !(across || down);
  };
  box.addEventListener("scroll", tell, { passive: true });
  const resized = new ResizeObserver(tell);
  for (const seen of [box, box.firstElementChild]) resized.observe(seen);
}

for (const filters of all(".filters")) {
  const section = filters.closest("section");
  const rows = [...find("table.images tbody", section).rows];
  const name = find(".by-name", filters);
  const method = find(".by-method", filters);
  const filter = () => {
    const wanted = name.value.toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !(row.cells[0].dataset.v.toLowerCase().includes(wanted) && (method.value || row.dataset.method) === row.dataset.method);
      shown += !row.hidden;
    }
    find(".shown", filters).textContent = `${shown} of ${rows.length} rows`;
  };
  name.addEventListener("input", filter);
  method.addEventListener("change", filter);
  filter();
}
