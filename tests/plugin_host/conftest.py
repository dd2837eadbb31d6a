"""Plugins as they are found: modules with entry points, in a folder of the test."""

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

from netautod.assembly.configuration import Configuration
from netautod.assembly.plugins import load_plugins
from netautod.assembly.settings import Settings, table
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager


class Installed:
    """Plugins that stand in a folder of the test instead of an installed distribution."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.entries: list[EntryPoint] = []
        self.built_in = False  # whether those that ship with the service are there as well

    def add(self, name: str, source: str) -> str:
        """A module of its own with an entry point of this name; answers the module's name."""
        module = f"{self.folder.name}_{name}_{len(self.entries)}"
        (self.folder / f"{module}.py").write_text(source)
        self.entries.append(EntryPoint(name=name, value=module, group="netautod"))
        return module

    def load(self, disabled: Iterable[str] = ()) -> LoadedPlugins:
        return LoadedPlugins.load(table(), disabled=disabled, found=self.found)

    def found(self) -> list[EntryPoint]:
        return [*self.entries, *(entry_points(group="netautod") if self.built_in else ())]

    def manager(self, *, required: Iterable[str] = (), disabled: Iterable[str] = ()) -> PluginManager:
        """As the service has it: what cannot be loaded is logged, or fatal."""
        configuration = Configuration(settings=Settings(), plugins=self.load(disabled))
        return load_plugins(configuration, required=required)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    folder = tmp_path / f"plugins_{tmp_path.name.replace('-', '_')}"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return Installed(folder)


def errors(plugins: LoadedPlugins | PluginManager) -> dict[str, str | None]:
    return {status.name: status.error for status in plugins.statuses}
