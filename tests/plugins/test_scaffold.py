"""`netautod plugins new`: which names it takes, and that it overwrites nothing."""

import ast
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from netautod.assembly.settings import table
from netautod.cli import entry as cli
from netautod.core.errors import InvalidInput
from netautod.plugin_host.loading.loader import LoadedPlugins, PluginError
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.scaffold import KINDS, check_name, scaffold


@pytest.mark.parametrize(
    "name",
    ["a", "acme", "acme_ask", "a1", "a_1_b", "x" * 30],
)
def test_names_that_are_taken(name: str) -> None:
    check_name(name, list(table()))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "no name for a package"),
        ("Acme", "no name for a package"),
        ("acme-ask", "no name for a package"),
        ("acme.ask", "no name for a package"),
        ("1acme", "no name for a package"),
        ("_acme", "no name for a package"),
        ("acme_", "no name for a package"),
        ("a__b", "no name for a package"),
        ("acme ask", "no name for a package"),
        ("acme/ask", "no name for a package"),
        ("../acme", "no name for a package"),
        ("..", "no name for a package"),
        ("/acme", "no name for a package"),
        ("acme\\ask", "no name for a package"),
        ("acme\n", "no name for a package"),
        ("acme\0", "no name for a package"),
        ("ämter", "no name for a package"),
        ('a"; import os; "', "no name for a package"),
        ("{{acme}}", "no name for a package"),
        ("x" * 31, "more than 30 characters"),
        ("class", "a word of Python"),
        ("match", "a word of Python"),
        ("json", "a module of Python"),
        ("tests", "a module of Python or of the tests"),
        ("conftest", "a module of Python or of the tests"),
        ("netautod", "a name of netautod"),
        ("netautod_mine", "a name of netautod"),
        ("backup", "the plugin backup is installed"),
        ("ldap", "the plugin ldap is installed"),
        ("tornado", "a module tornado is installed"),
        ("server", "is a setting of the service itself"),
        ("mongodb", "is a setting of the service itself"),
    ],
)
def test_names_that_are_refused(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=message):
        scaffold(name, kind="executor", directory=tmp_path, core=list(table()))
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "acme").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("acme", "link"):
        with pytest.raises(InvalidInput, match="is there already: nothing is overwritten"):
            scaffold(name, kind="executor", directory=tmp_path, core=list(table()))
    with pytest.raises(InvalidInput, match="is no folder"):
        scaffold("acme", kind="executor", directory=tmp_path / "gone", core=list(table()))
    with pytest.raises(InvalidInput, match="'router' is none of executor"):
        scaffold("other", kind="router", directory=tmp_path, core=list(table()))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["acme", "link"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("begin", ["z", "a_plugin_with_a_name_of_almost"])
def test_no_placeholder_is_left_and_all_is_code(
    kind: str, begin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = begin[:29] + kind[0]  # each its own: modules stay imported
    project = scaffold(name, kind=kind, directory=tmp_path, core=list(table()))
    for path in project.rglob("*"):
        assert "my_plugin" not in path.name
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert not any(
                left in text for left in ("my_plugin", "my-plugin", "MY_PLUGIN", "@API@", "@WHAT@")
            )
            if path.suffix == ".py":
                ast.parse(text)
    project_file = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    assert project_file["project"]["entry-points"]["netautod"] == {name: name}
    monkeypatch.syspath_prepend(project)
    loaded = LoadedPlugins.load(table(), found=lambda: [EntryPoint(name=name, value=name, group="netautod")])
    assert [status.error for status in PluginManager(loaded).statuses] == [None]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["plugins", "new", "acme", "--kind", "collector", "--directory", str(tmp_path)]
    assert cli.main(command) == 0
    assert f"cd {tmp_path / 'acme'} && pytest" in capsys.readouterr().out
    assert cli.main(command) == 2
    assert "nothing is overwritten" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["plugins", "new", "other", "--kind", "router"])


def test_a_plugin_that_misses_a_newer_name_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check an import that fails for a name of the newer plugin API, of which the user need not know."""
    text = "from netautod.plugin_api import NotYet\n\nNETAUTOD_PLUGIN_API = '99.1'\n"
    (tmp_path / "acme_newer.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    entry = EntryPoint(name="acme_newer", value="acme_newer", group="netautod")
    manager = PluginManager(LoadedPlugins.load(table(), found=lambda: [entry]), required=["acme_newer"])
    with pytest.raises(PluginError, match=r"written for plugin API 99\.1.*netautod is too old for it"):
        manager.check_required()
