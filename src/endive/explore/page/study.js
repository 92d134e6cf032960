// A finished study: axes to choose, values to hold, and its points as places to begin.
import { byId, element, postJson } from "./ask.js";
import { Board } from "./charts.js";

const CHARTS_FIRST = 4;
let study = null;
let isWhole = false;
let board = null;
let openPoint = () => {};
let asked = { roles: {}, selection: {} };
let turn = 0;
let drawn = null; // what the server said of the charts on screen

export async function wireStudy(studies, open) {
  if (!studies.length) return;
  openPoint = open;
  byId("study").hidden = false;
  board = new Board(byId("study-charts"), clicked);
  byId("study-name").replaceChildren(...studies.map((one) => element("option", { value: one.name }, one.title)));
  byId("study-name").parentElement.hidden = studies.length < 2;
  byId("study-name").addEventListener("change", () => choose(studies.find((one) => one.name === byId("study-name").value)));
  byId("study-more").addEventListener("click", () => { isWhole = !isWhole; showCharts(); });
  await choose(studies[0]);
}

async function choose(found) {
  study = found;
  asked = { roles: { ...study.roles }, selection: {} };
  byId("study-title").textContent = study.title;
  byId("study-question").textContent = study.question;
  const points = study.points.map((point) => element("option", { value: point.id }, study.axes.map((axis, place) => axis.title + " " + point.labels[place]).join(", ") || "the only point"));
  byId("study-point").replaceChildren(element("option", { value: "" }, "Open a point…"), ...points);
  byId("study-point").onchange = () => { if (byId("study-point").value) openPoint(byId("study-point").value); };
  await draw();
}

async function draw() {
  const mine = (turn += 1);
  const found = await postJson("api/study", { study: study.name, ...asked });
  if (mine !== turn) return; // something newer was asked
  if (found.problems) { byId("study-answer").textContent = found.problems.map((problem) => problem.text).join(" "); return; }
  drawn = found;
  byId("study-answer").replaceChildren(element("b", {}, found.headline), " " + found.paragraph);
  showAxes(found);
  showCharts();
}

// The charts that answer first; the others on demand, since a report has a dozen.
function showCharts() {
  board.show(isWhole ? drawn.charts : drawn.charts.slice(0, CHARTS_FIRST));
  const more = byId("study-more");
  more.hidden = drawn.charts.length <= CHARTS_FIRST;
  more.textContent = isWhole ? "Fewer charts" : `All ${drawn.charts.length} charts`;
  more.setAttribute("aria-expanded", String(isWhole));
}

function showAxes(found) {
  const pick = (label, value, options, onChange) => {
    const select = element("select", { "aria-label": label }, ...options.map(([key, text]) => element("option", { value: key, ...(key === value ? { selected: "" } : {}) }, text)));
    select.addEventListener("change", () => { onChange(select.value); draw(); });
    return element("label", {}, label + " ", select);
  };
  const all = study.axes.map((axis) => [axis.key, axis.title]);
  const parts = [];
  if (all.length) parts.push(pick("Along", found.roles.x, all, (key) => { asked.roles = { ...asked.roles, x: key, ...(asked.roles.series === key ? { series: found.roles.x } : {}) }; }));
  if (all.length > 1) parts.push(pick("Colours", found.roles.series ?? "", all.filter(([key]) => key !== found.roles.x), (key) => { asked.roles = { ...asked.roles, series: key }; }));
  const placed = [found.roles.x, found.roles.series, found.roles.panel];
  for (const axis of study.axes) {
    if (!found.axes.includes(axis.key)) continue;
    const isPlaced = placed.includes(axis.key); // all its values can be drawn at once
    const options = [...(isPlaced ? [["", "all"]] : []), ...axis.labels.map((label) => [label, label])];
    const value = isPlaced ? found.held[axis.key] ?? "" : found.selection[axis.key];
    parts.push(pick("Only " + axis.title, value, options, (label) => { hold(axis.key, label); }));
  }
  const focused = document.activeElement?.closest("#study-axes") && document.activeElement.getAttribute("aria-label");
  byId("study-axes").replaceChildren(...parts);
  if (focused) byId("study-axes").querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus(); // it is a new one
}

function hold(key, label) {
  asked.selection = { ...asked.selection, [key]: label };
  if (!label) delete asked.selection[key];
}

// A row of a chart knows the label of its point on every axis; the point with those labels is opened.
function clicked(row) {
  const places = drawn.axes.map((key) => study.axes.findIndex((axis) => axis.key === key));
  const fit = study.points.find((point) => places.every((place, number) => point.labels[place] === row["a" + number]));
  if (fit) openPoint(fit.id);
}
