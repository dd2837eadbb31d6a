"""The collector's handling of the ways of vendors: aggregates, VLANs, and what a device is."""

import pytest

from netautod.plugin_api import MacEntry
from tests.plugins.snmp.switch import objects, text
from tests.plugins.snmp.test_collector import collected, of
from tests.support.servers.snmp_agent import Encoded, element, integer, object_id, oid_of

IOS = {
    "1.3.6.1.2.1.1.1.0": text(
        "Cisco IOS Software, C2960X Software (C2960X-UNIVERSALK9-M), Version 15.2(2)E7"
    ),
    "1.3.6.1.2.1.1.2.0": object_id(oid_of("1.3.6.1.4.1.9.1.1208")),
}


@pytest.mark.parametrize(
    ("name", "kind", "stacked", "expected"),
    [
        pytest.param("Port-channel1", 53, "10.1", "Port-channel1", id="an aggregate of IOS"),
        pytest.param("Bundle-Ether1", 1, "10.1", "Bundle-Ether1", id="by its name"),
        pytest.param("uplinks", 161, "10.1", "uplinks", id="by its type"),
        pytest.param("StackPort1", 53, "10.1", None, id="another one that is virtual"),
        pytest.param("Port-channel1", 53, "1.10", None, id="the aggregate is the lower layer"),
        pytest.param("Port-channel1", 53, "10.100", None, id="a VLAN below the aggregate"),
    ],
)
async def test_members_by_the_stack_of_interfaces(
    name: str, kind: int, stacked: str, expected: str | None
) -> None:
    changes: dict[str, Encoded | None] = {
        "1.3.6.1.2.1.2.2.1.2.10": text(name),
        "1.3.6.1.2.1.31.1.1.1.1.10": text(name),
        "1.3.6.1.2.1.2.2.1.3.10": integer(kind),
        "1.2.840.10006.300.43.1.2.1.1.13.2": None,
        f"1.3.6.1.2.1.31.1.2.1.3.{stacked}": integer(1),
    }
    found = await collected(of(changes), ("interfaces",))
    assert {one.lag for one in found.interfaces or ()} == {None, expected}


async def test_the_instance_without_a_name_is_vlan_1_of_cisco() -> None:
    """Query it once: `public@1` is not requested as well, which would get no answer."""
    table = "1.3.6.1.2.1.17.4.3.1"
    rows: dict[str, Encoded | None] = {
        **{oid: None for oid in objects() if oid.startswith("1.3.6.1.2.1.17.7.")},
        **IOS,
        "1.3.6.1.4.1.9.9.46.1.3.1.1.2.1.1": integer(1),
        "1.3.6.1.4.1.9.9.68.1.2.2.1.2.1": integer(1),
        f"{table}.2.2.0.0.0.0.50": integer(1),
        f"{table}.3.2.0.0.0.0.50": integer(3),
    }
    found = await collected(of(rows), ("mac",))
    assert found.problems == {}
    assert found.mac == [
        MacEntry(mac_address="02:00:00:00:00:32", vlan_id=1, interface="ge1", type="dynamic")
    ]


async def test_vlans_of_cisco_are_those_of_ethernet_that_it_has() -> None:
    rows: dict[str, Encoded | None] = {
        **{oid: None for oid in objects() if oid.startswith("1.3.6.1.2.1.17.7.")},
        **IOS,
        **{f"1.3.6.1.4.1.9.9.46.1.3.1.1.2.1.{vlan}": integer(1) for vlan in (1, 7, 1002)},
        **{f"1.3.6.1.4.1.9.9.46.1.3.1.1.3.1.{vlan}": integer(1) for vlan in (1, 7)},
        "1.3.6.1.4.1.9.9.46.1.3.1.1.3.1.1002": integer(2),  # FDDI
        "1.3.6.1.4.1.9.9.68.1.2.2.1.2.1": integer(7),
        "1.3.6.1.4.1.9.9.68.1.2.2.1.2.2": integer(511),  # has been removed
    }
    found = await collected(of(rows), ("vlans", "interfaces"))
    assert [(one.vlan_id, one.untagged_interfaces) for one in found.vlans or ()] == [(1, ()), (7, ("ge1",))]
    assert [one.vlan_id for one in found.interfaces or ()][:2] == [7, 511]


