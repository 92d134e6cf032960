// Draws the report's charts from the specifications and rows that the server sends.
import { element } from "./ask.js";

const ERRORS = 1; // of Vega's levels: it also warns of a layer without rows, which is no mistake
let config = {};
let loading = null; // Vega, once something is to be drawn

export function setConfig(found) { config = found; }

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
  const panels = Math.max(1, new Set(chart.rows.map((row) => row[chart.facet])).size);
  const columns = Math.max(1, Math.min(panels, Math.floor(width / 300)));
  return { ...spec, columns, spec: { ...spec.spec, width: Math.max(90, Math.floor(width / columns) - 82), height: 200 } };
}

// The charts of one part of the page.
export class Board {
  constructor(box) {
    this.box = box;
    this.figures = new Map(); // id -> what is on screen
    this.queue = Promise.resolve();
    this.drawn = 0;
    this.pending = 0; // drawings under way, also those that a window of another size asks for
    let timer = 0;
    addEventListener("resize", () => {
      clearTimeout(timer);
      timer = setTimeout(() => { for (const figure of this.figures.values()) if (Math.abs(figure.plot.clientWidth - (figure.width || 0)) > 4) this.later(figure); }, 150);
    });
  }

  show(charts) {
    for (const node of [...this.box.children]) if (node.tagName !== "FIGURE") node.remove();
    for (const [id, figure] of this.figures) if (!charts.some((chart) => chart.id === id)) this.remove(id, figure);
    for (const chart of charts) {
      let figure = this.figures.get(chart.id);
      if (!figure) { figure = this.make(chart); this.figures.set(chart.id, figure); }
      this.box.append(figure.root);
      figure.chart = chart;
      figure.title.textContent = chart.title;
      const [, begin, rest] = /^(.*?[.:!?])(\s.*)?$/s.exec(chart.reading) || [null, chart.reading, ""];
      figure.reading.replaceChildren(...(rest && rest.length > 60 ? [element("details", {}, element("summary", {}, begin), rest)] : [chart.reading]));
      figure.legend.innerHTML = chart.legend; // made by the report, which escapes what it shows
      figure.plot.setAttribute("aria-label", chart.alt);
      figure.select.hidden = chart.variants.length < 2;
      figure.select.replaceChildren(...chart.variants.map((variant, place) => element("option", { value: String(place), ...(place === figure.variant ? { selected: "" } : {}) }, variant.label)));
      this.later(figure);
    }
    return this.queue.then(() => { this.drawn += 1; this.box.dataset.drawn = String(this.drawn); });
  }

  forget(words) {
    for (const [id, figure] of this.figures) this.remove(id, figure);
    this.box.replaceChildren(element("p", { class: "waiting" }, words));
  }

  remove(id, figure) {
    figure.made?.finalize();
    figure.root.remove();
    figure.chart = null;
    this.figures.delete(id);
  }

  make(chart) {
    const select = element("select", { "aria-label": "Figure of " + chart.title });
    const figure = { variant: 0, select, title: element("h3"), reading: element("div", { class: "reading" }), legend: element("div", { class: "legend" }), plot: element("div", { class: "plot", role: "img" }) };
    select.addEventListener("change", () => { figure.variant = Number(select.value); this.later(figure); });
    figure.root = element("figure", { "data-chart": chart.id }, element("figcaption", {}, element("div", {}, figure.title, figure.reading), select), figure.legend, figure.plot);
    return figure;
  }

  later(figure) {
    this.box.dataset.pending = String((this.pending += 1));
    this.queue = this.queue.then(() => this.draw(figure)).catch((error) => { figure.plot.textContent = "This chart cannot be drawn: " + error.message; console.error(error); })
      .then(() => { this.box.dataset.pending = String((this.pending -= 1)); return new Promise((next) => setTimeout(next)); });
  }

  async draw(figure) {
    const { chart, plot } = figure;
    await loadVega();
    const width = Math.floor(plot.clientWidth);
    if (!chart || width < 40 || figure.chart !== chart) return;
    const variant = chart.variants[figure.variant] || chart.variants[0];
    const spec = { ...sized(chart, variant.spec, width), data: { values: chart.rows }, padding: 2 };
    const holder = document.createElement("div");
    const made = await window.vegaEmbed(holder, spec, { renderer: "svg", actions: false, config, tooltip: { theme: "custom" }, mode: "vega-lite", logLevel: ERRORS });
    if (figure.chart !== chart) { made.finalize(); return; } // something newer has come
    plot.replaceChildren(holder);
    for (const svg of plot.querySelectorAll("svg")) { svg.setAttribute("aria-hidden", "true"); svg.removeAttribute("tabindex"); }
    figure.made?.finalize();
    figure.made = made;
    figure.width = width;
  }
}
