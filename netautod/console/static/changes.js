// In a diff: n and j go to the next change, p and k to the one before, also over the end of a page.
export function step() {
  const changes = [...document.querySelectorAll("[data-change]")];
  if (!changes.length) return;
  document.addEventListener("keydown", (event) => {
    const by = {n: 1, j: 1, p: -1, k: -1}[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea, [contenteditable]")) return;
    event.preventDefault();
    go(changes, by);
  });
}

function go(changes, by) {
  const focused = changes.indexOf(document.activeElement?.closest("[data-change]"));
  const at = focused < 0 && by < 0 ? 0 : focused + by;
  if (!changes[at]) {
    document.querySelector(`.pager a[rel=${by > 0 ? "next" : "prev"}]`)?.click();
    return;
  }
  changes[at].focus({preventScroll: true});
  changes[at].scrollIntoView({block: "start"});
}
