// The few parts of the DOM that the page of the API uses. No innerHTML: a script that wrote HTML instead of text would show nothing.
class Node {
  constructor(name) {
    Object.assign(this, { name, children: [], text: "", dataset: {}, handlers: {} });
  }
  get textContent() { return this.text + this.children.map((one) => one.textContent).join(" "); }
  set textContent(text) { this.children = []; this.text = String(text); }
  appendChild(one) { this.children.push(one); return one; }
  append(...more) { this.children.push(...more); }
  replaceChildren() { this.children = []; this.text = ""; }
  addEventListener(kind, call) { this.handlers[kind] = call; }
  all(name) {
    return this.children.flatMap((one) => [...(one.name === name ? [one] : []), ...one.all(name)]);
  }
}
const parts = {};
const document = {
  createElement: (name) => new Node(name),
  getElementById: (id) => parts[id] ??= new Node(id),
};
const described = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
const fetch = async (url) => ({ ok: url === "openapi.json", status: 200, json: async () => described });
setTimeout(() => {
  const shown = {};
  for (const route of parts.routes.all("details")) {
    const [head] = route.children;
    const key = head.children[0].textContent + " " + head.children[1].textContent;
    route.handlers.toggle();
    shown[key] = route.textContent;
  }
  console.log(JSON.stringify({ shown, failure: parts.routes.text }));
}, 0);
