// The controls: sliders, choices and texts made from what the server says of a configuration's keys.
import { byId, element } from "./ask.js";
import { state } from "./state.js";

const STEPS = 1000;
let controls = [];
let keys = [];
let onMove = () => {};

const UNITS = [["d", 86400000], ["h", 3600000], ["min", 60000], ["s", 1000], ["ms", 1]];

export function durationText(ms) {
  for (const [unit, size] of UNITS) if (ms >= size * (unit === "d" ? 2 : 1)) return Number((ms / size).toPrecision(3)) + unit;
  return Number(ms.toPrecision(3)) + "ms";
}

const numberText = (value) => String(Number(Number(value).toPrecision(4)));
const shown = (control, value) => (control.unit === "ms" && typeof value === "number" ? durationText(value) : control.form === "slider" ? numberText(value) : String(value ?? ""));

function durationMs(text) {
  const found = /^([\d.]+)\s*(ms|s|min|h|d)?$/.exec(text.trim());
  if (!found) return NaN;
  return Number(found[1]) * (found[2] ? UNITS.find(([unit]) => unit === found[2])[1] : 1);
}

const toNumber = (control, text) => (control.unit === "ms" ? durationMs(text) : Number(text));

function toPosition(control, value) {
  const { low, high } = control;
  const share = control.is_log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.round(STEPS * Math.min(1, Math.max(0, share)));
}

function toValue(control, position) {
  const { low, high } = control;
  const share = position / STEPS;
  const value = control.is_log ? low * (high / low) ** share : low + (high - low) * share;
  return control.is_whole ? Math.round(value) : Number(value.toPrecision(3));
}

const textOf = (control) => state.changes[control.key] ?? shown(control, control.value);

function change(control, text) {
  if (text === shown(control, control.value)) delete state.changes[control.key];
  else state.changes[control.key] = text;
  paint(control);
  onMove(control.key);
}

function reset(control) {
  delete state.changes[control.key];
  if (control.isAdded) {
    controls = controls.filter((other) => other !== control);
    control.root.remove();
  } else paint(control);
  onMove(control.key);
}

function paint(control) {
  const text = textOf(control);
  control.root.classList.toggle("moved", control.key in state.changes);
  if (control.input && control.input.value !== text) control.input.value = text;
  if (control.range) {
    const value = toNumber(control, text);
    if (!Number.isNaN(value)) {
      const position = toPosition(control, value);
      if (Number(control.range.value) !== position) control.range.value = position;
      control.range.style.setProperty("--at", position / 10 + "%");
      control.range.setAttribute("aria-valuetext", text);
    }
  }
}

function build(control) {
  const id = "key-" + control.key.replace(/[^\w]+/g, "-");
  const meaning = element("p", { class: "meaning", id: id + "-meaning", hidden: "" }, element("code", {}, control.key), ". ", control.meaning || "", control.allowed ? " Allowed: " + control.allowed + "." : "");
  const about = element("button", { type: "button", class: "about", "aria-expanded": "false", "aria-controls": id + "-meaning", "aria-label": "What " + control.label + " means", onclick: () => { meaning.hidden = !meaning.hidden; about.setAttribute("aria-expanded", String(!meaning.hidden)); } }, "?");
  const back = element("button", { type: "button", class: "plain reset", "aria-label": (control.isAdded ? "Remove " : "Reset ") + control.label, onclick: () => reset(control) }, control.isAdded ? "remove" : "reset");
  const top = element("div", { class: "top" }, element("label", { for: id }, control.label), back, about);
  control.problems = element("div", { class: "problems", id: id + "-problems", role: "alert" });
  control.root = element("div", { class: "control", "data-key": control.key }, top);
  if (control.form === "choice") {
    control.input = element("select", { id }, ...control.choices.map((choice) => element("option", { value: choice }, choice)));
    control.input.addEventListener("change", () => change(control, control.input.value));
    top.append(control.input);
  } else if (control.form === "slider") {
    control.input = element("input", { type: "text", class: "number", "aria-label": control.label + ", value", inputmode: "decimal", spellcheck: "false" });
    control.input.addEventListener("change", () => change(control, control.input.value.trim()));
    control.range = element("input", { type: "range", id, min: "0", max: String(STEPS), step: "1" });
    control.range.addEventListener("input", () => change(control, shown(control, toValue(control, Number(control.range.value)))));
    control.range.addEventListener("keydown", (event) => stepOne(control, event));
    top.append(control.input);
    control.root.append(control.range);
  } else {
    control.input = element("input", { type: "text", id, class: "long", spellcheck: "false", placeholder: control.placeholder || "" });
    control.input.addEventListener("change", () => change(control, control.input.value.trim()));
    control.root.append(control.input);
  }
  control.root.append(meaning, control.problems);
  paint(control);
  return control.root;
}

