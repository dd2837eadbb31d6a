"""Runs the script of the API's page in node, over the few parts of the DOM that it uses."""

import asyncio
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from netautod.http.docs_page import PAGE

# No innerHTML here: a script that wrote HTML instead of text would show nothing.
DOM = """
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
"""


async def rendered(described: dict[str, Any], folder: Path) -> dict[str, str]:
    """What the page shows of each opened route, by `METHOD /path`."""
    page = files("netautod.http").joinpath(PAGE).read_text(encoding="utf-8")
    (script,) = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    program, data = folder / "page.js", folder / "openapi.json"
    program.write_text(DOM + script, encoding="utf-8")
    data.write_text(json.dumps(described), encoding="utf-8")
    running = await asyncio.create_subprocess_exec(
        "node", str(program), str(data), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(30):
        out, problems = await running.communicate()
    assert running.returncode == 0, problems.decode()
    answer = json.loads(out)
    assert answer["failure"] == ""
    shown: dict[str, str] = answer["shown"]
    return shown
