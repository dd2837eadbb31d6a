// Of the editor of tasks: only the parameters of the chosen type are shown.
export function edit() {
  const type = document.querySelector("select[name=task_type]");
  const parts = document.querySelectorAll("fieldset[data-type]");
  if (!type || !parts.length) return;
  const show = () => parts.forEach((part) => { part.hidden = part.dataset.type !== type.value; });
  type.addEventListener("change", show);
  show();
}
