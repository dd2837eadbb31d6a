"""The reader of the tables of devices over NETCONF, with documents of XML."""

from collections.abc import Callable

from netautod.plugin_api import Collector, ContentType, hookimpl
from netautod_netconf.collector import NetconfCollector
from netautod_netconf.documents import XML


@hookimpl
def netautod_register_collectors(register: Callable[[Collector], None]) -> None:
    register(NetconfCollector())


@hookimpl
def netautod_register_content_types(register: Callable[[ContentType], None]) -> None:
    register(XML)
