"""The worked example of the guide for plugin authors: its very text is a plugin that works."""

import inspect
import re
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest

from netautod.assembly.settings import table
from netautod.plugin_host.loading.loader import LoadedPlugins, PluginError
from netautod.plugin_host.manager import PluginManager
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.platform.toml_file import TomlTable
from tests.support.guide import write_example
from tests.support.manual import page

_TESTS = (
    "test_two_readings_of_an_idle_device_are_equal",
    "test_a_new_password_is_a_change_and_is_not_shown",
    "test_the_pager_and_enable",
    "test_half_a_config_is_refused",
)


@pytest.fixture
def importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the files of the guide, from which they can be imported."""
    write_example("acme_platform", "test_acme_os", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("acme_platform", "test_acme_os"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


@pytest.fixture
def manager(importable: Path) -> PluginManager:
    entry = EntryPoint(name="acme_platform", value="acme_platform", group="netautod")
    return PluginManager(LoadedPlugins.load(table(), found=lambda: [entry]), required=["acme_platform"])


@pytest.fixture
def its_tests(manager: PluginManager) -> ModuleType:
    return import_module("test_acme_os")


def test_the_example_registers_its_platform(manager: PluginManager) -> None:
    platforms = PlatformRegistry()
    manager.register_platforms(platforms.register)
    assert platforms.get("acme_switch").name == "acme_os"
    assert [status.error for status in manager.statuses] == [None]


@pytest.mark.parametrize("name", _TESTS)
async def test_the_tests_of_the_example_pass(its_tests: ModuleType, name: str) -> None:
    await cast("Callable[[], Awaitable[None]]", getattr(its_tests, name))()


def test_no_test_of_the_example_is_forgotten(its_tests: ModuleType) -> None:
    found = [name for name, value in vars(its_tests).items() if inspect.iscoroutinefunction(value)]
    assert sorted(name for name in found if name.startswith("test_")) == sorted(_TESTS)


def test_the_page_of_keys_names_every_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare with the keys that the reader of the files takes."""
    taken: set[str] = set()
    take = TomlTable._take

    def noted(self: TomlTable, key: str) -> object:
        taken.add(key)
        return take(self, key)

    monkeypatch.setattr(TomlTable, "_take", noted)
    PlatformRegistry()
    text = page("extend/platform-keys.md")
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]*`", text))))
    assert sorted(taken - named) == []


def test_a_faulty_file_is_named_with_its_key(importable: Path, manager: PluginManager) -> None:
    path = importable / "acme_platform" / "acme_os.toml"
    path.write_text(path.read_text().replace("end_marker", "end_mark"))
    with pytest.raises(PluginError, match="unknown key 'end_mark'"):
        manager.register_platforms(PlatformRegistry().register)
