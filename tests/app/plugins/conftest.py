"""Plugins as they are found: modules with entry points, in a folder of the test."""

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from netautod.app.plugins.manager import PluginManager


class Installed:
    """Plugins that stand in a folder of the test instead of an installed distribution."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.entries: list[EntryPoint] = []

    def add(self, name: str, source: str) -> str:
        """A module of its own with an entry point of this name; answers the module's name."""
        module = f"{self.folder.name}_{name}_{len(self.entries)}"
        (self.folder / f"{module}.py").write_text(source)
        self.entries.append(EntryPoint(name=name, value=module, group="netautod"))
        return module

    def load(self, **options: Any) -> PluginManager:
        return PluginManager.load(found=lambda: self.entries, **options)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    folder = tmp_path / f"plugins_{tmp_path.name.replace('-', '_')}"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return Installed(folder)


def errors(manager: PluginManager) -> dict[str, str | None]:
    return {status.name: status.error for status in manager.statuses}
