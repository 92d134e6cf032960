// A finished study: axes to choose, values to hold, and its points as places to begin.
import { byId, element, postJson } from "./ask.js";
import { Board } from "./charts.js";

let study = null;
let board = null;
let openPoint = () => {};
let asked = { roles: {}, selection: {} };

export async function wireStudy(studies, open) {
  if (!studies.length) return;
  openPoint = open;
  byId("study").hidden = false;
  board = new Board(byId("study-charts"), clicked);
  byId("study-name").replaceChildren(...studies.map((one) => element("option", { value: one.name }, one.title)));
  byId("study-name").parentElement.hidden = studies.length < 2;
  byId("study-name").addEventListener("change", () => choose(studies.find((one) => one.name === byId("study-name").value)));
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
  const found = await postJson("api/study", { study: study.name, ...asked });
  if (found.problems) { byId("study-answer").textContent = found.problems.map((problem) => problem.text).join(" "); return; }
  byId("study-answer").replaceChildren(element("b", {}, found.headline), " " + found.paragraph);
  showAxes(found);
  await board.show(found.charts);
}

function showAxes(found) {
  const titles = new Map(study.axes.map((axis) => [axis.key, axis.title]));
  const pick = (label, value, options, onChange) => {
    const select = element("select", { "aria-label": label }, ...options.map(([key, text]) => element("option", { value: key, ...(key === value ? { selected: "" } : {}) }, text)));
    select.addEventListener("change", () => { onChange(select.value); draw(); });
    return element("label", {}, label + " ", select);
  };
  const all = study.axes.map((axis) => [axis.key, axis.title]);
  const parts = [];
  if (all.length) parts.push(pick("Along", found.roles.x, all, (key) => { asked.roles = { ...asked.roles, x: key, ...(asked.roles.series === key ? { series: found.roles.x } : {}) }; }));
  if (all.length > 1) parts.push(pick("Colours", found.roles.series ?? "", all.filter(([key]) => key !== found.roles.x), (key) => { asked.roles = { ...asked.roles, series: key }; }));
  for (const axis of study.axes) {
    if (!found.axes.includes(axis.key) || [found.roles.x, found.roles.series, found.roles.panel].includes(axis.key)) continue;
    parts.push(pick(titles.get(axis.key), found.selection[axis.key], axis.labels.map((label) => [label, label]), (label) => { asked.selection = { ...asked.selection, [axis.key]: label }; }));
  }
  byId("study-axes").replaceChildren(...parts);
}

// A row of a chart knows the labels of its point; the point with those labels is opened.
function clicked(row) {
  const labels = new Map();
  for (const [name, value] of Object.entries(row)) if (/^a\d+$/.test(name)) labels.set(Number(name.slice(1)), value);
  const fit = study.points.filter((point) => [...labels.values()].every((label) => point.labels.includes(label)));
  if (fit.length) openPoint(fit[0].id);
}
