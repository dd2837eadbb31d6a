"""plugins/README.md: its plugin works, its map names every page, and it is short."""

import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from netautod.assembly.settings import table
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager
from tests.support.guide import write_project
from tests.support.manual import ROOT, pages

README = ROOT / "plugins" / "README.md"
LONGEST = 80  # lines


@pytest.mark.parametrize("source", ["README", "hooks.md"])
def test_its_plugin_observes(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Load it, and the one of the page about hooks."""
    name = {"README": "acme_hello", "hooks.md": "acme_watch"}[source]
    text = README.read_text(encoding="utf-8") if source == "README" else None
    project = write_project(name, tmp_path, text=text)
    monkeypatch.syspath_prepend(project)
    entry = EntryPoint(name=name, value=name, group="netautod")
    loaded = LoadedPlugins.load(found=lambda: [entry], core=list(table()))
    assert len(loaded.implementations("netautod_execution_finished")) == 1
    assert [status.error for status in PluginManager(loaded).statuses] == [None]


def test_its_map_names_every_page_for_authors() -> None:
    links = re.findall(r"\]\(\.\./netautod/manual/(\S+?)\)", README.read_text(encoding="utf-8"))
    assert sorted({link for link in links if link.startswith("extend/")}) == [
        name for name in pages() if name.startswith("extend/")
    ]
    assert set(links) <= set(pages())


def test_it_is_short() -> None:
    assert README.read_text(encoding="utf-8").count("\n") <= LONGEST
