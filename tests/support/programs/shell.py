"""Commands of the manual, run as printed in one bash: each must succeed."""

import asyncio
import os
import shlex
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.programs.service import NETAUTOD, Finished, environment
from tests.support.programs.started import not_installed, program, started

SECONDS = 240.0
_DONE = "the-block-is-done"
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
    ours = {"HOME": str(home), "PATH": f"{programs(home / 'bin')}:{os.environ['PATH']}"}
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


def programs(folder: Path, **commands: Sequence[str]) -> Path:
    """Make the folder with the programs that the commands find first, and return it.

    Beside `netautod` and a `curl` that fails on errors of HTTP these are `commands` by their names.
    """
    curl = program("curl")
    if curl is None or program("jq") is None:
        not_installed("no curl or jq (apt packages curl and jq)")
    folder.mkdir(exist_ok=True)
    texts = {
        name: f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'
        for name, words in {"netautod": NETAUTOD, **commands}.items()
    }
    for name, text in {"curl": CURL.format(curl=curl), **texts}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


class Terminal:
    """A bash that runs one block of commands after the other, as a person types them."""

    def __init__(self, process: Process, folder: Path) -> None:
        self._process, self._script = process, folder / "block.sh"

    async def enter(self, block: str, seconds: float = SECONDS) -> str:
        """Run a block and return what it prints; an error of one of its commands is one of the test."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._script.write_text(block)
        self._process.stdin.write(f"source {self._script} < /dev/null; echo {_DONE}\n".encode())
        printed: list[str] = []
        async with asyncio.timeout(seconds):
            while line := (await self._process.stdout.readline()).decode():
                if line.rstrip("\n").endswith(_DONE):
                    return "".join([*printed, line.rstrip("\n").removesuffix(_DONE)])
                printed.append(line)
        raise AssertionError(f"failed: {block}{''.join(printed)[-4000:]}")


@asynccontextmanager
async def terminal(folder: Path, variables: Mapping[str, str]) -> AsyncIterator[Terminal]:
    """Start a bash in the folder `work` below the given one; the end of the block ends it."""
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    bash = started(
        "bash",
        *("-euo", "pipefail"),
        stdin=PIPE,
        stdout=PIPE,
        stderr=STDOUT,
        slow_to_leave=True,
        env=dict(variables),
        cwd=work,
    )
    async with bash as process:
        yield Terminal(process, folder)
