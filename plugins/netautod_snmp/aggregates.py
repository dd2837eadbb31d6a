"""Members of link aggregates: IEEE8023-LAG-MIB, and ifStackTable (RFC 2863) where that is missing."""

from collections.abc import Mapping

from netautod_snmp.agent import Agent
from netautod_snmp.values import by_number, number, numbers

ATTACHED = "1.2.840.10006.300.43.1.2.1.1.13"  # dot3adAggPortAttachedAggID
STACK = "1.3.6.1.2.1.31.1.2.1.3"  # ifStackStatus; its index is the higher layer, then the lower one
LAG_TYPES = frozenset({54, 161})  # propMultiplexor (older HP), ieee8023adLag
ACTIVE = 1


async def read_aggregates(agent: Agent, types: Mapping[int, int]) -> dict[int, int]:
    """The ifIndex of the aggregate by that of its member; `types` are those of the interfaces."""
    attached = {member: number(value) for member, value in by_number(await agent.walk(ATTACHED)).items()}
    found = {member: own for member, own in attached.items() if own and own != member and own in types}
    stack = await agent.walk(STACK)
    for index, status in stack.items():
        parts = numbers(index)
        if status != ACTIVE or len(parts) != 2:
            continue
        higher, lower = parts
        if types.get(higher) in LAG_TYPES and lower in types and types.get(lower) not in LAG_TYPES:
            found.setdefault(lower, higher)
    return found
