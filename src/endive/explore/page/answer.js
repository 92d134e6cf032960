// The answer: the headline, table and warnings of "endive run". Called for every event, so it changes what is there.
import { byId, element } from "./ask.js";
import { durationText } from "./controls.js";

const SEEDS = 16;

export function forget() {
  byId("answer-body").replaceChildren();
}

export function showWaiting(title) {
  byId("start-title").textContent = title;
}

export function showAnswer(event) {
  byId("failed").hidden = true;
  byId("verdict").dataset.outcome = event.depends ? "cannot tell" : event.outcome;
  byId("verdict").dataset.stage = event.stage;
  if (byId("verdict-title").textContent !== event.headline) byId("verdict-title").textContent = event.headline;
  byId("objective").textContent = event.objective;
  byId("seeds").textContent = event.seeds.length;
  byId("arc").style.strokeDasharray = Math.min(100, (100 * event.seeds.length * event.share) / SEEDS) + " 100";
  byId("ring").setAttribute("aria-label", event.seeds.length + " of " + Math.max(SEEDS, event.seeds.length) + " seeds simulated");
  const part = event.share < 1 ? "A short look: " + durationText(event.duration_ms) : durationText(event.duration_ms) + " each";
  byId("progress").textContent = part + ", " + event.txns.toLocaleString("en-US") + " transactions" + (event.stage === "done" ? "" : ", refining…");
  byId("answer-body").innerHTML = event.html; // made by the renderer of answers, which escapes what it shows
}

export function showFailure(text) {
  byId("failed").textContent = text;
  byId("failed").hidden = false;
}

export function showInvalid() {
  byId("verdict").dataset.outcome = "invalid";
  byId("verdict-title").textContent = "This combination cannot be simulated";
  byId("answer-body").replaceChildren(element("p", {}, "The reason is next to the control."));
  byId("progress").textContent = "";
}
