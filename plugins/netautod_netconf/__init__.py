"""Reads the tables of devices over NETCONF."""

from collections.abc import Callable

from netautod.plugin_api import Collector, hookimpl
from netautod_netconf.collector import NetconfCollector


@hookimpl
def netautod_register_collectors(register: Callable[[Collector], None]) -> None:
    register(NetconfCollector())
