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

// What the page itself fetches goes through here, so that there is one way to be late and to be back.
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
    plan(document.hidden ? HIDDEN : SEEN);
  }
}

// Not while somebody works in it: a menu that is open, a text that is selected or typed stays.
function replace(old, renewed) {
  if (!renewed) return;
  showTimes(renewed);
  if (renewed.innerHTML === old.innerHTML || busy(old)) return;
  const focused = document.activeElement?.id;
  old.replaceChildren(...renewed.childNodes);
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus();
}

function busy(element) {
  const typing = element.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");
  const chosen = getSelection();
  return typing || (chosen && !chosen.isCollapsed && element.contains(chosen.anchorNode));
}
