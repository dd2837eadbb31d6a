// The command palette (Ctrl-K): links of the navigation, actions of the page, and what /find has for the text.
// A combobox with a listbox (WAI-ARIA Authoring Practices): the focus stays in the text field.
const MOST = 14, PAUSE = 200;
let dialog, input, list, status, options = [], found = [], at = 0, timer = 0, asking = null;

export function offerPalette() {
  if (!document.querySelector("nav")) return;
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    open();
  });
}

function open() {
  if (!dialog) build();
  if (dialog.open) return;
  input.value = "";
  found = [];
  dialog.showModal();
  show();
}

function build() {
  dialog = element("dialog", {class: "palette", "aria-label": "Command palette"});
  input = element("input", {type: "text", role: "combobox", "aria-label": "Page, action, device or address",
    "aria-autocomplete": "list", "aria-expanded": "true", "aria-controls": "palette-list", autocomplete: "off", maxlength: "255"});
  list = element("ul", {id: "palette-list", role: "listbox", "aria-label": "Pages, actions and what is found"});
  status = element("p", {class: "hidden", role: "status"});
  dialog.append(input, list, status);
  document.body.append(dialog);
  input.addEventListener("input", typed);
  input.addEventListener("keydown", pressed);
  list.addEventListener("click", (event) => {
    const place = [...list.children].indexOf(event.target.closest("[role=option]"));
    if (place >= 0) go(options[place]);
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => asking?.abort());
}

function element(name, attributes = {}, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

function typed() {
  clearTimeout(timer);
  asking?.abort();
  found = [];
  if (input.value.trim().length > 1 && document.getElementById("search")) timer = setTimeout(ask, PAUSE);
  at = 0;
  show();
}

async function ask() {
  const asked = asking = new AbortController();
  try {
    const answer = await fetch(`/find?q=${encodeURIComponent(input.value.trim())}`, {
      headers: {"X-Live": "1"}, signal: asked.signal, redirect: "manual", cache: "no-store",
    });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (asked.signal.aborted) return;
    found = [...page.querySelectorAll("[data-found]")].flatMap(ofSection);
    show();
  } catch {
    // Left as it is: pages and actions are there, and the next key asks again.
  }
}

function ofSection(section) {
  const links = section.querySelectorAll(section.matches("p") ? "a" : "td:first-child a, li a");
  return [...links].slice(0, 5).map((link) => {
    const port = section.dataset.found === "Ports" ? link.closest("td").nextElementSibling.textContent.trim() : "";
    return {text: [link.textContent.trim(), port].filter(Boolean).join(" "), group: section.dataset.found, link};
  });
}

function own() {
  const actions = document.querySelectorAll(".title .actions a, .title .actions button, .tabs a");
  const pages = document.querySelectorAll("nav a, .who a");
  const named = (group) => (link) => ({text: link.getAttribute("aria-label") || link.textContent.trim(), group, link});
  return [...[...actions].map(named("Here")), ...[...pages].map(named("Go to"))];
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = own().filter((one) => words.every((word) => one.text.toLowerCase().includes(word)));
  options = words.length ? [...fitting.slice(0, 5), ...found].slice(0, MOST) : fitting;
  list.replaceChildren(...options.map((one, place) => {
    const option = element("li", {role: "option", id: `palette-${place}`, "aria-selected": "false"}, one.text);
    option.append(" ", element("small", {}, one.group));
    return option;
  }));
  status.textContent = options.length ? `${options.length} ${options.length === 1 ? "result" : "results"}` : "No results";
  mark(Math.min(at, options.length - 1));
}

function mark(place) {
  at = Math.max(0, place);
  [...list.children].forEach((option, each) => option.setAttribute("aria-selected", String(each === at)));
  const chosen = list.children[at];
  if (chosen) input.setAttribute("aria-activedescendant", chosen.id);
  else input.removeAttribute("aria-activedescendant");
  chosen?.scrollIntoView({block: "nearest"});
}

function pressed(event) {
  const last = options.length - 1;
  const moves = {ArrowDown: at < last ? at + 1 : 0, ArrowUp: at > 0 ? at - 1 : last, PageUp: 0, PageDown: last};
  if (event.key in moves) mark(moves[event.key]);
  else if (event.key === "Enter" && !event.isComposing) go(options[at]);
  else return;
  event.preventDefault();
}

function go(option) {
  if (!option) return;
  dialog.close();
  if (option.link.matches("button")) option.link.click();
  else location.assign(option.link.getAttribute("href"));
}
