"""Makes a recording of our own: `python -m tests.plugins.snmp.record FOLDER`, as root.

It builds two namespaces with lldpd and snmpd (lldp_network.py), walks the agent, and writes
`recordings/lldp_host.snmprec` and `expected/lldp_host.json`: what iproute2 and the other end say themselves,
in the form in which LibreNMS has what it expects. Names of the machine are replaced.
"""

import asyncio
import json
import os
import socket
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from tests.plugins.snmp.lldp_network import NEAR, PORT, Network, cabled, daemons, run
from tests.support.execution import eventually
from tests.support.servers.snmp_agent import (
    END_OF_VIEW,
    GET_NEXT,
    NULL,
    NUMBERS,
    OBJECT_ID,
    OCTETS,
    SEQUENCE,
    Oid,
    content_of,
    element,
    integer,
    object_id,
    oid_of,
    unpacked,
)

ROOTS = (
    *("1.0.8802", "1.3.6.1.2.1.1", "1.3.6.1.2.1.2", "1.3.6.1.2.1.4.20", "1.3.6.1.2.1.4.22"),
    *("1.3.6.1.2.1.4.34", "1.3.6.1.2.1.4.35", "1.3.6.1.2.1.31"),
)
SECONDS = 60
REMOTE_NAME = "1.0.8802.1.1.2.1.4.1.1.9."  # lldpRemSysName
TYPES = {"loopback": "softwareLoopback", "ether": "ethernetCsmacd"}
STATES = {"UP": "up", "DOWN": "down", "UNKNOWN": "up", "LOWERLAYERDOWN": "down"}


def next_object(agent: socket.socket, oid: Oid) -> tuple[Oid, int, bytes]:
    """Return the object behind that one: its OID, tag and content."""
    binding = element(SEQUENCE, object_id(oid) + element(NULL, b""))
    pdu = integer(7) + integer(0) + integer(0) + element(SEQUENCE, binding)
    message = integer(1) + element(OCTETS, b"public") + element(GET_NEXT, pdu)
    agent.send(element(SEQUENCE, message))
    [(_, inside)] = content_of(agent.recv(65_535))
    _, _, (_, reply) = content_of(inside)
    _, (_, error), _, (_, bindings) = content_of(reply)
    if any(error):
        return oid, END_OF_VIEW, b""
    [(_, pair)] = content_of(bindings)
    (_, name), (tag, value) = content_of(pair)
    return unpacked(name), tag, value


def recorded(agent: socket.socket, root: Oid) -> list[str]:
    lines: list[str] = []
    oid = root
    while True:
        oid, tag, value = next_object(agent, oid)
        if oid[: len(root)] != root or tag == END_OF_VIEW:
            return lines
        lines.append(f"{'.'.join(map(str, oid))}|{_shown(tag, value)}")


def _shown(tag: int, value: bytes) -> str:
    if tag in NUMBERS:
        return f"{tag}|{int.from_bytes(value, signed=tag == 2)}"
    if tag == OBJECT_ID:
        return f"{tag}|{'.'.join(map(str, unpacked(value)))}"
    machine = os.uname()
    for own, shown in ((machine.nodename, "host"), (machine.release, "6.1.0"), (machine.version, "#1")):
        value = value.replace(own.encode(), shown.encode())
    return f"{tag}x|{value.hex()}"


def expected(network: Network) -> dict[str, Any]:
    """Return what iproute2 shows."""
    shown = json.loads(run("ip", "-n", network.near, "-json", "-d", "address", "show"))
    names = {one["ifname"]: one["ifindex"] for one in shown}
    far = network.addresses(network.far)["far0"]
    return {
        "ports": [
            {
                "ifIndex": one["ifindex"],
                "ifName": one["ifname"],
                "ifDescr": one["ifname"],
                "ifAlias": one["ifname"],
                "ifType": TYPES.get(one["link_type"]),
                "ifAdminStatus": "up" if "UP" in one["flags"] else "down",
                "ifOperStatus": STATES[one["operstate"]],
                "ifSpeed": 10_000_000_000 if one["link_type"] == "ether" else 10_000_000,
                "ifPhysAddress": one["address"].replace(":", ""),
            }
            for one in shown
            if one["ifname"] in names
        ],
        "ipv4_addresses": [
            {
                "ifIndex": one["ifindex"],
                "ipv4_address": address["local"],
                "ipv4_prefixlen": address["prefixlen"],
            }
            for one in shown
            for address in one["addr_info"]
            if address["family"] == "inet"
        ],
        "links": [
            {"ifName": "near0", "ifDescr": "near0", "remote_hostname": "far-switch", "remote_port": far}
        ],
    }


async def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as own, cabled(Path(own)) as network:
        network.folder.chmod(0o755)
        async with daemons(network):
            await eventually(partial(asyncio.to_thread, network.hears), seconds=SECONDS)
            lines = await asyncio.to_thread(_walked)
            wanted = expected(network)
    for name, text in (
        ("recordings/lldp_host.snmprec", "\n".join(lines) + "\n"),
        ("expected/lldp_host.json", json.dumps(wanted, indent=1) + "\n"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def _walked() -> list[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as agent:
        agent.settimeout(10)
        agent.connect((NEAR, PORT))
        found: list[str] = []
        while not any(line.startswith(REMOTE_NAME) for line in found):  # lldpd tells snmpd a moment later
            found = [line for root in ROOTS for line in recorded(agent, oid_of(root))]
    return found


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
