"""The reader of the tables of Arista's switches from their command API."""

from collections.abc import Callable

from netautod.plugin_api import Collector, hookimpl
from netautod_eapi.collector import EapiCollector


@hookimpl
def netautod_register_collectors(register: Callable[[Collector], None]) -> None:
    register(EapiCollector())
