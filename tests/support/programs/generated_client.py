"""A Python client that openapi-python-client makes of a description, as the manual says, to be imported."""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.manual import blocks, page, section
from tests.support.programs.service import Finished, run

PACKAGE = "netautod_client"
SECONDS = 120.0


async def generated(description: Mapping[str, Any], folder: Path) -> Finished:
    """Writes the package into `folder`/client; what the generator could not make is in its output."""
    printed = section(page("use/api.md"), "Generate a client")
    (folder / "client.yaml").write_text(blocks(printed, "yaml")[0].text)
    (folder / "openapi.json").write_text(json.dumps(description))
    line, _ = blocks(printed, "sh")[0].text.splitlines()
    program, *arguments = shlex.split(line.replace("--url $url/api/openapi.json", "--path openapi.json"))
    assert program == "openapi-python-client"
    command = (sys.executable, "-m", "openapi_python_client")
    return await run(*arguments, command=command, cwd=folder, seconds=SECONDS)


async def installed(folder: Path) -> Path:
    """Where the package of `folder`/client is installed, without its dependencies, which the tests have."""
    target = folder / "site"
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--target", str(target))
    arguments = ("install", *options, str(folder / "client"))
    done = await run(*arguments, command=(sys.executable, "-m", "pip"), seconds=SECONDS)
    assert done.code == 0, done.out + done.err
    return target


@contextmanager
def importable(site: Path) -> Iterator[None]:
    sys.path.insert(0, str(site))
    try:
        yield
    finally:
        sys.path.remove(str(site))
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]
