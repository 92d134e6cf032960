// What can be copied from the page: the command, the file, a link.
import { byId } from "./ask.js";
import { linkText } from "./state.js";

export function showTaken(found) {
  if (!found.toml) return;
  byId("command").textContent = found.command;
  byId("toml").textContent = found.toml;
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
}
