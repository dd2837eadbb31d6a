"""The collector of the tables of one device over NETCONF: an operation that is refused costs only
its table.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from itertools import islice
from typing import Any, ClassVar

from netautod.plugin_api import TABLES, Collected, DeviceFailed, PollTarget, Table
from netautod_netconf import iosxr, junos
from netautod_netconf.session import RpcFailed, Session

PORT = 830  # RFC 6242
AT_ONCE = 500  # rows that are made without a pause
MOST_ROWS = 250_000
Reads = Mapping[Table, Callable[[Session], Awaitable[Iterable[Any]]]]
JUNOS: Reads = {
    "status": junos.status,
    "interfaces": junos.interfaces,
    "neighbors": junos.neighbors,
    "mac": junos.forwarding,
    "arp": junos.arp,
    "vlans": junos.vlans,
}
IOS_XR: Reads = {
    "status": iosxr.status,
    "interfaces": iosxr.interfaces,
    "neighbors": iosxr.neighbors,
    "mac": iosxr.forwarding,
    "arp": iosxr.arp,
}
# What a capability of the device holds.
KNOWN = {"http://xml.juniper.net/": JUNOS, "http://cisco.com/ns/yang/Cisco-IOS-XR": IOS_XR}
BY_TYPE = {"juniper_junos": JUNOS, "cisco_xr": IOS_XR}


class NetconfCollector:
    """The collector of devices with `automation_transport: netconf`: Junos and IOS XR."""

    transport: ClassVar[str] = "netconf"
    tables: ClassVar[frozenset[Table]] = frozenset(TABLES)

    async def collect(self, target: PollTarget, wanted: frozenset[Table]) -> Collected:
        async with target.connect("netconf", port=PORT) as channel:
            session = Session(channel)
            await session.begin()
            reads = _reads_of(session, target)
            found: dict[str, Any] = {}
            problems: dict[Table, str] = {}
            for table in (one for one in TABLES if one in wanted and one in reads):
                try:
                    rows = await _made(await reads[table](session))
                except RpcFailed as exc:
                    problems[table] = exc.text
                except DeviceFailed as exc:
                    if not found and not problems:
                        raise
                    left = [one for one in TABLES if one in wanted and one in reads and one not in found]
                    problems |= {one: problems.get(one, exc.text) for one in left}
                    break
                else:
                    found[table] = rows[0] if table == "status" else rows
            return Collected(**found, problems=problems)


def _reads_of(session: Session, target: PollTarget) -> Reads:
    for beginning, reads in KNOWN.items():
        if any(one.startswith(beginning) for one in session.capabilities):
            return reads
    if target.device_type in BY_TYPE:
        return BY_TYPE[target.device_type]
    raise DeviceFailed("it is neither Junos nor IOS XR that answers NETCONF here", kind="refused")


async def _made(rows: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    left = iter(rows)
    while some := list(islice(left, AT_ONCE)):
        found += some
        await asyncio.sleep(0)
        if len(found) > MOST_ROWS:
            raise RpcFailed(f"more than {MOST_ROWS} rows")
    return found
