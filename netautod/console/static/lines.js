// Numbers of lines in a long text, of which only some are anchors: each can be clicked, and #L120 is found.
export function follow() {
  const box = document.querySelector("[data-lines]");
  if (!box) return;
  const numbers = box.querySelector(".numbers"), first = Number(box.dataset.lines);
  const show = () => {
    const wanted = /^#L(\d+)$/.exec(location.hash);
    if (!wanted || document.getElementById(wanted[0].slice(1))) return;
    const anchor = cut(numbers, Number(wanted[1]));
    if (anchor) location.replace(location.hash);
  };
  numbers.addEventListener("click", (event) => {
    if (event.target.closest("a")) return;
    const height = numbers.clientHeight - pad(numbers, "Top") - pad(numbers, "Bottom");
    const count = numbers.textContent.trim().split("\n").length;
    const y = event.clientY - numbers.getBoundingClientRect().top - pad(numbers, "Top");
    location.hash = `L${first + Math.floor((y * count) / height)}`;
  });
  addEventListener("hashchange", show);
  show();
}

const pad = (element, side) => parseFloat(getComputedStyle(element)[`padding${side}`]);

// Makes an anchor of the number of that line, within the text between two anchors.
function cut(numbers, line) {
  for (const text of numbers.childNodes) {
    if (text.nodeType !== Node.TEXT_NODE) continue;
    const at = `${text.data}`.indexOf(`\n${line}\n`);
    if (at < 0) continue;
    const anchor = document.createElement("a");
    anchor.id = `L${line}`;
    anchor.href = `#L${line}`;
    anchor.tabIndex = -1;
    anchor.textContent = line;
    const rest = text.splitText(at + 1);
    rest.data = rest.data.slice(String(line).length);
    numbers.insertBefore(anchor, rest);
    return anchor;
  }
  return null;
}
