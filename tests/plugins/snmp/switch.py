"""A switch of our own making: what its agent says, by the names of the objects."""

from tests.support.servers.snmp_agent import (
    OCTETS,
    Encoded,
    Oid,
    Recording,
    element,
    integer,
    object_id,
    oid_of,
)

GAUGE, TICKS, WIDE = 66, 67, 70
MAC = bytes((2, 0, 0, 0, 0, 0))


def text(value: str | bytes) -> Encoded:
    return element(OCTETS, value.encode() if isinstance(value, str) else value)


def mac(number: int) -> bytes:
    return MAC[:5] + bytes((number,))


def ports(*numbers: int) -> Encoded:
    """Encode a PortList of eight ports."""
    return text(bytes((sum(0x80 >> number - 1 for number in numbers),)))


NAMES = {1: "ge1", 2: "ge2", 3: "ge3", 10: "lag1", 100: "vlan100"}
TYPES = {1: 6, 2: 6, 3: 6, 10: 161, 100: 136}
IF, IF_X = "1.3.6.1.2.1.2.2.1", "1.3.6.1.2.1.31.1.1.1"
LLDP = "1.0.8802.1.1.2.1"


def _interfaces() -> dict[str, Encoded]:
    found: dict[str, Encoded] = {}
    for index, name in NAMES.items():
        found |= {
            f"{IF}.2.{index}": text(name),
            f"{IF}.3.{index}": integer(TYPES[index]),
            f"{IF}.4.{index}": integer(1500),
            f"{IF}.5.{index}": integer(4_294_967_295, GAUGE),
            f"{IF}.6.{index}": text(mac(index)),
            f"{IF}.7.{index}": integer(1),
            f"{IF}.8.{index}": integer(2 if index == 3 else 1),
            f"{IF}.9.{index}": integer(50_000 if index == 3 else 0, TICKS),
            f"{IF}.10.{index}": integer(7, 65),
            f"{IF}.14.{index}": integer(1, 65),
            f"{IF_X}.1.{index}": text(name),
            f"{IF_X}.6.{index}": integer(2**40 + index, WIDE),
            f"{IF_X}.15.{index}": integer(10_000, GAUGE),
            f"{IF_X}.18.{index}": text(b"to the \xe9dge\x00" if index == 1 else b""),
            f"1.3.6.1.2.1.10.7.2.1.19.{index}": integer(3),
        }
    return found


def objects() -> dict[str, Encoded]:
    """Return objects by OID; change some for a switch that is odd."""
    return {
        "1.3.6.1.2.1.1.1.0": text(
            "Arista Networks EOS version 4.30.1F running on an Arista Networks DCS-7050"
        ),
        "1.3.6.1.2.1.1.2.0": object_id(oid_of("1.3.6.1.4.1.30065.1")),
        "1.3.6.1.2.1.1.3.0": integer(100_000, TICKS),
        "1.3.6.1.2.1.1.5.0": text("sw1.example.net"),
        **_interfaces(),
        "1.3.6.1.2.1.4.20.1.2.10.0.100.1": integer(100),
        "1.3.6.1.2.1.4.20.1.3.10.0.100.1": element(64, bytes((255, 255, 255, 0))),
        **{f"1.3.6.1.2.1.17.1.4.1.2.{port}": integer(port) for port in (1, 2, 3)},
        "1.3.6.1.2.1.17.1.1.0": text(mac(99)),
        "1.2.840.10006.300.43.1.2.1.1.13.2": integer(10),
        "1.2.840.10006.300.43.1.2.1.1.13.3": integer(0),
        "1.3.6.1.2.1.17.7.1.4.3.1.1.100": text("users"),
        "1.3.6.1.2.1.17.7.1.4.3.1.1.200": text("phones"),
        "1.3.6.1.2.1.17.7.1.4.2.1.4.0.100": ports(1, 2, 3),
        "1.3.6.1.2.1.17.7.1.4.2.1.5.0.100": ports(3),
        "1.3.6.1.2.1.17.7.1.4.5.1.1.3": integer(100),
        "1.3.6.1.2.1.17.7.1.2.2.1.2.100.2.0.0.0.0.50": integer(3),
        "1.3.6.1.2.1.17.7.1.2.2.1.3.100.2.0.0.0.0.50": integer(3),
        "1.3.6.1.2.1.17.7.1.2.2.1.2.100.2.0.0.0.0.51": integer(1),
        "1.3.6.1.2.1.17.7.1.2.2.1.3.100.2.0.0.0.0.51": integer(2),  # invalid: on its way out
        "1.3.6.1.2.1.4.22.1.2.100.10.0.100.7": text(mac(7)),
        "1.3.6.1.2.1.4.22.1.4.100.10.0.100.7": integer(3),
        "1.3.6.1.2.1.4.35.1.4.100.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.7": text(mac(7)),
        "1.3.6.1.2.1.4.35.1.6.100.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.7": integer(3),
        f"{LLDP}.3.1.0": integer(4),
        f"{LLDP}.3.2.0": text(mac(99)),
        f"{LLDP}.3.7.1.2.1": integer(5),
        f"{LLDP}.3.7.1.3.1": text("ge1"),
        f"{LLDP}.4.1.1.4.0.1.1": integer(4),
        f"{LLDP}.4.1.1.5.0.1.1": text(mac(60)),
        f"{LLDP}.4.1.1.6.0.1.1": integer(5),
        f"{LLDP}.4.1.1.7.0.1.1": text("Gi0/1"),
        f"{LLDP}.4.1.1.8.0.1.1": text("uplink"),
        f"{LLDP}.4.1.1.9.0.1.1": text("core"),
        f"{LLDP}.4.1.1.10.0.1.1": text("a core switch"),
        f"{LLDP}.4.1.1.12.0.1.1": text(b"\x28"),
        f"{LLDP}.4.2.1.3.0.1.1.1.4.10.0.0.60": integer(2),
    }


def recording(**changes: Encoded | None) -> Recording:
    """Build a recording. `changes` are by OID, with `_` for the dots; None removes an object."""
    changed = {**objects(), **{oid.strip("o").replace("_", "."): value for oid, value in changes.items()}}
    pairs: list[tuple[Oid, Encoded]] = [
        (oid_of(oid), value) for oid, value in changed.items() if value is not None
    ]
    return Recording.of(pairs)
