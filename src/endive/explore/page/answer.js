// The answer: verdict, one card per source, totals. Called for every event, so it changes what is there.
import { byId, element } from "./ask.js";
import { durationText } from "./controls.js";

const SEEDS = 16;
const HEADS = { met: "The objective is met", "not met": "The objective is not met", "cannot tell": "Cannot tell yet" };
let cards = new Map();

export function forget() {
  cards = new Map();
  byId("sources").replaceChildren();
}

export function showWaiting(title) {
  byId("start-title").textContent = title;
}

export function showAnswer(event) {
  const { verdict } = event;
  byId("failed").hidden = true;
  byId("verdict").dataset.outcome = verdict.outcome;
  byId("verdict").dataset.stage = event.stage;
  const head = verdict.outcome === "cannot tell" && event.stage === "done" ? "Too close to tell" : HEADS[verdict.outcome];
  if (byId("verdict-title").textContent !== head) byId("verdict-title").textContent = head;
  byId("objective").textContent = verdict.objective;
  byId("lines").replaceChildren(...verdict.lines.slice(0, 4).map((line) => element("li", {}, line)));
  byId("seeds").textContent = event.seeds.length;
  byId("arc").style.strokeDasharray = Math.min(100, (100 * event.seeds.length * event.share) / SEEDS) + " 100";
  byId("ring").setAttribute("aria-label", event.seeds.length + " of " + Math.max(SEEDS, event.seeds.length) + " seeds simulated");
  const part = event.share < 1 ? "A short look: " + durationText(event.duration_ms) : durationText(event.duration_ms) + " each";
  byId("progress").textContent = part + ", " + event.txns.toLocaleString("en-US") + " txns" + (event.stage === "done" ? "" : ", refining…");
  event.sources.forEach(showSource);
  for (const [name, card] of cards) if (!event.sources.some((source) => source.name === name)) { card.root.remove(); cards.delete(name); }
  showWhole(event);
}

function showSource(source, place) {
  let card = cards.get(source.name);
  if (!card) {
    card = makeCard(source, place);
    cards.set(source.name, card);
    byId("sources").append(card.root);
  }
  card.badge.textContent = source.outcome || "";
  card.badge.dataset.outcome = source.outcome || "";
  card.badge.hidden = !source.outcome;
  card.txns.textContent = source.txns;
  const success = source.figures.success_rate;
  card.value.textContent = success && success.value !== null ? success.text : "–";
  card.interval.textContent = success && success.value !== null ? "of txns commit " + success.interval : "nothing has ended in the window yet";
  const has = success && success.value !== null;
  card.point.style.left = has ? 100 * success.value + "%" : "0%";
  card.point.hidden = !has;
  const low = has ? success.low ?? success.value : 0, high = has ? success.high ?? success.value : 0;
  card.range.style.left = 100 * low + "%";
  card.range.style.width = 100 * (high - low) + "%";
  for (const [name, slot] of Object.entries(card.figures)) {
    const found = source.figures[name];
    slot.value.textContent = found ? found.text : "–";
    slot.interval.textContent = found ? found.interval : "";
  }
}

function makeCard(source, place) {
  const card = { badge: element("span", { class: "badge" }), txns: element("p", { class: "txns" }), value: element("b"), interval: element("span"), range: element("i"), point: element("b"), figures: {} };
  const list = element("dl", { class: "figures" });
  for (const [name, label] of [["committed_per_s", "Commits"], ["p50_commit", "P50"], ["p95_commit", "P95"], ["p99_commit", "P99"], ["p95_freshness", "Data late by, P95"]]) {
    if (name === "p95_freshness" && !source.figures[name]) continue;
    const slot = (card.figures[name] = { value: element("span"), interval: element("small") });
    list.append(element("div", {}, element("dt", {}, label), element("dd", {}, slot.value, slot.interval)));
  }
  card.root = element("article", { class: "source", "data-source": source.name, style: `--colour: var(--c${place % 9})` },
    element("header", {}, element("i", { style: "background: var(--colour)" }), element("h2", {}, source.name), element("span", { class: "kinds" }, source.kinds.join(", ")), card.badge),
    element("p", { class: "big" }, card.value, card.interval),
    element("div", { class: "band", "aria-hidden": "true" }, card.range, card.point),
    card.txns, list);
  return card;
}

function showWhole(event) {
  const parts = [];
  const requests = event.whole.requests_per_commit, retries = event.whole.retries_mean, rate = event.whole.committed_per_s;
  const add = (value, words) => parts.push(element("span", {}, element("b", {}, value), " " + words));
  if (rate.value !== null) add(rate.text.replace(" /s", ""), "commits per second in all");
  if (requests.value !== null) add(requests.text, "requests per commit");
  if (retries.value !== null) add(retries.text, "retries per txn");
  if (event.usd_per_commit !== null) add("$" + (1e6 * event.usd_per_commit).toLocaleString("en-US", { maximumSignificantDigits: 3 }), "of requests per million commits");
  if (event.usd_per_month !== null) add("$" + event.usd_per_month.toLocaleString("en-US", { maximumSignificantDigits: 3 }), "a month at this load");
  for (const warning of event.warnings) parts.push(element("span", { class: "warning" }, typeof warning === "string" ? warning : warning.text || JSON.stringify(warning)));
  byId("whole").replaceChildren(...parts);
}

export function showFailure(text) {
  byId("failed").textContent = text;
  byId("failed").hidden = false;
}

export function showInvalid() {
  byId("verdict").dataset.outcome = "invalid";
  byId("verdict-title").textContent = "This combination cannot be simulated";
  byId("lines").replaceChildren(element("li", {}, "The reason stands beside the control. Below is the last answer."));
  byId("progress").textContent = "";
}
