// Watch it happen: a lane per writer, a slice per phase, the hazard windows, the swap that wins and those it defeats.
import { byId, element } from "./ask.js";
import { durationText } from "./controls.js";

const TOP = 30, LEFT = 132, RIGHT = 26, WIDTH_MIN = 680, LABEL = 15;
const ROOMY = 30, TIGHT = 24, MANY = 16; // height of a lane, the lower one if there are many
const STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3, 7200e3, 21600e3, 43200e3, 86400e3];
let height = ROOMY;
const SVG = "http://www.w3.org/2000/svg";
let shown = null; // the drawing: its txns by lane, and which of them is chosen

function make(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function showWatch(event) {
  const body = byId("watch-body");
  if (event.type !== "watch") {
    body.replaceChildren(element("p", { class: "waiting" }, event.text || event.problems.map((problem) => problem.text ?? problem).join(" ")));
    return;
  }
  byId("watch").dataset.lanes = String(event.lanes.length);
  byId("story").replaceChildren();
  hideHint();
  if (!event.lanes.length) { body.replaceChildren(element("p", { class: "waiting" }, "No txn of the run came to the end of its commit.")); return; }
  height = event.lanes.length > MANY ? TIGHT : ROOMY;
  const width = Math.max(WIDTH_MIN, body.clientWidth - 4);
  const span = Math.max(1, event.end_ms - event.begin_ms);
  const scale = { span, x: (ms) => LEFT + (Math.min(span, Math.max(0, ms)) / span) * (width - LEFT - RIGHT), is: (ms) => ms >= 0 && ms <= span };
  const bottom = TOP + height * event.lanes.length + 8;
  const drawing = make("svg", { width, height: bottom, viewBox: `0 0 ${width} ${bottom}`, role: "group", "aria-label": `Timeline of ${event.lanes.length} lanes. Arrow keys go from txn to txn, Enter tells the story of one.` });
  drawTicks(drawing, scale, bottom);
  shown = { rows: [], arrows: make("g", { class: "arrows" }), chosen: null };
  const swaps = new Map(); // txn -> where its winning swap stands
  event.lanes.forEach((lane, row) => drawing.append(laneOf(lane, row, width, scale, event, swaps)));
  event.lanes.forEach((lane, row) => lane.txns.forEach((txn) => drawArrows(txn, row, scale, swaps)));
  drawing.append(shown.arrows);
  drawing.addEventListener("pointermove", hover);
  drawing.addEventListener("pointerleave", hideHint);
  drawing.addEventListener("keydown", pressed);
  body.replaceChildren(element("div", { class: "lanes" }, drawing), legend(event));
  const all = shown.rows.flat();
  choose(all.find((one) => one.txn.txn === event.chosen) || all[0], false);
  const lanes = body.querySelector(".lanes"); // on a narrow screen it scrolls
  lanes.scrollLeft = Math.max(0, shown.chosen.root.querySelector(".hazard").getBBox().x - LEFT);
}

function drawTicks(drawing, scale, bottom) {
  const step = STEPS_MS.find((ms) => ms >= scale.span / 6) || 7 * 86400e3;
  for (let tick = 0; tick * step <= scale.span; tick += 1) {
    const at = scale.x(tick * step);
    drawing.append(make("line", { x1: at, x2: at, y1: TOP - 6, y2: bottom, stroke: "var(--grid)" }), make("text", { x: at, y: 16, class: "soft", "text-anchor": "middle" }, tick ? "+" + durationText(tick * step) : "0"));
  }
}

function laneOf(lane, row, width, scale, event, swaps) {
  const top = TOP + height * row;
  const group = make("g", { class: "lane", "data-lane": lane.label });
  group.append(make("rect", { class: row % 2 ? "bed odd" : "bed", x: 1, y: top, width: width - 2, height }));
  group.append(make("rect", { x: 10, y: top + height / 2 - 5, width: 10, height: 10, rx: 3, fill: `var(--c${lane.place % 9})` }));
  const name = lane.label.length > LABEL ? lane.label.slice(0, LABEL - 1) + "…" : lane.label;
  group.append(make("text", { x: 26, y: top + height / 2 + 4 }, name));
  const colours = new Map(event.phases);
  let free = -Infinity; // until when the lane is taken
  const own = [];
  for (const txn of lane.txns) {
    const drawn = txnOf(txn, lane, top, scale, colours, free);
    free = txn.slices.at(-1)[1];
    const swap = txn.attempts.find((attempt) => attempt.installed);
    if (swap && scale.is(swap.decided)) swaps.set(txn.txn, { x: scale.x(swap.decided), y: top + height / 2 });
    group.append(drawn.root);
    own.push(drawn);
  }
  shown.rows.push(own);
  return group;
}

function txnOf(txn, lane, top, scale, colours, free) {
  const lost = txn.attempts.filter((attempt) => !attempt.installed).length;
  const label = `txn ${txn.txn} of ${lane.label}, ${txn.kind}: ${txn.status}${txn.reason ? ", " + txn.reason : ""}; ${txn.attempts.length} attempt${txn.attempts.length === 1 ? "" : "s"}, ${lost} refused`;
  const root = make("g", { class: "txn", tabindex: "-1", role: "button", "aria-label": label, "data-txn": txn.txn });
  const drawn = { txn, root, label };
  const first = scale.x(Math.max(free, txn.slices[0][0])), last = scale.x(txn.slices.at(-1)[1]);
  root.append(make("rect", { class: "seat", x: first, y: top + 1, width: Math.max(6, last - first), height: height - 2, rx: 4 }));
  for (const attempt of txn.attempts) {
    if (attempt.decided < 0 || attempt.base > scale.span) continue; // outside the stretch
    root.append(make("rect", { class: "hazard " + (attempt.installed ? "won" : "lost"), x: scale.x(attempt.base), y: top + 2, width: Math.max(1, scale.x(attempt.decided) - scale.x(attempt.base)), height: height - 4 }));
  }
  for (const [begin, end, phase, words] of txn.slices) {
    const from = Math.max(begin, free);
    if (end < 0 || from > scale.span || end < from) continue;
    const colour = colours.get(phase), thin = colour === "" || phase === "backoff";
    root.append(make("rect", { class: "slice" + (colour === "" ? " work" : ""), "data-words": words, "data-phase": phase, x: scale.x(from), y: top + (thin ? height / 2 - 2 : height / 4), width: Math.max(1.2, scale.x(end) - scale.x(from) - 0.5), height: thin ? 4 : height / 2, rx: 2, ...(colour ? { fill: colour } : {}) }));
  }
  for (const attempt of txn.attempts) if (scale.is(attempt.decided)) root.append(mark(attempt, scale.x(attempt.decided), top + height / 2));
  root.addEventListener("click", () => choose(drawn, true));
  return drawn;
}

const mark = (attempt, x, y) => (attempt.installed
  ? make("circle", { class: "swap won", cx: x, cy: y, r: 5 })
  : make("path", { class: "swap lost", d: `M${x - 4} ${y - 4}l8 8m0-8l-8 8` }));

function drawArrows(txn, row, scale, swaps) {
  const y = TOP + height * row + height / 2;
  for (const attempt of txn.attempts) {
    const from = swaps.get(attempt.rival);
    if (attempt.rival === null || !from || !scale.is(attempt.decided)) continue;
    const x = scale.x(attempt.decided), middle = (from.y + y) / 2;
    shown.arrows.append(make("path", { class: "arrow", "data-winner": attempt.rival, "data-loser": txn.txn, d: `M${from.x} ${from.y}C${from.x} ${middle} ${x} ${middle} ${x} ${y}` }));
  }
}

// ---- one txn is chosen: its story, whom it defeated, who defeated it

function choose(drawn, isAsked) {
  shown.chosen?.root.classList.remove("chosen");
  shown.chosen?.root.setAttribute("tabindex", "-1");
  shown.chosen = drawn;
  drawn.root.classList.add("chosen");
  drawn.root.setAttribute("tabindex", "0");
  const id = String(drawn.txn.txn);
  for (const arrow of shown.arrows.children) arrow.classList.toggle("hot", arrow.dataset.winner === id || arrow.dataset.loser === id);
  shown.arrows.append(...shown.arrows.querySelectorAll(".hot")); // drawn last, so on top
  const defeated = defeatedBy(id);
  const lines = [...drawn.txn.story, ...(defeated.length ? ["  its commit defeated an attempt of txn " + defeated.join(", ")] : [])];
  byId("story").setAttribute("aria-live", isAsked ? "polite" : "off"); // what nobody asked for is not read aloud
  byId("story").replaceChildren(element("pre", { tabindex: "0", "aria-label": "Story of txn " + id }, lines.join("\n")));
}

const defeatedBy = (id) => [...new Set([...shown.arrows.children].filter((arrow) => arrow.dataset.winner === id).map((arrow) => arrow.dataset.loser))];

function pressed(event) {
  const row = shown.rows.findIndex((own) => own.includes(shown.chosen));
  const place = shown.rows[row].indexOf(shown.chosen);
  const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Enter: [0, 0], " ": [0, 0] }[event.key];
  if (!way) return;
  event.preventDefault();
  const next = shown.rows[row + way[0]];
  const found = way[0] ? next && nearest(next) : shown.rows[row][place + way[1]];
  if (found) { choose(found, true); found.root.focus(); }
}

