// The page: reads the address, wires the controls, and asks again whenever something moves.
import { ask, byId, element, getJson, postJson } from "./ask.js";
import { forget, showAnswer, showFailure, showInvalid, showWaiting } from "./answer.js";
import { Board, setConfig } from "./charts.js";
import { labelOf, showControls, showProblems, variedKeys, wireSearch } from "./controls.js";
import { showComparing, showComparison, wireCompare } from "./compare.js";
import { forgetAnswered, keepAnswered, question, readLink, state } from "./state.js";
import { showTaken, wireTake } from "./take.js";

const MOVE_MS = 25;
let known = null; // what /api/starts says
let current = new AbortController();
let timer = 0;
const board = new Board(byId("charts"));

// Whether everything that belongs to the last move is on screen: "asking" or "settled".
const setState = (name) => { document.documentElement.dataset.state = name; };

function moved() {
  setState("asking");
  clearTimeout(timer);
  timer = setTimeout(askAll, MOVE_MS);
}

async function askAll() {
  clearTimeout(timer);
  timer = 0;
  setState("asking");
  current.abort();
  const turn = (current = new AbortController());
  document.documentElement.dataset.moved = String(performance.now());
  const asked = { start: state.start, changes: { ...state.changes } };
  let following = null;
  await ask("api/ask", asked, turn.signal, (event) => {
    if (event.type === "refused") { showProblems(placed(event.problems)); showInvalid(); return; }
    if (event.type === "failed") { showFailure(event.text); return; }
    showAnswer(event);
    document.documentElement.dataset.answered = String(performance.now());
    if (!following) { keepAnswered(asked); showProblems([]); following = afterFirst(asked, turn.signal); }
  });
  await Promise.all(following || []);
  if (turn === current && !turn.signal.aborted && !timer) setState("settled");
}

const placed = (problems) => problems.map((problem) => (typeof problem === "string" ? { text: problem, key: null } : problem));

function afterFirst(asked, signal) {
  const parts = [postJson("api/open", asked, signal).then(showTaken).catch(() => {}), askCurve(asked, signal)];
  if (state.pin) { showComparing(); parts.push(ask("api/compare", { a: state.pin, b: asked }, signal, showComparison)); }
  return parts;
}

// Ends when the last curve is drawn.
async function askCurve(asked, signal) {
  const about = byId("along-about");
  about.textContent = "Simulating along " + labelOf(state.vary) + "…";
  let drawn = null;
  await ask("api/curve", { ...asked, vary: state.vary }, signal, (event) => {
    if (event.type !== "curve") { about.textContent = event.text || placed(event.problems).map((problem) => problem.text).join(" "); return; }
    byId("along-title").textContent = "Along " + event.name;
    byId("limit").textContent = event.limit || "";
    about.textContent = [event.note, event.seeds + (event.seeds === 1 ? " seed" : " seeds") + " for each value" + (event.stage === "done" ? "." : "; refining…")].filter(Boolean).join(" ");
    byId("along").dataset.stage = event.stage;
    drawn = board.show(event.charts);
  });
  await drawn;
}

async function open(start, changes, vary) {
  setState("asking");
  current.abort();
  state.start = start;
  state.changes = changes;
  forgetAnswered();
  forget();
  board.forget("The curve follows the first answer…");
  let found = await postJson("api/open", question(false));
  if (!found.controls) { // a link of another server
    state.start = known.starts[0].id;
    state.changes = {};
    found = await postJson("api/open", question(false));
  }
  showControls(found.controls, known.keys, moved);
  const keys = variedKeys();
  state.vary = keys.includes(vary) ? vary : keys[0];
  byId("vary").replaceChildren(...keys.map((key) => element("option", { value: key, ...(key === state.vary ? { selected: "" } : {}) }, labelOf(key))));
  if (![...byId("start").options].some((option) => option.value === state.start)) byId("start").prepend(element("option", { value: state.start }, found.start.title));
  byId("start").value = state.start;
  showWaiting(found.start.title);
  showProblems(found.problems);
  askAll();
}

function showStarts(starts) {
  const groups = new Map();
  for (const start of starts) groups.set(start.group, [...(groups.get(start.group) || []), start]);
  byId("start").replaceChildren(...[...groups].map(([name, own]) => element("optgroup", { label: name }, ...own.map((start) => element("option", { value: start.id }, start.title)))));
  byId("start").addEventListener("change", () => open(byId("start").value, {}, null));
}

// ---- light and dark: colours are CSS variables, so nothing has to be drawn again

const preferred = matchMedia("(prefers-color-scheme: dark)");
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  const button = byId("theme");
  button.setAttribute("aria-pressed", String(name === "dark"));
  button.textContent = name === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-label", name === "dark" ? "Use the light theme" : "Use the dark theme");
}

async function begin() {
  setTheme(preferred.matches ? "dark" : "light");
  preferred.addEventListener("change", () => setTheme(preferred.matches ? "dark" : "light"));
  byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("vary").addEventListener("change", () => { state.vary = byId("vary").value; askAll(); });
  known = await getJson("api/starts");
  setConfig(known.chart_config);
  byId("limits").textContent = known.limits;
  byId("footer").textContent = "Endive " + known.version + ". Everything is simulated on this machine; nothing is sent anywhere.";
  showStarts(known.starts);
  wireSearch();
  wireCompare(askAll);
  wireTake();
  await openLink();
  addEventListener("hashchange", openLink);
}

async function openLink() {
  const link = readLink();
  state.pin = link.pin;
  const start = known.starts.some((one) => one.id === link.start) ? link.start : known.starts[0].id;
  await open(start, start === link.start ? link.changes : {}, link.vary);
}

begin();
