// Renews the parts of a page that carry data-live: quickly while it is seen, once a minute in a hidden tab.
// An element with data-live has an id; the answer of the same address has its new content.
import {clock, showTimes} from "./times.js";

const SEEN = 2000, HIDDEN = 60000, PATIENCE = 3000;
let fresh = new Date(), timer = 0, under = false;

export function begin() {
  if (!document.querySelector("[data-live]")) return;
  document.addEventListener("visibilitychange", () => plan(document.hidden ? HIDDEN : 0));
  plan(SEEN);
}

// All that the page fetches goes through here: one place shows that it is late, and that it is back.
export async function ask(address) {
  const answer = await fetch(address, {
    headers: {"X-Live": "1"}, signal: AbortSignal.timeout(PATIENCE), redirect: "manual", cache: "no-store",
  });
  if (answer.status === 401 || answer.status === 403) location.reload();
  if (!answer.ok) throw new Error(String(answer.status));
  const text = await answer.text();
  fresh = new Date();
  stale(false);
  return text;
}

export function stale(is) {
  const place = document.querySelector("[data-stale]");
  const text = is ? `not updated since ${clock(fresh)}` : "";
  if (place && place.textContent !== text) place.textContent = text;
}

function plan(delay) {
  clearTimeout(timer);
  timer = setTimeout(renew, delay);
}

async function renew() {
  if (under) return;
  under = true;
  try {
    const page = new DOMParser().parseFromString(await ask(location.href), "text/html");
    for (const old of document.querySelectorAll("[data-live]")) replace(old, page.getElementById(old.id));
  } catch {
    stale(true);
  } finally {
    under = false;
    if (document.querySelector("[data-live]")) plan(document.hidden ? HIDDEN : SEEN);
  }
}

// Not while the user works in it: a text that is selected or typed stays. What is unfolded stays so, by its id.
function replace(old, renewed) {
  if (!renewed) return old.removeAttribute("data-live");
  showTimes(renewed);
  for (const one of old.querySelectorAll("details[id]")) {
    const now = renewed.querySelector(`#${CSS.escape(one.id)}`);
    if (now) now.open = one.open;
  }
  if (busy(old)) return;
  if (!("live" in renewed.dataset)) old.removeAttribute("data-live");
  if (content(renewed) === content(old)) return;
  const focused = document.activeElement?.id;
  const ticked = new Set([...old.querySelectorAll("input:checked[id]")].map((box) => box.id));
  old.replaceChildren(...renewed.childNodes);
  for (const box of old.querySelectorAll("input[type=checkbox]")) if (ticked.has(box.id)) box.checked = true;
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus();
}

// The content without the tokens of forms, which differ each time.
function content(element) {
  return element.innerHTML.replace(/name="_xsrf" value="[^"]*"/g, "");
}

function busy(element) {
  const fields = [...element.querySelectorAll("input:not([type=checkbox], [type=hidden]), select, textarea")];
  const typing = fields.some((one) => one === document.activeElement || (one.defaultValue ?? one.value) !== one.value);
  const chosen = getSelection();
  return typing || (chosen && !chosen.isCollapsed && element.contains(chosen.anchorNode));
}
