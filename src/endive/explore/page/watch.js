// Watch it happen: a lane per txn, a slice per request, the hazard window, and who was overtaken by whom.
import { byId, element } from "./ask.js";
import { durationText } from "./controls.js";

const LANE = 30, TOP = 30, LEFT = 170, RIGHT = 26, WIDTH_MIN = 720;
const COLOURS = [["catalog", "--c0"], ["log", "--c0"], ["metadata", "--c2"], ["manifest list", "--c4"], ["manifest", "--c3"]];
const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const colourOf = (what) => `var(${(COLOURS.find(([name]) => what.startsWith(name)) || ["", "--c7"])[1]})`;

export function showWatch(event) {
  if (event.type !== "watch") {
    byId("watch-body").replaceChildren(element("p", { class: "waiting" }, event.text || event.problems.map((problem) => problem.text ?? problem).join(" ")));
    return;
  }
  byId("story").replaceChildren();
  if (!event.lanes.length) { byId("watch-body").replaceChildren(element("p", { class: "waiting" }, "No txn of this stretch came to its commit.")); return; }
  const width = Math.max(WIDTH_MIN, byId("watch-body").clientWidth - 4);
  const span = Math.max(1, event.end_ms - event.begin_ms);
  const x = (ms) => LEFT + (Math.min(span, Math.max(0, ms)) / span) * (width - LEFT - RIGHT);
  const height = TOP + LANE * event.lanes.length + 8;
  const drawing = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Timeline of " + event.lanes.length + " txns" });
  for (let tick = 0; tick <= 5; tick += 1) {
    const at = x((span * tick) / 5);
    drawing.append(make("line", { x1: at, x2: at, y1: TOP - 6, y2: height, stroke: "var(--grid)" }), make("text", { x: at, y: 16, class: "soft", "text-anchor": tick === 5 ? "end" : "middle" }, "+" + durationText((span * tick) / 5 || 0.0001).replace(/^0.*ms$/, "0")));
  }
  const place = new Map(event.lanes.map((lane, row) => [lane.txn, row]));
  event.lanes.forEach((lane, row) => drawing.append(laneOf(lane, row, x, width, place, event)));
  byId("watch-body").replaceChildren(element("div", { class: "lanes" }, drawing), legend(event));
  byId("watch").dataset.lanes = String(event.lanes.length);
}

function laneOf(lane, row, x, width, place, event) {
  const top = TOP + LANE * row, middle = top + LANE / 2;
  const lost = lane.attempts.filter((attempt) => !attempt.installed).length;
  const label = `txn ${lane.txn} of ${lane.source}, ${lane.kind}: ${lane.status}${lane.reason ? ", " + lane.reason : ""}, ${lane.attempts.length} attempt${lane.attempts.length === 1 ? "" : "s"}, ${lost} refused`;
  const group = make("g", { class: "lane", tabindex: "0", role: "button", "aria-label": label });
  group.append(make("rect", { class: "bed", x: 1, y: top + 1, width: width - 2, height: LANE - 2, rx: 4 }));
  group.append(make("text", { x: 10, y: middle + 4 }, "txn " + lane.txn), make("text", { x: 78, y: middle + 4, class: "soft" }, (lane.source + "").slice(0, 17)));
  const span = event.end_ms - event.begin_ms;
  for (const attempt of lane.attempts) {
    if (attempt.end < 0 || attempt.begin > span) continue; // outside the stretch
    group.append(make("rect", { class: "hazard " + (attempt.installed ? "won" : "lost"), x: x(attempt.base), y: top + 2, width: Math.max(1, x(attempt.decided) - x(attempt.base)), height: LANE - 4 }));
    for (const step of attempt.steps) {
      group.append(make("rect", { x: x(step.begin), y: top + 8, width: Math.max(1.2, x(step.end) - x(step.begin) - 0.5), height: LANE - 16, rx: 2, fill: colourOf(step.what) }));
    }
    if (attempt.decided > span) continue;
    const at = x(attempt.decided);
    group.append(attempt.installed
      ? make("circle", { cx: at, cy: middle, r: 5, fill: "var(--met)", stroke: "var(--paper)", "stroke-width": 1.5 })
      : make("path", { d: `M${at - 4} ${middle - 4}l8 8m0-8l-8 8`, stroke: "var(--bad)", "stroke-width": 2.4 }));
    const winner = attempt.rival !== null && place.has(attempt.rival) ? event.lanes[place.get(attempt.rival)] : null;
    const swap = winner && winner.attempts.find((other) => other.installed);
    if (swap) {
      const from = TOP + LANE * place.get(attempt.rival) + LANE / 2;
      group.append(make("path", { class: "arrow", d: `M${x(swap.decided)} ${from}C${x(swap.decided)} ${(from + middle) / 2} ${at} ${(from + middle) / 2} ${at} ${middle}` }));
    }
  }
  const tell = () => {
    for (const other of document.querySelectorAll(".lane.chosen")) other.classList.remove("chosen");
    group.classList.add("chosen");
    byId("story").replaceChildren(element("pre", { tabindex: "0" }, lane.story.join("\n")));
  };
  group.addEventListener("click", tell);
  group.addEventListener("keydown", (pressed) => { if (pressed.key === "Enter" || pressed.key === " ") { pressed.preventDefault(); tell(); } });
  group.addEventListener("pointermove", (pointer) => showHint(pointer, label + "\nClick for its story."));
  group.addEventListener("pointerleave", hideHint);
  return group;
}

function legend(event) {
  const slices = [["catalog", "--c0"], ["table metadata", "--c2"], ["manifest list", "--c4"], ["manifest", "--c3"], ["hazard window, won", "--met"], ["hazard window, lost", "--bad"]];
  const list = slices.map(([name, colour]) => element("span", {}, element("i", { style: `background: var(${colour}); ${name.startsWith("hazard") ? "opacity: .3" : ""}` }), name));
  return element("p", { class: "keys" }, ...list, element("span", {}, `● the swap that wins, × one that is refused; seed ${event.seed}, from ${durationText(event.begin_ms)} on`));
}

function showHint(pointer, text) {
  const hint = byId("hint");
  hint.textContent = text;
  hint.hidden = false;
  hint.style.left = Math.min(innerWidth - hint.offsetWidth - 8, pointer.clientX + 14) + "px";
  hint.style.top = Math.min(innerHeight - hint.offsetHeight - 8, pointer.clientY + 16) + "px";
}

function hideHint() { byId("hint").hidden = true; }