function nearest(own) {
  const at = (one) => Math.abs(one.txn.attempts[0].base - shown.chosen.txn.attempts[0].base);
  return own.reduce((best, one) => (at(one) < at(best) ? one : best));
}

function legend(event) {
  const used = new Set(event.lanes.flatMap((lane) => lane.txns.flatMap((txn) => txn.slices.map((slice) => slice[2]))));
  const phases = event.phases.filter(([name]) => used.has(name)).map(([name, colour]) => [name, `background: ${colour || "var(--idle)"}`]);
  const windows = [["hazard window of a commit", "background: var(--met); opacity: .3"], ["of a refused attempt", "background: var(--bad); opacity: .3"]];
  const list = [...phases, ...windows].map(([name, style]) => element("span", {}, element("i", { style }), name));
  return element("p", { class: "keys" }, ...list, element("span", {}, `● the swap that wins, × one that it defeats; seed ${event.seed}, from ${durationText(event.begin_ms)} on`));
}

// ---- what the pointer is over

function hover(pointer) {
  const over = pointer.target.closest?.(".txn");
  const drawn = over && shown.rows.flat().find((one) => one.root === over);
  if (!drawn) { hideHint(); return; }
  const defeated = defeatedBy(String(drawn.txn.txn));
  showHint(pointer, [drawn.label, pointer.target.dataset.words, defeated.length ? "Its commit defeats txn " + defeated.join(", ") + "." : null, "Click for its story."].filter(Boolean).join("\n"));
}

function showHint(pointer, text) {
  const hint = byId("hint");
  hint.textContent = text;
  hint.hidden = false;
  hint.style.left = Math.min(innerWidth - hint.offsetWidth - 8, pointer.clientX + 14) + "px";
  hint.style.top = Math.min(innerHeight - hint.offsetHeight - 8, pointer.clientY + 16) + "px";
}

function hideHint() { byId("hint").hidden = true; }
