"""The pages for administrators are true to the code: settings, commands, messages and kinds of failures."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from netautod.assembly.configuration import load
from netautod.assembly.settings import table
from netautod.cli import entry as cli
from netautod.core.settings.table import rows_of
from netautod.http.settings import ServerSettings
from netautod.transport.ssh.failures import FailureKind
from tests.repository.generated.installation import configuration
from tests.repository.generated.pages import GENERATED
from tests.support.manual import ROOT, blocks, page, pages, section

OPERATE = [
    name for name in pages() if name.startswith("operate/") and name.removesuffix(".md") not in GENERATED
]
PAGES = [*OPERATE, *(name for name in pages() if name.startswith("use/"))]
SETTINGS = [
    pytest.param(name, block.text, id=f"{name} {number}")
    for name in OPERATE
    for number, block in enumerate(blocks(page(name), "toml"))
]
MESSAGES = [
    pytest.param(line.strip(), id=line.strip()[:60])
    for name in ("operate/troubleshooting.md", "operate/device-failures.md")
    for block in blocks(page(name), "text")
    for line in block.text.splitlines()
    if not line.startswith("{")
]
_SHORTEST = 12  # characters of a message that are its own, not those of what it names


@cache
def setting_keys() -> dict[str, str]:
    """Return the environment variables of all settings by key, those of the plugins that we ship too."""
    rows = [*table()]
    for name, declared in configuration().plugins.sections.items():
        rows += rows_of(name, declared)
    return {row.key: row.variable for row in rows}


@cache
def other_names() -> set[str]:
    """Return permissions, events and audit actions: they look like settings."""
    texts = [page(name) for name in ("use/permissions.md", "use/events.md", "operate/audit-actions.md")]
    return set(re.findall(r"`([a-z_]+\.[a-z_]+)`", "".join(texts)))


@cache
def templates() -> list[re.Pattern[str]]:
    """Return the texts of the product as patterns: what is filled in may be anything."""
    found: set[str] = set()
    for folder in ("netautod", "plugins"):
        for path in (ROOT / folder).rglob("*.py"):
            found |= set(_texts(ast.parse(path.read_text(encoding="utf-8"))))
    # One word is a name that a message may hold, and no sentence.
    return [re.compile(_pattern(text), re.S) for text in found if " " in text.strip("\0 ")]


def _texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts of a program as a whole, with a NUL for what is filled in."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(one.value) if isinstance(one, ast.Constant) else "\0" for one in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


def _pattern(text: str) -> str:
    own = re.sub(r"\W", "", text)
    return re.escape(text.strip()).replace("\0", ".*?") if len(own) >= _SHORTEST else "(?!)"


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_printed_by_the_product(message: str) -> None:
    assert [found.pattern for found in templates() if found.search(message)]


def test_a_message_that_the_product_does_not_print_is_found() -> None:
    message = "netautod: cannot listen to the radio on 127.0.0.1:8080"
    assert [found.pattern for found in templates() if found.search(message)] == []


def test_every_kind_of_failure_has_its_section() -> None:
    text = page("operate/device-failures.md")
    assert set(re.findall(r"^## (\w+)$", text, re.M)) == set(get_args(FailureKind))


@pytest.mark.parametrize(("name", "text"), SETTINGS)
def test_settings_of_a_page_can_be_set(name: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "netautod.toml"
    file.write_text(text)
    file.chmod(0o600)
    warned: list[str] = []
    load(file=file, environment={}, flags={"data_dir": str(tmp_path)}, warn=warned.append)
    assert warned == []


@pytest.mark.parametrize("name", PAGES)
def test_settings_that_a_page_names_exist(name: str) -> None:
    known = setting_keys()
    sections = {key.partition(".")[0] for key in known if "." in key}
    text = page(name)
    keys = {
        key
        for key in re.findall(r"`([a-z_]+\.[a-z_]+)(?: = [^`]*)?`", text)
        if key.partition(".")[0] in sections and not key.endswith((".md", ".py", ".toml", ".key"))
    }
    keys -= other_names()
    assert {key.removesuffix("_file") for key in keys} <= {key.removesuffix("_file") for key in known}
    variables = set(re.findall(r"\bNETAUTOD_[A-Z_]+\b", text))
    assert {one.removesuffix("_FILE") for one in variables} <= {
        one.removesuffix("_FILE") for one in known.values()
    }


@pytest.mark.parametrize("name", PAGES)
def test_commands_that_a_page_names_exist(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in re.findall(r"`netautod ([a-z][a-z -]*[a-z])(?: [A-Z][A-Z ]*)?`", page(name)):
        with pytest.raises(SystemExit) as caught:
            cli.main([*words.split(), "--help"])
        assert caught.value.code == 0, words
        capsys.readouterr()


def test_the_origins_of_desktop_clients_are_no_risk() -> None:
    [block] = blocks(section(page("operate/settings.md"), "Let a desktop client in"), "toml")
    origins = tomllib.loads(block.text)["server"]["cors_origins"]
    assert "tauri://localhost" in origins
    server = ServerSettings(cors_origins=tuple(origins))
    assert [rule.name for rule in ServerSettings.RISKS if list(rule.found(server))] == []


def test_the_page_and_both_units_say_when_nodes_stop_together() -> None:
    page_text = section(page("operate/upgrade.md"), "Stop all nodes that share an environment")
    for text in (
        page_text,
        *((ROOT / "config" / name).read_text() for name in ("netautod.service", "netautod@.service")),
    ):
        plain = " ".join(text.replace("#", "").split())
        assert re.search(r"environment.*before `?pip`? replaces", plain), plain
