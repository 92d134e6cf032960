// Questions to the server: JSON in, server-sent events out. Nothing is asked of any other host.

// Which page asks, so that none can take all the processes from the others.
const HEADERS = { "Content-Type": "application/json", "X-Endive-Page": String(Math.random()).slice(2) };

export async function getJson(path) {
  const response = await fetch(path);
  return response.json();
}

export async function postJson(path, body, signal) {
  const response = await fetch(path, { method: "POST", body: JSON.stringify(body), signal, headers: HEADERS });
  return response.json();
}

// Reads the events of a question until it ends; aborting the signal takes the question back.
export async function ask(path, body, signal, onEvent) {
  try {
    const response = await fetch(path, { method: "POST", body: JSON.stringify(body), signal, headers: HEADERS });
    if (!response.ok) {
      const found = await response.json();
      onEvent({ type: "refused", problems: found.problems });
      return;
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += value;
      const parts = text.split("\n\n");
      text = parts.pop();
      for (const part of parts) if (part.startsWith("data: ") && !signal.aborted) onEvent(JSON.parse(part.slice(6)));
    }
  } catch (error) {
    if (!signal.aborted) onEvent({ type: "failed", text: "The server does not answer. Is endive explore still running?" });
  }
}

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);
