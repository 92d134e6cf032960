// What is on screen: a start, what was changed of it, the key that varies, and what is pinned. The address holds it all.

export const state = { start: null, changes: {}, vary: null, pin: null };
let answered = null; // the question that was answered last: what is refused, or not yet answered, is not kept

const encode = (question) => [
  ["start", question.start],
  ...Object.entries(question.changes).map(([key, text]) => (text === null ? ["without", key] : ["set", key + "=" + text])),
];

export function question(withVary = true) {
  return { start: state.start, changes: state.changes, ...(withVary ? { vary: state.vary } : {}) };
}

export function linkText() {
  const parts = encode(answered ?? state);
  if (state.vary) parts.push(["vary", state.vary]);
  if (state.pin) parts.push(["pin", new URLSearchParams(encode(state.pin)).toString()]);
  return new URLSearchParams(parts).toString();
}

function decode(text) {
  const found = { start: null, changes: {}, vary: null, pin: null };
  for (const [name, value] of new URLSearchParams(text)) {
    if (name === "start") found.start = value;
    else if (name === "vary") found.vary = value;
    else if (name === "without") found.changes[value] = null;
    else if (name === "pin") found.pin = value;
    else if (name === "set" && value.includes("=")) found.changes[value.slice(0, value.indexOf("="))] = value.slice(value.indexOf("=") + 1);
  }
  return found;
}

export function readLink() {
  const found = decode(location.hash.slice(1));
  if (found.pin) {
    const { start, changes } = decode(found.pin);
    found.pin = { start, changes };
  }
  return found;
}

const SETTLED_MS = 1000; // a slider that is dragged is one step back, not a hundred
let writtenMs = -SETTLED_MS;

export const forgetAnswered = () => { answered = null; };

export function keepAnswered(asked) {
  answered = asked;
  writeLink();
}

export function writeLink() {
  const link = "#" + linkText();
  if (link === location.hash) return;
  const isStep = location.hash !== "" && performance.now() - writtenMs > SETTLED_MS;
  writtenMs = performance.now();
  history[isStep ? "pushState" : "replaceState"](null, "", link);
}
