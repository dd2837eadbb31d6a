"""What a program sees as a fork is what it sees when it is executed."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs.forked import FORKS, Refused
from tests.support.programs.started import ROOT, started

TRACER = ROOT / "tests" / "repository" / "tracer"
TELLING = (sys.executable, "-m", "tests.support.programs.start_report")


async def told(folder: Path) -> tuple[int, dict[str, Any]]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TZ": "Asia/Tokyo"}
    begun = started(
        *(*TELLING, "a word", "--flag"), stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, cwd=folder
    )
    async with begun as process:
        out, err = await process.communicate(b"what is given")
    assert err == b"to the log\n"
    assert process.returncode is not None
    return process.returncode, json.loads(out)


async def test_a_fork_sees_what_an_executed_program_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, forked = await told(tmp_path)
    with monkeypatch.context() as changed:
        changed.setattr(FORKS, "_enabled", False)
        assert await told(tmp_path) == (code, forked)
    assert (code, forked["given"], forked["parent"]) == (7, "what is given", os.getpid())


async def test_its_end_is_told_however_it_comes() -> None:
    for number, end in ((signal.SIGTERM, "terminate"), (signal.SIGKILL, "kill")):
        process = await FORKS.start(TELLING, {"stdin": PIPE, "stdout": PIPE, "cwd": ROOT})
        assert process.stdin is not None
        assert process.returncode is None
        getattr(process, end)()
        async with asyncio.timeout(60):
            assert await process.wait() == -number
        with pytest.raises(ProcessLookupError):
            process.kill()


@pytest.mark.parametrize("way", ["cwd", "PYTHONPATH"])
async def test_the_code_of_another_checkout_is_executed(tmp_path: Path, way: str) -> None:
    (tmp_path / "netautod").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    with pytest.raises(Refused):
        await FORKS.start(TELLING, {"cwd": tmp_path} if way == "cwd" else {"env": environment})


@pytest.mark.parametrize(
    ("command", "options"),
    [
        pytest.param((sys.executable, "-c", "pass"), {}, id="no module"),
        pytest.param((sys.executable, "-m", "pip"), {}, id="a module of others"),
        pytest.param(("/bin/true", "-m", "netautod"), {}, id="another program"),
        pytest.param(TELLING, {"env": {"PYTHONHASHSEED": "1"}}, id="another beginning"),
        pytest.param(
            TELLING, {"env": {**os.environ, "PYTHONPATH": str(TRACER)}}, id="code before everything else"
        ),
        pytest.param(TELLING, {"start_new_session": True}, id="more than a fork can do"),
    ],
)
async def test_what_a_fork_cannot_have_is_executed(command: tuple[str, ...], options: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        await FORKS.start(command, options)