// Arrow keys move by one value, not by one of a thousand positions.
function stepOne(control, event) {
  const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  if (!way) return;
  event.preventDefault();
  const now = toNumber(control, textOf(control));
  let next = now;
  for (let position = toPosition(control, now) + way; next === now && position >= 0 && position <= STEPS; position += way) next = toValue(control, position);
  if (control.is_whole && Math.abs(next - now) > 1 && now < 40) next = now + way;
  change(control, shown(control, next));
}

export function showControls(found, allKeys, moved) {
  onMove = moved;
  keys = allKeys;
  controls = found.map((control) => ({ ...control }));
  const groups = new Map();
  for (const control of controls) groups.set(control.group, [...(groups.get(control.group) || []), control]);
  const sources = [...groups.keys()].filter((name) => groups.get(name)[0].key.startsWith("source."));
  byId("groups").replaceChildren(...[...groups].map(([name, own]) => {
    const place = sources.indexOf(name);
    const heading = element("h2", {}, ...(place >= 0 ? [element("i", { style: `background:var(--c${place % 9})` })] : []), name);
    return element("section", { class: "group", "aria-label": name }, heading, ...own.map(build));
  }));
  byId("added").replaceChildren();
  for (const key of Object.keys(state.changes)) if (!controls.some((control) => control.key === key)) addKey(key);
}

const numericKeys = () => controls.filter((control) => control.form === "slider");
export const LOAD = "load"; // a factor on every source at once: no key of the file, but one that can be varied
export const variedKeys = () => [...numericKeys().map((control) => control.key), LOAD];
export const labelOf = (key) => {
  if (key === LOAD) return "Load of all sources";
  const control = controls.find((one) => one.key === key);
  return control ? (control.key.startsWith("source.") ? control.group + ": " + control.label : control.label) : key;
};

// ---- every other key

function addKey(key) {
  const sources = controls.filter((control) => control.key.startsWith("source.")).map((control) => control.key.split(".")[1]);
  const named = key.replace("source.<name>.", "source." + (sources[0] || "default") + ".").replace(/^transaction\./, (all) => (sources.length && sourceKey(key) ? "source." + sources[0] + "." : all));
  const known = controls.find((control) => control.key === named);
  if (known) { known.root.scrollIntoView({ block: "center" }); known.input.focus(); return; }
  const [, allowed = "", standard = "", meaning = ""] = keys.find(([name]) => name === key || name === named) || [];
  const choices = /^[\w]+(, [\w]+)+$/.test(allowed) ? allowed.split(", ") : allowed === "true or false" ? ["true", "false"] : null;
  const control = { key: named, label: named, form: choices ? "choice" : "text", value: "", choices: choices ? ["", ...choices] : [], meaning, allowed, placeholder: standard ? "default: " + standard : "", isAdded: true };
  controls.push(control);
  byId("added").append(build(control));
  return control;
}

const sourceKey = (key) => !/^transaction\.(inter_arrival|manifest_list|conflicting_manifests)/.test(key);

export function wireSearch() {
  const search = byId("search"), list = byId("found");
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fit = words.length ? keys.filter((row) => words.every((word) => (row[0] + " " + row[1] + " " + row[3]).toLowerCase().includes(word))).slice(0, 12) : [];
    list.replaceChildren(...fit.map(([key, allowed, standard, meaning]) => element("li", {}, element("button", { type: "button", onclick: () => {
      const control = addKey(key);
      search.value = "";
      list.replaceChildren();
      if (control) { control.root.querySelector(".about").click(); control.input.focus(); }
    } }, element("b", {}, key), element("br"), meaning + (standard ? " Default: " + standard + "." : "")))));
    if (words.length && !fit.length) list.replaceChildren(element("li", { class: "small" }, "No key and no explanation holds these words."));
  });
}

// ---- problems, each beside its control

export function showProblems(problems) {
  const general = [];
  for (const control of controls) {
    const own = problems.filter((problem) => problem.key === control.key);
    control.root.classList.toggle("wrong", own.length > 0);
    control.input.setAttribute("aria-invalid", String(own.length > 0));
    control.problems.replaceChildren(...own.map((problem) => problemCard(problem, control)));
  }
  for (const problem of problems) if (!controls.some((control) => control.key === problem.key)) general.push(problemCard(problem, null));
  byId("general-problems").replaceChildren(...general);
}

function problemCard(problem, control) {
  const card = element("p", { class: "problem" }, problem.text);
  const named = /^[\w."<>-]+/.exec(problem.text);
  const key = named && named[0].includes(".") ? named[0].replace(/[.:]$/, "") : null;
  if (key && !(key in state.changes)) {
    card.append(element("br"), element("button", { type: "button", onclick: () => { state.changes[key] = null; onMove(key); } }, "Leave out " + key));
  } else if (control && control.key in state.changes) {
    card.append(element("br"), element("button", { type: "button", onclick: () => reset(control) }, "Take this change back"));
  }
  return card;
}
