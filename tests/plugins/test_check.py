"""`netautod plugins check`: all that is wrong with a plugin in plain sentences, without its effects."""

import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.plugins.broken_plugins import BROKEN, GOOD, HANGING, PYPROJECT, Broken

ROOT = Path(__file__).parents[2]
Messages = dict[str, list[str]]


def checked(paths: Iterable[Path], *options: str) -> tuple[int, Messages]:
    """Return the exit code, and the lines about each path by its name."""
    paths = list(paths)
    command = [sys.executable, "-m", "netautod", "plugins", "check", *options, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=110)
    assert done.stderr == ""
    messages: Messages = {}
    for line in done.stdout.splitlines():
        head = next((path for path in paths if line.startswith(f"{path}: ")), None)
        if head is not None:
            messages[head.name] = []
        list(messages.values())[-1].append(line)
    return done.returncode, messages


def written(broken: Iterable[Broken], folder: Path) -> list[Path]:
    paths = []
    for number, one in enumerate(broken):
        path = folder / f"{number:03}"
        one.write(path)
        paths.append(path)
    return paths


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> Messages:
    """Return the output about all broken plugins, by their numbers; in one call, which is wrong as a
    whole.
    """
    code, found = checked(written(BROKEN, tmp_path_factory.mktemp("broken")))
    assert code == 1
    return found


@pytest.mark.parametrize("number", [pytest.param(n, id=one.id) for n, one in enumerate(BROKEN)])
def test_what_is_wrong_is_reported(messages: Messages, number: int) -> None:
    text = "\n".join(line for line in messages[f"{number:03}"] if line.startswith("  wrong: "))
    assert [words for words in BROKEN[number].messages if words not in text] == [], messages[f"{number:03}"]


def test_a_plugin_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    code, found = checked(written(HANGING, tmp_path), "--seconds", "2")
    assert code == 1
    for one, lines in zip(HANGING, found.values(), strict=True):
        assert one.messages[0] in "\n".join(lines)


def test_a_good_plugin_in_every_form(tmp_path: Path) -> None:
    project = tmp_path / "project"
    Broken(id="good", messages=()).write(project)
    moved = tmp_path / "moved"
    Broken(id="src", messages=(), files={"acme/__init__.py": None, "src/acme/__init__.py": GOOD}).write(moved)
    by_setup = tmp_path / "by_setup"
    setup = "setup(name='acme', version='3', packages=['acme'], entry_points={'netautod': ['acme = acme']})"
    files = {"pyproject.toml": None, "setup.py": f"from setuptools import setup\n{setup}\n"}
    Broken(id="setup", messages=(), files=files).write(by_setup)
    wheel = tmp_path / "acme-1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("acme/__init__.py", GOOD)
        archive.writestr("acme-1.2.dist-info/entry_points.txt", "[netautod]\nacme = acme\n")
    paths = [project, moved, by_setup, wheel, project / "acme"]
    code, found = checked(paths)
    assert [path.name for path in paths] == list(found)
    assert [lines[0].partition(": ")[2] for lines in found.values()] == [
        "acme 1.2: it can be installed",
        "acme 1.2: it can be installed",
        "acme 3: it can be installed",
        "acme 1.2: it can be installed",
        "acme: it can be installed",
    ]
    assert all("  executors: acme_ask" in lines for lines in found.values())
    assert code == 0
    assert not list(tmp_path.rglob("__pycache__"))


_PLATFORM = """
name = "acme_os"
channel = "shell"
sources = ["a made-up vendor"]
prompts = { config = '(?P<host>\\w+)#$' }
capture.items = [{ command = "show config" }]
change = { enter = ["setup"], leave = ["leave"]LINES }
"""
_REGISTERS = """
from pathlib import Path
from netautod.plugin_api import hookimpl

@hookimpl
def netautod_register_platforms(register):
    register(Path(__file__).with_name("acme_os.toml"))
"""


@pytest.mark.parametrize(
    ("lines", "kind", "words"),
    [
        pytest.param("", "note", "acme_os.toml: [change] has no [change.lines]", id="no list"),
        pytest.param(', lines = { words = ["ip"] }', "note", None, id="a list"),
        pytest.param(', lines = { words = ["do"] }', "wrong", "words: 'do' runs commands", id="do in it"),
        pytest.param(', lines = { word = ["ip"] }', "wrong", "unknown key 'word'", id="an unknown key"),
    ],
)
def test_the_lines_of_a_platform(tmp_path: Path, lines: str, kind: str, words: str | None) -> None:
    files: dict[str, str | None] = {
        "acme/__init__.py": _REGISTERS,
        "acme/acme_os.toml": _PLATFORM.replace("LINES", lines),
    }
    Broken(id="lines", messages=(), files=files).write(tmp_path / "project")
    code, found = checked([tmp_path / "project"])
    shown = [line for line in found["project"] if line.startswith(f"  {kind}: ") and "change" in line]
    assert len(shown) == (0 if words is None else 1), found
    assert words is None or words in shown[0]
    assert code == (1 if kind == "wrong" else 0)


def test_what_is_no_plugin(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "no-zip.whl").write_bytes(b"no zip")
    (tmp_path / "acme.tar.gz").write_bytes(b"")
    with zipfile.ZipFile(tmp_path / "empty.whl", "w"):
        pass
    wanted = {
        "no-zip.whl": "the wheel cannot be read",
        "empty.whl": "a wheel has one folder .dist-info, not 0",
        "acme.tar.gz": "a plugin is a project, a package or a wheel",
        "folder": "no pyproject.toml, setup.py or setup.cfg",
        "gone": "there is no such file or folder",
    }
    code, found = checked(tmp_path / name for name in wanted)
    assert code == 1
    assert [name for name, words in wanted.items() if words not in found[name][1]] == []


def test_the_corpus_is_large() -> None:
    assert len(BROKEN) + len(HANGING) >= 80
    assert PYPROJECT
