"""The reader of the tables of devices from their SNMP agents."""

from collections.abc import Callable

from netautod.plugin_api import Collector, hookimpl
from netautod_snmp.collector import SnmpCollector


@hookimpl
def netautod_register_collectors(register: Callable[[Collector], None]) -> None:
    register(SnmpCollector())
