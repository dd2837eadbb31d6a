"""The collector of the tables of one device from its SNMP agent, each by itself: the failure of one costs no
other.
"""

from collections.abc import Awaitable, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from netautod.plugin_api import TABLES, Collected, DeviceFailed, Interface, PollTarget, Table
from netautod_snmp.addresses import read_addresses
from netautod_snmp.agent import Agent, Rows, WalkFailed
from netautod_snmp.aggregates import read_aggregates
from netautod_snmp.arp import read_arp
from netautod_snmp.forwarding import read_forwarding
from netautod_snmp.interfaces import InterfaceTable, interfaces_of, read_table
from netautod_snmp.neighbors import read_neighbors
from netautod_snmp.opening import opened
from netautod_snmp.status import SYS_UP_TIME, enterprise_in, read_status, read_system
from netautod_snmp.values import number
from netautod_snmp.vendors import CISCO
from netautod_snmp.vlan_table import VlanTable
from netautod_snmp.vlans import read_vlans

UP = 1  # ifOperStatus


class SnmpCollector:
    """The collector of SNMP 2c and 3."""

    transport: ClassVar[str] = "snmp"
    tables: ClassVar[frozenset[Table]] = frozenset(TABLES)

    async def collect(self, target: PollTarget, wanted: frozenset[Table]) -> Collected:
        async with opened(await target.snmp()) as agent:
            system = await read_system(agent)
            reading = _Reading(agent, system)
            await reading.read(wanted)
            return Collected(**reading.found, problems=reading.problems, latency_ms=agent.latency_ms)


class _Reading:
    def __init__(self, agent: Agent, system: Rows) -> None:
        self._agent = agent
        self._system = system
        self.found: dict[str, Any] = {}
        self.problems: dict[Table, str] = {}

    async def read(self, wanted: frozenset[Table]) -> None:
        agent, vendor = self._agent, enterprise_in(self._system)
        cisco = vendor == CISCO
        if "status" in wanted:
            await self._table("status", read_status(agent, self._system))
        if not wanted - {"status"}:
            return
        try:
            table = await read_table(agent, enterprise=vendor)  # all others name its interfaces
        except (WalkFailed, DeviceFailed) as exc:
            self.problems |= dict.fromkeys(wanted - {"status"}, exc.text)
            return
        vlans: VlanTable | None = None
        if wanted & {"vlans", "interfaces"} or (cisco and "mac" in wanted):
            vlans = await self._vlans(table, vendor, wanted="vlans" in wanted)
        if "interfaces" in wanted:
            natives = {} if vlans is None else vlans.natives
            await self._table("interfaces", self._interfaces(table, natives))
        if "neighbors" in wanted:
            await self._table("neighbors", read_neighbors(agent, table.ports, enterprise=vendor))
        if "arp" in wanted:
            await self._table("arp", read_arp(agent, table.ports))
        if "mac" in wanted:
            active = _active(table, vlans)
            await self._table("mac", read_forwarding(agent, table.ports, active=active, enterprise=vendor))

    async def _table(self, name: Table, reading: Awaitable[Any]) -> None:
        try:
            given = await reading
        except (WalkFailed, DeviceFailed) as exc:
            self.problems[name] = exc.text
            return
        if given is not None:
            self.found[name] = given

    async def _vlans(self, table: InterfaceTable, vendor: int | None, *, wanted: bool) -> VlanTable | None:
        try:
            vlans = await read_vlans(self._agent, table.ports, enterprise=vendor)
        except (WalkFailed, DeviceFailed) as exc:
            if wanted:
                self.problems["vlans"] = exc.text
            return None
        if wanted and vlans is not None:
            self.found["vlans"] = vlans.vlans
        return vlans

    async def _interfaces(self, table: InterfaceTable, natives: Mapping[int, int]) -> list[Interface]:
        types = {
            index: kind
            for index, value in table.columns["type"].items()
            if (kind := number(value)) is not None
        }
        return interfaces_of(
            table,
            now=datetime.now(UTC),
            uptime_ticks=number(self._system.get(SYS_UP_TIME)),
            addresses=await read_addresses(self._agent),
            vlans=natives,
            aggregates=await read_aggregates(self._agent, types, table.ports.names),
        )


def _active(table: InterfaceTable, vlans: VlanTable | None) -> set[int] | None:
    """Return the VLANs with a member that is up; None where no VLAN has known members."""
    if vlans is None:
        return set()
    if not any(vlan.tagged_interfaces or vlan.untagged_interfaces for vlan in vlans.vlans):
        return None
    up = {table.ports.names.get(index) for index, value in table.columns["oper"].items() if value == UP}
    return {
        vlan.vlan_id
        for vlan in vlans.vlans
        if not up.isdisjoint((*vlan.tagged_interfaces, *vlan.untagged_interfaces))
    }
