"""Members of link aggregates: IEEE8023-LAG-MIB, and ifStackTable (RFC 2863) where that is missing."""

import re
from collections.abc import Mapping

from netautod_snmp.agent import Agent
from netautod_snmp.values import by_number, number, numbers

ATTACHED = "1.2.840.10006.300.43.1.2.1.1.13"  # dot3adAggPortAttachedAggID
STACK = "1.3.6.1.2.1.31.1.2.1.3"  # ifStackStatus; its index is the higher layer, then the lower one
LAG_TYPES = frozenset({54, 161})  # propMultiplexor (older HP), ieee8023adLag
ETHERNET_TYPES = frozenset({6, 62, 69, 117})  # ethernetCsmacd, and what older agents say for it
# IOS calls its aggregates propVirtual, others say other or ethernetCsmacd: they are known by their names.
VAGUE_TYPES = frozenset({1, 6, 53})
LAG_NAME = re.compile(
    r"(?:port-?channel|bundle-ether|bridge-aggregation|route-aggregation|eth-trunk|ae|bond|lag|trk)[ -]?\d+",
    re.IGNORECASE,
)
ACTIVE = 1


async def read_aggregates(agent: Agent, types: Mapping[int, int], names: Mapping[int, str]) -> dict[int, int]:
    """Return the ifIndex of the aggregate by that of its member; `types` and `names` are those of the
    interfaces.
    """
    attached = {member: number(value) for member, value in by_number(await agent.walk(ATTACHED)).items()}
    found = {member: own for member, own in attached.items() if own and own != member and own in types}
    aggregates = {index for index, kind in types.items() if _is_aggregate(kind, names.get(index))}
    stack = await agent.walk(STACK)
    for index, status in stack.items():
        parts = numbers(index)
        if status != ACTIVE or len(parts) != 2:
            continue
        higher, lower = parts
        # A VLAN's interface may stand below an aggregate as well: members are ports.
        if higher in aggregates and lower not in aggregates and types.get(lower) in ETHERNET_TYPES:
            found.setdefault(lower, higher)
    return found


def _is_aggregate(kind: int, name: str | None) -> bool:
    return kind in LAG_TYPES or (kind in VAGUE_TYPES and LAG_NAME.fullmatch(name or "") is not None)
