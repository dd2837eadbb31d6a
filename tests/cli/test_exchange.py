"""The commands that take configs in and out, as their users see them."""

import asyncio
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from netautod.cli import entry as cli
from netautod.core.identity.caller import Caller, system_caller
from netautod.network.devices.schemas import DeviceRequest
from netautod.store.client import Database
from tests.support.installation import Installation

COMMUNITY = "pl4nted-c4nary"


def text(line: str) -> str:
    return f"version 15.2\nhostname sw1\nsnmp-server community {COMMUNITY} RO\n{line}\nend\n"


@dataclass(frozen=True, kw_only=True)
class Done:
    code: int
    out: str
    err: str


Run = Callable[..., Awaitable[Done]]


@pytest.fixture
def run(
    mongo_uri: str,
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """`done = await run("export-configs", "folder")`, on the database of the test."""
    monkeypatch.setattr("netautod.core.logs.setup.configure", lambda **_: None)
    monkeypatch.setenv("NETAUTOD_MONGODB_DATABASE", database.name)
    place = ("--data-dir", str(tmp_path), "--mongodb-uri", mongo_uri)

    async def call(*words: str) -> Done:
        code = await asyncio.to_thread(cli.main, [*words, *place])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Done(code=code, out=out, err=err)

    return call


@pytest.fixture
async def caller(installation: Installation) -> Caller:
    (organization,) = await installation.organizations.all()
    return system_caller(organization.id)


@pytest.fixture
async def switch(installation: Installation, caller: Caller) -> None:
    asked = {"name": "sw1", "host": "192.0.2.1", "device_type": "cisco_ios"}
    await installation.devices().devices.create(caller, DeviceRequest().load(asked))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Of Oxidized, with two versions of sw1 and a file of nobody."""
    folder = tmp_path / "oxidized"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for day, line in enumerate(("ip routing", "no ip routing"), 1):
        (folder / "sw1").write_text(text(line))
        (folder / "stranger").write_text(text(line))
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "update", "--date", f"2020-01-0{day}T00:00:00+00:00")
    return folder


def git(folder: Path, *arguments: str) -> str:
    names = ("-c", "user.name=o", "-c", "user.email=o@x")
    done = subprocess.run(
        ["git", "-C", str(folder), *names, *arguments], capture_output=True, check=True, text=True
    )
    return done.stdout


@pytest.mark.usefixtures("switch")
async def test_a_history_comes_in_and_goes_out(run: Run, repository: Path, tmp_path: Path) -> None:
    done = await run("import-configs", str(repository))
    assert (done.code, done.out.splitlines()) == (
        1,
        ["2 versions of 1 device imported, 0 unchanged", "stranger: no device has this name"],
    )
    done = await run("import-configs", str(repository))
    assert "0 versions of 0 devices imported" in done.out
    files, history = tmp_path / "files", tmp_path / "history"
    assert (await run("export-configs", str(files))).out.startswith("1 files written")
    assert (files / "sw1").read_text() == text("no ip routing").replace(COMMUNITY, "<hidden>")
    assert (await run("export-configs", str(files))).out == "0 files written, 1 were there already\n"
    assert (await run("export-configs", str(history), "--git", "--secrets")).code == 0
    dates = git(history, "log", "--reverse", "--format=%as", "--", "sw1").split()
    assert dates == ["2020-01-01", "2020-01-02"]
    assert git(history, "show", "HEAD:sw1") == text("no ip routing")


@pytest.mark.parametrize(
    ("folder", "flags", "code", "said"),
    [
        pytest.param("absent", (), 2, "there is no such folder", id="no such folder"),
        pytest.param(".", (), 2, "no git repository with commits", id="no repository"),
        pytest.param(
            "oxidized", ("--platform", "cisco_oss"), 2, "there is no platform 'cisco_oss'", id="no platform"
        ),
        pytest.param(
            "oxidized", ("--organization", "nobody"), 1, "Organization not found", id="no organization"
        ),
    ],
)
@pytest.mark.usefixtures("installation", "repository")
async def test_a_wrong_import(
    run: Run, tmp_path: Path, folder: str, flags: tuple[str, ...], code: int, said: str
) -> None:
    done = await run("import-configs", str(tmp_path / folder), *flags)
    assert (done.code, said in done.err) == (code, True), done


@pytest.mark.parametrize("name", ["ios", "cisco_xe", "cisco_ios_telnet"])
@pytest.mark.usefixtures("switch")
async def test_an_alias_says_what_the_texts_are(run: Run, repository: Path, name: str) -> None:
    done = await run("import-configs", str(repository), "--platform", name)
    assert "2 versions of 1 device imported" in done.out
