// What can be taken from the page: TOML, command, report, link.
import { ask, byId } from "./ask.js";
import { linkText, question } from "./state.js";

let taken = null;

export function showTaken(found) {
  if (!found.toml) return;
  taken = found;
  byId("command").textContent = found.command;
  byId("toml").textContent = found.toml;
}

function save(name, text, type) {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(new Blob([text], { type }));
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function copy(button, text) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copying is not allowed here";
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}

export function wireTake() {
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button, byId(button.dataset.copy).textContent));
  byId("copy-link").addEventListener("click", () => copy(byId("copy-link"), location.href.split("#")[0] + "#" + linkText()));
  byId("download-toml").addEventListener("click", () => { if (taken) save(taken.file, taken.toml, "application/toml"); });
  byId("download-report").addEventListener("click", makeReport);
}

function makeReport() {
  const button = byId("download-report"), about = byId("report-progress");
  button.disabled = true;
  about.textContent = "Simulating…";
  ask("api/report", question(), new AbortController().signal, (event) => {
    if (event.type === "progress") { about.textContent = "Simulated with " + event.seeds + (event.seeds === 1 ? " seed…" : " seeds…"); return; }
    button.disabled = false;
    if (event.type === "report") { save("explored.html", event.html, "text/html"); about.textContent = "The report has been saved as explored.html."; return; }
    about.textContent = event.text || event.problems.map((problem) => problem.text ?? problem).join(" ");
  });
}