async def test_an_interface_without_an_address() -> None:
    changes: dict[str, Encoded | None] = {
        "1.3.6.1.2.1.4.20.1.2.0.0.0.0": integer(1),
        "1.3.6.1.2.1.4.20.1.3.0.0.0.0": element(64, bytes((255, 255, 255, 0))),
    }
    found = await collected(of(changes), ("interfaces",))
    assert next(iter(found.interfaces or ())).ip_addresses == ()


ENTITY = "1.3.6.1.2.1.47.1.1.1.1"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param(
            {
                f"{ENTITY}.5.7": integer(3),
                f"{ENTITY}.13.7": text("C9300"),
                f"{ENTITY}.11.7": text("FOC1"),
            },
            ("C9300", "FOC1", "15.2(2)E7"),
            id="of the chassis",
        ),
        pytest.param(
            {
                **{f"{ENTITY}.5.{index}": integer(kind) for index, kind in {1: 11, 2: 9, 1001: 3}.items()},
                f"{ENTITY}.13.1": text(""),
                f"{ENTITY}.13.2": text("a module"),
                f"{ENTITY}.13.1001": text("WS-C2960X"),
                f"{ENTITY}.11.1001": text("FCW1"),
            },
            ("WS-C2960X", "FCW1", "15.2(2)E7"),
            id="of the first chassis of a stack",
        ),
        pytest.param(
            {f"{ENTITY}.13.1001": text("WS-C3560"), f"{ENTITY}.11.1001": text("CAT1")},
            ("WS-C3560", "CAT1", "15.2(2)E7"),
            id="no class is told",
        ),
        pytest.param(
            {
                "1.3.6.1.2.1.1.1.0": text("HP Stack, revision KA.15.03.3004"),
                "1.3.6.1.2.1.1.2.0": object_id(oid_of("1.3.6.1.4.1.11.2.3.7.8.5.2")),
                f"{ENTITY}.2.1": text("HP J9850A Switch 5406Rzl2"),
            },
            ("J9850A", None, "KA.15.03.3004"),
            id="in the description of the chassis",
        ),
        pytest.param(
            {
                "1.3.6.1.2.1.1.1.0": text("HP Comware, Software Version 7.1, Release 2 HP 5130 Switch"),
                "1.3.6.1.2.1.1.2.0": object_id(oid_of("1.3.6.1.4.1.25506.11.1.172")),
                "1.3.6.1.4.1.25506.2.6.1.2.1.1.2.1": text(""),
                "1.3.6.1.4.1.25506.2.6.1.2.1.1.2.2": text("DM2"),
                f"{ENTITY}.5.1": integer(3),
                f"{ENTITY}.11.1": text("DM1"),
                f"{ENTITY}.13.1": text("HP 10508"),
            },
            ("5130", "DM2", "7.1"),
            id="sysDescr and the vendor's own before the entities",
        ),
        pytest.param(
            {
                "1.3.6.1.2.1.1.1.0": text(""),
                "1.3.6.1.2.1.1.2.0": object_id(oid_of("1.3.6.1.4.1.12356.101.1.1")),
                "1.3.6.1.4.1.12356.101.4.1.1.0": text("v7.2.5,build1517,230606 (GA.F)"),
                "1.3.6.1.4.1.12356.100.1.1.1.0": integer(7),
            },
            (None, None, "7.2.5"),
            id="a version with its build, a serial number that is no text",
        ),
    ],
)
async def test_what_a_device_is(
    changes: dict[str, Encoded | None], expected: tuple[str | None, str | None, str | None]
) -> None:
    found = await collected(of({**IOS, **changes}), ("status",))
    assert found.status is not None
    assert (found.status.model, found.status.serial_number, found.status.os_version) == expected
