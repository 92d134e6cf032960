"use strict";
// Draws the charts of the report from the data in #report-data. Asks nothing of any network.
(() => {
  const report = JSON.parse(document.getElementById("report-data").textContent);
  const TABLE_ROWS_MAX = 500, GAP = 24, AXIS = 62, PANEL_MIN = 250;
  const hidden = new Map(); // "study/field" -> labels switched off
  const views = new Map(); // figure element -> what vega-embed gave for it

  // ---- data: columns to rows, each with the labels of its point

  const unpack = (column) => Array.isArray(column) ? column
    : column.codes.map((code) => code === null ? null : column.levels[code]);

  for (const study of report.studies) {
    study.labels = study.points.labels.map(unpack);
    study.point = study.points.number.map((_, p) => {
      const row = { x: study.points.x[p] };
      study.labels.forEach((labels, a) => { row["a" + a] = labels[p]; });
      for (const role of ["xl", "s", "f"]) row[role] = study.roles[role] === null ? "all" : row["a" + study.roles[role]];
      return row;
    });
    study.rows = {};
  }

  function rowsOf(study, dataset) {
    if (!study.rows[dataset]) {
      const columns = Object.entries(study.datasets[dataset]).map(([name, column]) => [name, unpack(column)]);
      const places = study.datasets[dataset].p;
      study.rows[dataset] = places.map((p, i) => {
        const row = { ...study.point[p] };
        for (const [name, values] of columns) if (name !== "p") row[name] = values[i];
        return row;
      });
    }
    return study.rows[dataset];
  }

  function selectedRows(study, chart) {
    return rowsOf(study, chart.dataset).filter((row) => chart.selected.every((a) => row["a" + a] === study.selection[a]))
      .sort((one, other) => (one.x ?? 0) - (other.x ?? 0));
  }

  const offOf = (index, chart) => hidden.get(index + "/" + chart.dataset + "/" + chart.legend)
    || (chart.legend === "s" && hidden.get(index + "/s")) || new Set();

  // ---- drawing

  function place(figure) {
    const index = Number(figure.dataset.study);
    const study = report.studies[index];
    return { index, study, chart: study.charts[Number(figure.dataset.chart)] };
  }

  function sized(spec, chart, rows, width) {
    const sizedSpec = { ...spec };
    if (!chart.facet) return { ...sizedSpec, width, height: chart.height, autosize: { type: "fit", contains: "padding" } };
    const panels = Math.max(1, new Set(rows.map((row) => row[chart.facet])).size);
    const most = Math.max(1, Math.min(panels, Math.floor((width - AXIS) / PANEL_MIN), 4));
    const columns = Math.ceil(panels / Math.ceil(panels / most)); // rows of about equal length
    const isFull = panels % columns === 0; // else Vega would draw axes for panels that are not there
    const axes = isFull ? AXIS : AXIS * columns;
    const cell = Math.max(90, Math.floor((width - axes - 16 - (columns - 1) * GAP) / columns));
    const height = columns === 1 ? chart.height : Math.min(chart.height, Math.max(190, Math.round(cell * 0.72)));
    const resolve = isFull ? {} : { resolve: { ...sizedSpec.resolve, axis: { x: "independent", y: "independent" } } };
    return { ...sizedSpec, ...resolve, columns, spacing: GAP, spec: { ...spec.spec, width: cell, height } };
  }

  function isWide(study, chart) {
    if (!chart.facet) return false;
    return new Set(rowsOf(study, chart.dataset).map((row) => row[chart.facet])).size > 1;
  }

  async function draw(figure) {
    const { index, study, chart } = place(figure);
    const plot = figure.querySelector(".plot");
    const drawn = selectedRows(study, chart);
    const off = offOf(index, chart);
    const rows = chart.legend ? drawn.filter((row) => !off.has(row[chart.legend])) : drawn;
    const width = Math.floor(plot.clientWidth);
    const turn = (figure.turn = (figure.turn || 0) + 1);
    figure.querySelector(".empty").hidden = rows.length > 0;
    plot.hidden = rows.length === 0;
    const held = chart.selected.map((a) => study.axes[a].title + " " + study.selection[a]);
    plot.setAttribute("aria-label", chart.alt + (held.length ? " Drawn for " + held.join(", ") + "." : ""));
    if (!rows.length || width < 40) return;
    const variant = chart.variants[Number(figure.dataset.variant || 0)];
    const spec = { ...sized(variant, chart, rows, width), data: { values: rows }, padding: 2 };
    const made = await vegaEmbed(document.createElement("div"), spec, {
      renderer: "svg", actions: false, config: report.config, tooltip: { theme: "custom" }, mode: "vega-lite",
    });
    if (turn !== figure.turn) { made.finalize(); return; } // something newer is being drawn
    const old = views.get(figure);
    plot.replaceChildren(made.view.container());
    plot.style.minHeight = "";
    for (const svg of plot.querySelectorAll("svg")) { svg.setAttribute("aria-hidden", "true"); svg.removeAttribute("tabindex"); }
    views.set(figure, made);
    if (old) old.finalize();
    figure.dataset.drawn = String(width);
  }

  const figures = [...document.querySelectorAll("figure[data-chart]")];
  let queue = Promise.resolve();
  function redraw(which) {
    for (const figure of which) {
      queue = queue.then(() => draw(figure)).catch((error) => {
        figure.querySelector(".plot").textContent = "This chart cannot be drawn: " + error.message;
        console.error(error);
      }).then(() => new Promise((next) => setTimeout(next)));
      const details = figure.querySelector("details");
      if (details.open) fillTable(figure);
    }
    return queue;
  }
  const ofStudy = (index) => figures.filter((figure) => Number(figure.dataset.study) === index);

  // ---- tables and CSV

  function tableOf(figure) {
    const { study, chart } = place(figure);
    const rows = selectedRows(study, chart);
    const axes = study.axes.map((axis, a) => ["a" + a, axis.title, axis.key]);
    const columns = [...axes, ...chart.columns.map(([field, title]) => [field, title, field])];
    return { rows, columns: columns.filter(([field]) => rows.some((row) => row[field] !== null && row[field] !== undefined)) };
  }

  const isShare = (field) => /^(success_rate|share)($|_ci95)/.test(field);
  function cell(value, field) {
    if (value === null || value === undefined) return "-";
    if (typeof value !== "number") return String(value);
    if (isShare(field)) return (100 * value).toFixed(1) + " %";
    return value.toLocaleString("en-US", { maximumSignificantDigits: Math.abs(value) >= 1e4 ? 6 : 4 });
  }

  function element(name, text, attributes = {}) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function fillTable(figure) {
    const { rows, columns } = tableOf(figure);
    const table = element("table");
    table.append(element("caption", "Data of " + place(figure).chart.title));
    const head = element("tr");
    const isText = columns.map(([field]) => rows.some((row) => typeof row[field] === "string"));
    columns.forEach(([, title], i) => head.append(element("th", title, { scope: "col", class: isText[i] ? "text" : "" })));
    const body = element("tbody");
    for (const row of rows.slice(0, TABLE_ROWS_MAX)) {
      const line = element("tr");
      columns.forEach(([field], i) => line.append(element("td", cell(row[field], field), { class: isText[i] ? "text" : "" })));
      body.append(line);
    }
    const thead = element("thead");
    thead.append(head);
    table.append(thead, body);
    const place_ = figure.querySelector("details .scroll");
    place_.replaceChildren(table);
    if (rows.length > TABLE_ROWS_MAX) place_.append(element("p", (rows.length - TABLE_ROWS_MAX).toLocaleString("en-US") + " more rows are in the CSV file."));
  }

  function csv(figure) {
    const { rows, columns } = tableOf(figure);
    const quoted = (value) => {
      const text = value === null || value === undefined ? "" : String(value);
      return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
    };
    return [columns.map(([, , key]) => quoted(key)), ...rows.map((row) => columns.map(([field]) => quoted(row[field])))]
      .map((line) => line.join(",")).join("\n") + "\n";
  }

  function download(figure) {
    const { study, chart } = place(figure);
    const held = chart.selected.map((a) => study.selection[a]);
    const link = element("a", undefined, { download: [figure.id, ...held].join("-").replace(/[^\w.-]+/g, "_") + ".csv" });
    link.href = URL.createObjectURL(new Blob([csv(figure)], { type: "text/csv" }));
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // ---- controls

  document.addEventListener("change", (event) => {
    const select = event.target;
    if (!(select instanceof HTMLSelectElement)) return;
    if ("axis" in select.dataset) {
      const index = Number(select.dataset.study), axis = Number(select.dataset.axis);
      report.studies[index].selection[axis] = select.value;
      for (const twin of document.querySelectorAll(`select[data-study="${index}"][data-axis="${axis}"]`)) twin.value = select.value;
      redraw(ofStudy(index).filter((figure) => place(figure).chart.selected.includes(axis)));
    } else if ("variant" in select.dataset) {
      const figure = select.closest("figure");
      figure.dataset.variant = select.value;
      redraw([figure]);
    }
  });

  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (!button) return;
    if ("csv" in button.dataset) download(button.closest("figure"));
    else if ("entry" in button.dataset) toggle(button);
    else if (button.id === "theme") setTheme(theme() === "dark" ? "light" : "dark");
  });

  function toggle(button) {
    const figure = button.closest("figure");
    const { index, chart } = place(figure);
    const key = chart.legend === "s" ? index + "/s" : index + "/" + chart.dataset + "/" + chart.legend;
    const off = hidden.get(key) || new Set();
    hidden.set(key, off);
    const label = button.dataset.entry;
    if (off.has(label)) off.delete(label); else off.add(label);
    const alike = ofStudy(index).filter((other) => {
      const its = place(other).chart;
      return its.legend === chart.legend && (chart.legend === "s" || its.dataset === chart.dataset);
    });
    for (const other of alike) {
      for (const twin of other.querySelectorAll("button[data-entry]")) {
        if (twin.dataset.entry === label) twin.setAttribute("aria-pressed", String(!off.has(label)));
      }
    }
    redraw([figure, ...alike.filter((other) => other !== figure)]);
  }

  document.addEventListener("toggle", (event) => {
    if (event.target instanceof Element && event.target.matches("details.more") && event.target.open) {
      redraw([...event.target.querySelectorAll("figure[data-chart]")].filter((one) => !one.dataset.drawn));
    }
    const figure = event.target instanceof Element ? event.target.closest("figure[data-chart]") : null;
    if (figure && event.target.open) fillTable(figure);
  }, true);

  // ---- light and dark: colours are CSS variables, so nothing has to be drawn again

  const preferred = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => document.documentElement.dataset.theme || "light";
  function setTheme(name) {
    document.documentElement.dataset.theme = name;
    const button = document.getElementById("theme");
    button.setAttribute("aria-pressed", String(name === "dark"));
    button.textContent = name === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", name === "dark" ? "Use the light theme" : "Use the dark theme");
  }
  setTheme(preferred.matches ? "dark" : "light");
  preferred.addEventListener("change", () => setTheme(preferred.matches ? "dark" : "light"));

  // ---- begin; again when the width changes

  // Narrow charts stand in pairs; one that is left alone is wide too.
  let alone = null;
  for (const figure of figures) {
    const { study, chart } = place(figure);
    const wide = isWide(study, chart) || ["timeline", "latency-throughput"].includes(chart.id);
    const isNext = alone && figure.previousElementSibling === alone;
    figure.classList.toggle("wide", wide);
    if (alone && (wide || !isNext)) alone.classList.add("wide");
    alone = wide ? null : isNext ? null : figure;
  }
  if (alone) alone.classList.add("wide");
  redraw(figures).then(() => { document.documentElement.dataset.ready = "yes"; });
  const closed = [...document.querySelectorAll("details.simulated:not([open])")];
  addEventListener("beforeprint", () => { for (const details of closed) details.open = true; });
  addEventListener("afterprint", () => { for (const details of closed) details.open = false; });
  let timer = 0;
  addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => redraw(figures.filter((figure) => {
      const width = Math.floor(figure.querySelector(".plot").clientWidth);
      return width && Math.abs(width - Number(figure.dataset.drawn || 0)) > 4;
    })), 150);
  });
})();
