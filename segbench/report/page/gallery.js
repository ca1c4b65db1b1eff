"use strict";
// Thumbnails follow a threshold: chosen on a curve, or with the slider above a column.
function following(section) {
  const { images, alphas } = sectionData(section.dataset.protocol);
  const table = find(".gallery", section);
  const panels = new Map();
  const panelOf = (name) => {
    if (!panels.has(name)) panels.set(name, panelData(section.dataset.protocol, images.indexOf(name)));
    return panels.get(name);
  };
  const wanted = new Map();
  const shownAt = new Map();

  async function paintThumb(thumb, threshold) {
    const panel = panelOf(thumb.dataset.image);
    const method = panel.methods[thumb.dataset.method];
    const at = threshold === null ? method.start : nearestCut(method, threshold);
    shownAt.set(thumb, threshold);
    if (method.slice) find(".slice", thumb).textContent = method.slice;
    wanted.set(thumb, at);
    const states = await statesAt(panel, method, at);
    if (wanted.get(thumb) !== at) return;
    const canvas = find("canvas", thumb) ?? find(".frame", thumb).appendChild(document.createElement("canvas"));
    paint(canvas, hatched(states), tints(alphas, table.classList.contains("thin") || !find(".photo", thumb)));
    thumb.classList.add("followed");
    const [name, values] = ranking(method);
    if (name) find("small:not(.slice)", thumb).textContent = `${name} ${written(values[at])}`;
  }

  // While the gallery is out of sight, a strip at the bottom shows its pictures of the method chosen.
  const strip = section.appendChild(document.createElement("div"));
  strip.className = "strip";
  strip.hidden = true;
  let inSight = false;
  new IntersectionObserver(([entry]) => { inSight = entry.isIntersecting; if (inSight) strip.hidden = true; }, { threshold: 0.3 }).observe(table);
  const thumbsOf = (method, within) => all(`.thumb[data-method="${method}"]`, within);
  function show(method, threshold) {
    const sources = thumbsOf(method, table);
    if (!inSight && strip.dataset.method !== String(method)) {
      strip.dataset.method = method;
      strip.replaceChildren(...sources.map((thumb) => {
        const copy = thumb.cloneNode(true);
        find("canvas", copy)?.remove();
        return copy;
      }));
    }
    strip.hidden = inSight || !sources.length;
    for (const thumb of [...sources, ...(strip.hidden ? [] : thumbsOf(method, strip))]) paintThumb(thumb, threshold);
  }
  const sliders = new Map();
  section.addEventListener("threshold", ({ detail: { method, threshold } }) => {
    show(method, threshold);
    sliders.get(method)?.(threshold);
  });
  for (const kind of ["pointerup", "focusout"]) section.addEventListener(kind, () => { strip.hidden = true; });

  for (const row of all("tbody tr", table)) {
    const thumbs = all(".thumb", row);
    const panel = thumbs.length ? panelOf(thumbs[0].dataset.image) : null;
    const sliced = panel?.methods.find((method) => method.slices?.length > 1);
    if (!sliced) continue;
    const slider = Object.assign(find("th", row).appendChild(document.createElement("input")), { type: "range", className: "tools", min: 0, max: sliced.slices.length - 1, value: sliced.slice_shown });
    slider.setAttribute("aria-label", `Slice of ${panel.name}`);
    slider.addEventListener("input", () => {
      chooseSlice(panel, Number(slider.value));
      const photo = find(".photo", row);
      if (photo && panel.photo) find(photo.getAttribute("href")).setAttribute("href", `data:image/webp;base64,${panel.photo}`);
      for (const thumb of thumbs) paintThumb(thumb, shownAt.get(thumb) ?? null);
    });
  }

  for (const head of all("thead th[data-method]", table)) {
    const place = Number(head.dataset.method);
    const method = panelOf(thumbsOf(place, table)[0].dataset.image).methods[place];
    if (method.cuts.length < 2) continue;
    const slider = Object.assign(head.appendChild(document.createElement("input")), { type: "range", className: "tools", min: 0, max: method.cuts.length - 1 });
    const set = (threshold) => {
      slider.value = nearestCut(method, threshold);
      slider.title = `threshold ${writtenCut(method.cuts[slider.value])}`;
      slider.setAttribute("aria-valuetext", slider.title);
    };
    slider.setAttribute("aria-label", `Threshold of ${find(".name", head).textContent}`);
    set(method.cuts[method.start]);
    sliders.set(place, set);
    slider.addEventListener("input", () => {
      section.dispatchEvent(new CustomEvent("threshold", { detail: { method: place, threshold: method.cuts[slider.value] } }));
    });
  }
}
// Panels come last in the page, so that it is ready before they are read.
addEventListener("DOMContentLoaded", () => {
  for (const section of all("main > section")) if (find(".gallery", section)) following(section);
});
