"""Sections of settings that plugins declare: which are refused, and what that does to the plugin."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from netautod.assembly.configuration import load
from netautod.assembly.settings import table
from netautod.core.settings.field import SettingsError
from netautod.plugin_api import Executor, PluginHost, hookimpl, setting
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import HostValues, PluginManager
from tests.plugin_host.conftest import Installed, errors


@dataclass(frozen=True, kw_only=True)
class Good:
    path: Path = setting(Path("/tmp"), "A path.")  # noqa: RUF009  # a Path is immutable
    names: tuple[str, ...] = setting((), "Names.")
    size: float = setting(1.5, "A size.")


@dataclass(kw_only=True)
class Thawed:
    size: int = setting(1, "A size.")


@dataclass(frozen=True, kw_only=True)
class Bare:
    size: int = 1


@dataclass(frozen=True, kw_only=True)
class Odd:
    sizes: list[int] = field(default_factory=list, metadata={"help": "Sizes."})


@dataclass(frozen=True, kw_only=True)
class Key:
    key: str = setting("", "A key.")


def declaring(*sections: Any) -> Any:
    made = ModuleType("plugin")

    def netautod_register_settings(register: Callable[[Any], None]) -> None:
        for section in sections:
            register(section)

    made.netautod_register_settings = hookimpl(netautod_register_settings)  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize(
    ("name", "sections", "error"),
    [
        pytest.param("server", [Good], r"\[server\] is a setting of the service itself", id="a core section"),
        pytest.param("data_dir", [Good], r"\[data_dir\] is a setting", id="a core setting without section"),
        pytest.param("a plugin", [Good], "a section cannot be named 'a plugin'", id="no name for TOML"),
        pytest.param(
            "server-tls",
            [Key],
            "NETAUTOD_SERVER_TLS_KEY is the variable of server.tls_key",
            id="a variable of the service",
        ),
        pytest.param("x", [Good, Key], "a plugin declares one section", id="two sections"),
        pytest.param("x", [Thawed], "Thawed is not frozen", id="not frozen"),
        pytest.param("x", [Bare], r"Bare.size is not made by setting\(", id="a plain field"),
        pytest.param("x", [Odd], "Odd.sizes: a setting cannot be of type list", id="a type that is none"),
        pytest.param("x", [Good()], "is declared by a frozen dataclass", id="a value"),
        pytest.param("x", [dict], "is declared by a frozen dataclass", id="another class"),
    ],
)
def test_what_cannot_be_declared(name: str, sections: list[Any], error: str) -> None:
    with pytest.raises((SettingsError, TypeError), match=error):
        LoadedPlugins.of({name: declaring(*sections)}, table())


def test_two_plugins_cannot_have_one_variable() -> None:
    with pytest.raises(SettingsError, match=r"NETAUTOD_MY_PLUGIN_PATH is the variable of my-plugin.path"):
        LoadedPlugins.of({"my-plugin": declaring(Good), "my_plugin": declaring(Good)})


def test_what_was_read_or_the_defaults_reach_the_host() -> None:
    hosts: list[PluginHost[Any]] = []

    def netautod_register_executors(register: Callable[[Executor], None], host: PluginHost[Any]) -> None:
        hosts.append(host)

    given = {"read": declaring(Good), "default": declaring(Good), "none": declaring()}
    for plugin in given.values():
        plugin.netautod_register_executors = hookimpl(netautod_register_executors)
    values = HostValues(settings={"read": Good(size=3.0)})
    PluginManager(LoadedPlugins.of(given), values=values).executors()
    assert sorted(str(host.settings) for host in hosts) == sorted([str(Good(size=3.0)), str(Good()), "None"])


CLAIMING = """
from dataclasses import dataclass
from netautod.plugin_api import SettingsError, hookimpl, setting

@dataclass(frozen=True, kw_only=True)
class Settings:
    size: int = setting(1, "A size.")

    def check(self):
        1 / (self.size - 2)

@hookimpl
def netautod_register_settings(register):
    register(Settings)
"""


def test_a_plugin_that_declares_wrongly_is_left_out_and_the_others_work(installed: Installed) -> None:
    installed.add("server", CLAIMING)
    installed.add("mine", CLAIMING)
    installed.add("raises", CLAIMING + "    raise RuntimeError('out of luck')\n")
    loaded = installed.load()
    assert list(loaded.sections) == ["mine"]
    assert errors(loaded) == {
        "mine": None,
        "raises": "RuntimeError: out of luck",
        "server": "SettingsError: [server] is a setting of the service itself",
    }


def test_the_first_of_two_plugins_of_one_name_has_the_section(installed: Installed, tmp_path: Path) -> None:
    first = installed.add("mine", CLAIMING)
    installed.add("mine", CLAIMING.replace("size", "length"))
    configuration = read(tmp_path, installed, "[mine]\nsize = 3\n")
    assert type(configuration.settings.of_plugins["mine"]).__module__ == first


def test_a_check_that_fails_in_another_way_leaves_its_plugin_out(
    installed: Installed, tmp_path: Path
) -> None:
    installed.add("mine", CLAIMING)
    installed.add("other", CLAIMING)
    warnings: list[str] = []
    text = "[mine]\nsize = 2\n[other]\nsize = 3\n"
    configuration = read(tmp_path, installed, text, warnings.append)
    said = "ZeroDivisionError: division by zero"
    assert configuration.failures == {"mine": f"the section mine cannot be checked: {said}"}
    assert warnings == [f"the section mine cannot be checked: {said}; the plugin is left out"]
    assert errors(configuration.plugins) == {"mine": said, "other": None}
    assert list(configuration.settings.of_plugins) == ["other"]


def test_a_plugin_without_a_section_has_none(installed: Installed, tmp_path: Path) -> None:
    installed.add("bare", "")
    with pytest.raises(SettingsError, match="unknown setting bare"):
        read(tmp_path, installed, "[bare]\nsize = 2\n")


def read(folder: Path, installed: Installed, text: str, warn: Callable[[str], Any] = pytest.fail) -> Any:
    file = folder / "netautod.toml"
    file.write_text(text)
    return load(file=file, environment={}, flags={}, warn=warn, found=lambda: installed.entries)
