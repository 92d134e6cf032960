// Draws the report's charts from the specifications and rows that the server sends.
import { byId, element } from "./ask.js";

let config = {};
const figures = new Map(); // id -> what is on screen
let queue = Promise.resolve();

export function setConfig(found) { config = found; }

let loading = null; // Vega, once something is to be drawn
function loadVega() {
  loading ??= new Promise((resolve, reject) => {
    const script = element("script", { src: "vega.js" });
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error("vega.js cannot be loaded")));
    document.head.append(script);
  });
  return loading;
}

function sized(chart, spec, width) {
  if (!chart.facet) return { ...spec, width, height: chart.height, autosize: { type: "fit", contains: "padding" } };
  return { ...spec, columns: 1, spec: { ...spec.spec, width: Math.max(90, width - 80), height: 200 } };
}

async function draw(figure) {
  const { chart, plot } = figure;
  await loadVega();
  const width = Math.floor(plot.clientWidth);
  if (width < 40 || figure.chart !== chart) return;
  const variant = chart.variants[figure.variant] || chart.variants[0];
  const spec = { ...sized(chart, variant.spec, width), data: { values: chart.rows }, padding: 2 };
  const holder = document.createElement("div");
  const made = await window.vegaEmbed(holder, spec, { renderer: "svg", actions: false, config, tooltip: { theme: "custom" }, mode: "vega-lite" });
  if (figure.chart !== chart) { made.finalize(); return; } // something newer has come
  plot.replaceChildren(holder);
  for (const svg of plot.querySelectorAll("svg")) { svg.setAttribute("aria-hidden", "true"); svg.removeAttribute("tabindex"); }
  if (figure.made) figure.made.finalize();
  figure.made = made;
  figure.width = width;
}

function makeFigure(chart) {
  const select = element("select", { "aria-label": "Figure of " + chart.title });
  const figure = { variant: 0, select, title: element("h3"), reading: element("p"), plot: element("div", { class: "plot", role: "img" }) };
  select.addEventListener("change", () => { figure.variant = Number(select.value); later(figure); });
  figure.root = element("figure", { id: "chart-" + chart.id }, element("figcaption", {}, element("div", {}, figure.title, figure.reading), select), figure.plot);
  return figure;
}

function later(figure) {
  queue = queue.then(() => draw(figure)).catch((error) => { figure.plot.textContent = "This chart cannot be drawn: " + error.message; console.error(error); })
    .then(() => new Promise((next) => setTimeout(next)));
  return queue;
}

export function showCharts(charts) {
  const box = byId("charts");
  for (const node of [...box.children]) if (!node.id.startsWith("chart-")) node.remove();
  for (const [id, figure] of figures) if (!charts.some((chart) => chart.id === id)) { figure.made?.finalize(); figure.root.remove(); figures.delete(id); }
  for (const chart of charts) {
    let figure = figures.get(chart.id);
    if (!figure) { figure = makeFigure(chart); figures.set(chart.id, figure); box.append(figure.root); }
    figure.chart = chart;
    figure.title.textContent = chart.title;
    figure.reading.textContent = chart.reading;
    figure.plot.setAttribute("aria-label", chart.alt);
    figure.select.hidden = chart.variants.length < 2;
    figure.select.replaceChildren(...chart.variants.map((variant, place) => element("option", { value: String(place), ...(place === figure.variant ? { selected: "" } : {}) }, variant.label)));
    later(figure);
  }
  return queue.then(() => { byId("along").dataset.drawn = String(Number(byId("along").dataset.drawn || 0) + 1); });
}

export function forgetCharts() {
  for (const figure of figures.values()) { figure.made?.finalize(); figure.root.remove(); }
  figures.clear();
  byId("charts").replaceChildren(element("p", { class: "waiting" }, "The curve follows the first answer…"));
}

let timer = 0;
addEventListener("resize", () => {
  clearTimeout(timer);
  timer = setTimeout(() => { for (const figure of figures.values()) if (Math.abs(figure.plot.clientWidth - (figure.width || 0)) > 4) later(figure); }, 150);
});
