"""The reader of the tables of devices on their command line."""

from collections.abc import Callable

from netautod.plugin_api import Collector, hookimpl
from netautod_cli.collector import CliCollector
from netautod_cli.offload import Offload


@hookimpl
def netautod_register_collectors(register: Callable[[Collector], None]) -> None:
    register(CliCollector(Offload()))
