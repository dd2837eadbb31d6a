"""The reader of the devices of NetBox 3.7 to 4.x and Nautobot 2 and 3 for the inventory sync.

Sources: `netbox` and `nautobot`. Which of the two answers at an address is read from `/api/status/`. What
they send is mapped by `netbox_rows` and `nautobot_rows`, platforms to device types by `device_types`.
"""

from collections.abc import Callable

from netautod.plugin_api import OpenInventory, hookimpl
from netautod_netbox.nautobot import NautobotSource
from netautod_netbox.netbox import NetBoxSource

__all__ = ["NautobotSource", "NetBoxSource", "netautod_register_inventory_sources"]


@hookimpl
def netautod_register_inventory_sources(register: Callable[[str, OpenInventory], None]) -> None:
    register("netbox", NetBoxSource)
    register("nautobot", NautobotSource)
