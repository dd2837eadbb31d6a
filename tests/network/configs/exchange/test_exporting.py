"""Stored configs as files and as a git repository: what is written and hidden, what a second run adds."""

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest

from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import SYSTEM_ID, Caller, system_caller
from netautod.network.configs.exchange.exporting import ConfigExport, Exported
from netautod.network.configs.exchange.file_names import file_names
from tests.network.configs.fleet import Fleet

CANARY = "pl4nted-c4nary"


def config(line: str) -> str:
    return f"hostname sw\nsnmp-server community {CANARY} RO\n{line}\n" + "! filler\n" * 20 + "end\n"


def exporting(fleet: Fleet, **fields: Any) -> ConfigExport:
    known: dict[str, Any] = {
        "store": fleet.installation.stores.configs,
        "texts": fleet.configs.texts,
        "devices": fleet.parts.devices.devices,
        "platforms": fleet.sessions.platforms,
        "audit": fleet.installation.audit,
        "clock": fleet.installation.clock,
        "names": {SYSTEM_ID: "cli"},
    }
    return ConfigExport(**{**known, **fields})


def caller(fleet: Fleet) -> Caller:
    return system_caller(fleet.org_id)


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=True, text=True)
    return done.stdout.strip()


async def exported(fleet: Fleet, folder: Path, *, secrets: bool = False) -> Exported:
    return await exporting(fleet).repository(caller(fleet), folder, secrets=secrets)


async def test_a_file_for_each_device_without_its_secrets(fleet: Fleet, tmp_path: Path) -> None:
    device_id = await fleet.stored("core", config("old"), config("new"))
    (await fleet.api.put(f"/api/devices/{device_id}", {"name": "core 1/a"})).expect()
    await fleet.stored("sw2", config("two"))
    folder = tmp_path / "out"
    done = await exporting(fleet).files(caller(fleet), folder, secrets=False)
    assert (done.written, done.unchanged) == (2, 0)
    texts = {path.name.partition("~")[0]: path.read_text() for path in folder.iterdir()}
    assert sorted(texts) == ["core_1_a", "sw2"]
    assert "\nnew\n" in texts["core_1_a"]
    assert not [name for name, text in texts.items() if CANARY in text or "<hidden>" not in text]
    again = await exporting(fleet).files(caller(fleet), folder, secrets=False)
    assert (again.written, again.unchanged) == (0, 2)


async def test_secrets_are_written_on_demand_and_audited(fleet: Fleet, tmp_path: Path) -> None:
    await fleet.stored("sw1", config("one"))
    await exporting(fleet).files(caller(fleet), tmp_path / "out", secrets=True)
    assert (tmp_path / "out" / "sw1").read_text() == config("one")
    assert (tmp_path / "out" / "sw1").stat().st_mode & 0o077 == 0
    (event,) = await fleet.audited("config.export")
    assert event["details"] == {"secrets": True, "git": False}


async def test_a_commit_for_each_version_in_the_order_of_time(fleet: Fleet, tmp_path: Path) -> None:
    await fleet.stored("sw1", config("one"), config("two"))
    await fleet.stored("sw2", config("three"))
    done = await exported(fleet, tmp_path / "out")
    assert (done.written, done.unchanged) == (3, 0)
    subjects = git(tmp_path / "out", "log", "--reverse", "--format=%s").split("\n")
    assert subjects == ["sw1 version 1", "sw1 version 2", "sw2 version 1"]
    assert git(tmp_path / "out", "status", "--porcelain") == ""
    assert CANARY not in git(tmp_path / "out", "log", "-p")
    assert "\ntwo\n" in (tmp_path / "out" / "sw1").read_text()
    rows = await fleet.rows("configs")
    dates = sorted(int(row["created_at"].timestamp()) for row in rows)
    assert [int(at) for at in git(tmp_path / "out", "log", "--reverse", "--format=%at").split()] == dates


async def test_again_adds_what_is_new(fleet: Fleet, tmp_path: Path) -> None:
    device_id = await fleet.stored("sw1", config("one"))
    await exported(fleet, tmp_path / "out")
    assert (await exported(fleet, tmp_path / "out")).written == 0
    tip = git(tmp_path / "out", "rev-parse", "HEAD")
    await fleet.stored("sw2", config("two"))
    (await fleet.api.put(f"/api/devices/{device_id}", {"name": "sw1-moved"})).expect()
    done = await exported(fleet, tmp_path / "out")
    assert (done.written, done.unchanged) == (1, 1)
    assert git(tmp_path / "out", "merge-base", "HEAD", tip) == tip
    assert sorted(git(tmp_path / "out", "ls-files").split()) == ["sw1-moved", "sw2"]
    assert (await fleet.api.delete(f"/api/devices/{device_id}")).status == 204
    await exported(fleet, tmp_path / "out")
    assert git(tmp_path / "out", "ls-files") == "sw2"


async def test_a_crash_in_the_middle_is_made_good_by_the_next_run(fleet: Fleet, tmp_path: Path) -> None:
    await fleet.stored("sw1", config("one"), config("two"))

    class Crash(Exception):
        pass

    export, loads = exporting(fleet), 0
    real = export._bytes

    async def dying(*arguments: Any) -> bytes | None:
        nonlocal loads
        loads += 1
        if loads == 2:
            raise Crash
        return await real(*arguments)

    export._bytes = dying  # type: ignore[method-assign, assignment]
    with pytest.raises(Crash):
        await export.repository(caller(fleet), tmp_path / "out", secrets=False)
    done = await exported(fleet, tmp_path / "out")
    assert done.written == 2
    assert len(git(tmp_path / "out", "log", "--format=%H").split()) == 2


@pytest.mark.parametrize("there", ["a file", "a repository of somebody", "an export with secrets"])
async def test_what_is_not_ours_is_left_alone(fleet: Fleet, tmp_path: Path, there: str) -> None:
    await fleet.stored("sw1", config("one"))
    if there == "an export with secrets":
        await exported(fleet, tmp_path / "out", secrets=True)
    else:
        folder = tmp_path / "out"
        await asyncio.to_thread(folder.mkdir)
        (folder / "mine").write_text("precious")
        if there == "a repository of somebody":
            git(folder, "init", "-q", "-b", "main")
            git(folder, "add", ".")
            git(folder, "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "mine")
    with pytest.raises(InvalidInput):
        await exported(fleet, tmp_path / "out")


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        pytest.param(["sw1", "core-1.example.com"], ["sw1", "core-1.example.com"], id="as they are"),
        pytest.param(["SW1", "sw1"], ["SW1~00000000", "sw1~11111111"], id="equal but for capitals"),
        pytest.param(["../../etc/passwd"], ["_.._etc_passwd~00000000"], id="a way out"),
        pytest.param([".git"], ["git~00000000"], id="git's own folder"),
        pytest.param(["nul"], ["nul~00000000"], id="a device of Windows"),
        pytest.param(["Zürich"], ["Z_rich~00000000"], id="an umlaut"),
        pytest.param(["a\nb"], ["a_b~00000000"], id="a line break"),
        pytest.param(["-rf"], ["-rf~00000000"], id="what looks like a flag"),
    ],
)
def test_names_of_files(names: list[str], wanted: list[str]) -> None:
    devices = {str(number) * 8 + "-x": name for number, name in enumerate(names)}
    assert list(file_names(devices).values()) == wanted
