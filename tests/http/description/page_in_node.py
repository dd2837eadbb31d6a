"""Runs the script of the API's page in node, over the few parts of the DOM that it uses."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from netautod.http.description.docs_page import PAGE
from tests.support.programs.service import run

DOM = Path(__file__).parents[2] / "data" / "page_dom.js"


async def rendered(described: dict[str, Any], folder: Path) -> dict[str, str]:
    """Return the page's text of each opened route, by `METHOD /path`."""
    page = files("netautod.http.description").joinpath(PAGE).read_text(encoding="utf-8")
    (script,) = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    program, data = folder / "page.js", folder / "openapi.json"
    program.write_text(DOM.read_text(encoding="utf-8") + script, encoding="utf-8")
    data.write_text(json.dumps(described), encoding="utf-8")
    done = await run(str(program), str(data), command=("node",), seconds=30)
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    assert answer["failure"] == ""
    shown: dict[str, str] = answer["shown"]
    return shown
