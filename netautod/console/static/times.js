// Shows <time> elements in the zone of the browser; their title stays UTC.
const shown = new Intl.DateTimeFormat("sv-SE", {dateStyle: "short", timeStyle: "short"});
const ofLog = new Intl.DateTimeFormat("sv-SE", {timeStyle: "medium"});
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export function showTimes(root) {
  for (const each of root.querySelectorAll("time[datetime]")) {
    const at = new Date(each.dateTime);
    if (!Number.isNaN(at.getTime())) each.textContent = ("clock" in each.dataset ? ofLog : shown).format(at);
  }
  for (const each of root.querySelectorAll("[data-zone]")) each.textContent = zone;
}

export function clock(moment) {
  return shown.format(moment).slice(-5);
}
