"""The local ports of neighbors of RouterOS up to 7.6, which LLDP-MIB's index lacks there."""

from collections.abc import Mapping

from netautod_snmp.agent import Agent, Rows
from netautod_snmp.values import by_number, number, numbers

INTERFACE = "1.3.6.1.4.1.14988.1.1.11.1.1.8"  # mtxrNeighborInterfaceID: an ifIndex; index: number


async def with_local_ports(agent: Agent, columns: Mapping[str, Rows]) -> dict[str, Rows]:
    """Return the columns of lldpRemTable with whole indexes.

    They have the number alone, or 0 for the time mark and the local port; the neighbor table of the vendor
    has the same numbers.
    """
    interfaces = by_number(await agent.walk(INTERFACE))

    def whole(index: str) -> str:
        parts = numbers(index)
        own = number(interfaces.get(parts[-1])) if parts and not any(parts[:-1]) else None
        return index if own is None else f"0.{own}.{parts[-1]}"

    return {name: {whole(index): value for index, value in rows.items()} for name, rows in columns.items()}
