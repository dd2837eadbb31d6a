// A box that ticks all boxes of one name: data-ticks names them. Without scripts it is not there.
export function offerTicks() {
  for (const all of document.querySelectorAll("input[data-ticks]")) {
    const boxes = [...all.form.elements].filter((box) => box.name === all.dataset.ticks);
    all.hidden = false;
    all.form.addEventListener("change", (event) => {
      if (event.target === all) for (const box of boxes) box.checked = all.checked;
      else all.checked = boxes.every((box) => box.checked);
    });
  }
}
