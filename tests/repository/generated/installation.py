"""The installation that the pages describe: the plugins of this repository and no settings of its own."""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint

from netautod.assembly.configuration import Configuration, load
from netautod.assembly.plugins import load_plugins
from netautod.plugin_host.loading.loader import installed
from netautod.plugin_host.manager import PluginManager


def _shipped() -> Iterable[EntryPoint]:
    return [entry for entry in installed() if entry.value.startswith("netautod_")]


def _refuse(warning: str) -> None:
    raise AssertionError(warning)


@cache
def configuration() -> Configuration:
    return load(file=None, environment={}, flags={}, warn=_refuse, found=_shipped)


@cache
def plugins() -> PluginManager:
    return load_plugins(configuration())
