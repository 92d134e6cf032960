// Pinned and now: two configurations side by side, with the same seeds.
import { byId, element } from "./ask.js";
import { state, writeLink } from "./state.js";

const NAMES = { success_rate: "success", committed_per_s: "commits", p50_commit: "commit P50", p95_commit: "commit P95", p99_commit: "commit P99", retries_mean: "retries per transaction", requests_per_commit: "requests per commit", p50_freshness: "staleness P50", p95_freshness: "staleness P95", p99_freshness: "staleness P99", lost_share: "data lost" };

export function wireCompare(askAgain) {
  byId("pin").addEventListener("click", () => {
    state.pin = { start: state.start, changes: { ...state.changes } };
    show();
    writeLink();
    byId("compare-body").replaceChildren(element("p", { class: "waiting" }, "Pinned. Change something to compare both."));
  });
  byId("unpin").addEventListener("click", () => { state.pin = null; show(); writeLink(); });
  show();
  void askAgain;
}

function show() {
  byId("compare").hidden = !state.pin;
  byId("pin").textContent = state.pin ? "Pin this instead" : "Pin";
  byId("pin").setAttribute("aria-pressed", String(Boolean(state.pin)));
}

export function showComparing() {
  show();
  byId("compare").dataset.stage = "computing";
  byId("compare-about").textContent = "Simulating both with the same seeds…";
}

export function showComparison(event) {
  byId("compare").dataset.stage = "done";
  show();
  if (event.type !== "comparison") {
    const text = event.text || event.problems.map((problem) => problem.text ?? problem).join(" ");
    byId("compare-body").replaceChildren(element("p", { class: "problem" }, text));
    return;
  }
  byId("compare-about").textContent = event.seeds + " seeds, the same for both. The 95 % intervals hold for all differences together; differences of shares are in percentage points.";
  byId("compare").dataset.seeds = String(event.seeds);
  const changed = element("ul", { class: "keys-changed" }, ...event.keys.map(([key, ours, theirs]) => element("li", {}, key + ": " + ours + " → " + theirs)));
  const body = element("tbody");
  let part = null;
  for (const row of event.rows) {
    if (row.part !== part) { part = row.part; body.append(element("tr", { class: "part" }, element("th", { scope: "rowgroup", colspan: "5" }, part))); }
    body.append(element("tr", {}, element("td", { class: "text" }, NAMES[row.figure] || row.figure), element("td", {}, row.a), element("td", {}, row.b), element("td", { class: row.outcome }, row.difference), element("td", { class: "text" }, row.outcome)));
  }
  const head = element("thead", {}, element("tr", {}, ...["metric", "pinned", "now", "now - pinned", "now is"].map((name, place) => element("th", { scope: "col", class: place === 4 ? "text" : "" }, name))));
  byId("compare-body").replaceChildren(changed, element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Comparison" }, element("table", {}, head, body)), ...event.notes.map((note) => element("p", { class: "small" }, note)));
}
