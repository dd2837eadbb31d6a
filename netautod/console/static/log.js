// Follows the log of an execution by the numbers of its lines: quickly while it is seen, once a minute in a
// hidden tab. It goes on behind the last line that it has, whatever came between.
import {ask, stale} from "./live.js";
import {showTimes} from "./times.js";

const SEEN = 1000, HIDDEN = 60000, MOST = 1000;

export function tail() {
  const log = document.querySelector("[data-log]");
  if (!log) return;
  log.scrollTop = log.scrollHeight;
  if (log.dataset.complete === "true") return;
  const pause = document.querySelector("[data-pause]");
  let timer = 0, under = false, paused = false;
  const plan = (delay) => {
    clearTimeout(timer);
    if (!paused && log.dataset.complete !== "true") timer = setTimeout(next, delay);
  };

  async function next() {
    if (under) return;
    under = true;
    let more = false;
    try {
      more = add(log, await ask(behind(log)));
    } catch {
      stale(true);
    } finally {
      under = false;
      plan(more ? 0 : document.hidden ? HIDDEN : SEEN);
    }
  }

  document.addEventListener("visibilitychange", () => plan(document.hidden ? HIDDEN : 0));
  if (pause) {
    pause.hidden = false;
    pause.addEventListener("click", () => {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
      plan(0);
    });
  }
  plan(SEEN);
}

function behind(log) {
  const address = new URL(log.dataset.log, location.href);
  address.searchParams.set("after_seq", log.dataset.after);
  address.searchParams.set("limit", MOST);
  return address;
}

// Whether there may be more lines already. Nothing is added twice, and it scrolls only from the end.
function add(log, text) {
  const got = new DOMParser().parseFromString(text, "text/html").getElementById("lines");
  const last = Number(log.dataset.after);
  const lines = [...got.children].filter((line) => Number(line.dataset.seq) > last);
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 8;
  showTimes(got);
  log.append(...lines);
  while (log.children.length > MOST) log.firstElementChild.remove();
  log.dataset.after = got.dataset.after;
  log.dataset.complete = got.dataset.complete;
  if (atEnd && lines.length) log.scrollTop = log.scrollHeight;
  return lines.length >= MOST;
}
