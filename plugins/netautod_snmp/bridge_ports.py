"""The interface of each bridge port."""

from netautod_snmp import tplink
from netautod_snmp.agent import Agent, Rows
from netautod_snmp.values import by_number, number, numbers

BASE_PORT_INDEX = "1.3.6.1.2.1.17.1.4.1.2"  # dot1dBasePortIfIndex (RFC 4188)
BASE_PORT = "1.3.6.1.2.1.17.1.4.1.1"  # dot1dBasePort
IEEE_BASE_PORT_INDEX = (
    "1.3.111.2.802.1.1.2.1.1.4.1.3"  # ieee8021BridgeBasePortIfIndex; index: component, port
)
TP_LINK = 11863


async def read_bridge_ports(agent: Agent, enterprise: int | None) -> dict[int, int]:
    """Return ifIndexes by bridge port; empty for an agent without a map. Raises WalkFailed."""
    found = indexes_of(await agent.walk(BASE_PORT_INDEX))
    if not found:
        found = indexes_of(await agent.walk(IEEE_BASE_PORT_INDEX), behind=1)
    if not found:
        # FortiSwitch: the rows are those of IF-MIB, and the port has a number that is not theirs.
        ports = indexes_of(await agent.walk(BASE_PORT))
        found = {port: index for index, port in ports.items() if port != index}
    if not found and enterprise == TP_LINK:
        found = await tplink.bridge_ports(agent)
    return found


def indexes_of(rows: Rows, *, behind: int = 0) -> dict[int, int]:
    """Return ifIndexes by port. `behind`: how many numbers stand in front of the port."""
    if not behind:
        return {
            port: index for port, value in by_number(rows).items() if (index := number(value)) is not None
        }
    return {
        parts[behind]: index
        for key, value in rows.items()
        if len(parts := numbers(key)) == behind + 1 and (index := number(value)) is not None
    }
