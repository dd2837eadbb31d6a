"""Commands of the manual, run as printed in one bash: each must succeed."""

import asyncio
import os
import shlex
from asyncio.subprocess import PIPE
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.programs.service import NETAUTOD, Finished, environment
from tests.support.programs.started import not_installed, program, started

SECONDS = 240.0
# An answer with an error of HTTP fails the command, unless the command prints the status itself.
CURL = """#!/bin/sh
for word; do case $word in *http_code*) exec {curl} "$@" ;; esac; done
exec {curl} --fail-with-body "$@"
"""


async def run_commands(
    blocks: Sequence[str],
    home: Path,
    *,
    variables: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> Finished:
    """Run the blocks in order in `home`/work, with `netautod` on the path; the first failure ends them.

    `home` is the home folder of the commands, so `netautod` finds the data folder below it. The output of a
    command is in `out`, the commands themselves (bash's `-x`) and what they complain of in `err`.
    """
    folder = home / "work"
    folder.mkdir(parents=True, exist_ok=True)
    ours = {"HOME": str(home), "PATH": f"{_programs(home / 'bin')}:{os.environ['PATH']}"}
    script = home / "commands.sh"
    script.write_text("\n".join(blocks))
    bash = started(
        "bash",
        *("-euxo", "pipefail", str(script)),
        stdout=PIPE,
        stderr=PIPE,
        slow_to_leave=True,
        env=environment(**(variables or {}), **ours),
        cwd=folder,
    )
    async with asyncio.timeout(seconds), bash as process:
        out, err = await process.communicate()
    assert process.returncode is not None
    return Finished(code=process.returncode, out=out.decode(), err=err.decode())


def _programs(folder: Path) -> Path:
    """Return the folder with the programs that the commands find first."""
    curl = program("curl")
    if curl is None or program("jq") is None:
        not_installed("no curl or jq (apt packages curl and jq)")
    folder.mkdir(exist_ok=True)
    ours = f'#!/bin/sh\nexec {shlex.join(NETAUTOD)} "$@"\n'
    for name, text in {"netautod": ours, "curl": CURL.format(curl=curl)}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder
