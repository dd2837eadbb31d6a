// The keys of every page: / goes to the search box.
export function listen() {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea, [contenteditable]")) return;
    const search = document.getElementById("search");
    if (!search) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
}
