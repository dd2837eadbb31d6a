"""What calls look at, by the database's own account."""

from typing import Any
from uuid import uuid4

import pytest

from netautod.network.discovery.tables.orphaned_parts import LeftOvers
from netautod.network.discovery.tables.part_store import PARTS
from netautod.plugin_api import ArpEntry, Interface, Vlan
from tests.network.discovery.tables.worlds import World, at, mac, macs
from tests.support.profiler import profiled


@pytest.mark.parametrize(
    "wanted", [pytest.param({"mac": mac(7)}, id="MAC"), pytest.param({"ip": "10.0.0.7"}, id="IP")]
)
async def test_a_search_looks_only_at_parts_that_have_the_address(
    world: World, mongo_uri: str, wanted: Any
) -> None:
    for device in range(6):
        numbers = range(device * 500, device * 500 + 500)
        arp = [ArpEntry(ip_address=f"10.0.{number >> 8}.{number & 255}") for number in numbers]
        await world.poll(device_id=str(uuid4()), mac=macs(*numbers), arp=arp)
    with profiled(world.database, mongo_uri) as profile:
        assert len(await world.reads.find(world.org_id, **wanted)) == 1
        assert sum(entry["docsExamined"] for entry in profile.take(PARTS)) == 1


async def test_the_look_for_what_is_left_reads_no_rows(world: World, mongo_uri: str) -> None:
    await world.poll(mac=macs(*range(3000)))
    with profiled(world.database, mongo_uri) as profile:
        await LeftOvers(world.database).sweep(now=at(24 * 60))
        assert [entry["docsExamined"] for entry in profile.take(PARTS)] == [0]


async def test_an_unchanged_poll_writes_no_rows(world: World, mongo_uri: str) -> None:
    tables: dict[str, Any] = {
        "mac": macs(*range(3000)),
        "arp": [ArpEntry(ip_address="10.0.0.1")],
        "vlans": [Vlan(vlan_id=1, tagged_interfaces=("Ethernet1", "Ethernet2"))],
        "interfaces": [Interface(name="Ethernet1", if_index=1)],
    }
    await world.poll(**tables)
    with profiled(world.database, mongo_uri) as profile:
        await world.poll(5, **tables)
        sent = profile.take(PARTS)
    assert [entry["op"] for entry in sent if entry["op"] in ("insert", "update")] == []
    removed = [entry for entry in sent if entry["op"] == "remove"]
    assert [(entry["docsExamined"], entry["ndeleted"]) for entry in removed] == [(0, 0)]
    # Tables whose rows are not compared are only looked for.
    looked = [entry["docsExamined"] for entry in sent if "made_at" in entry.get("planSummary", "")]
    assert set(looked) == {0}


async def test_an_address_that_has_gone_is_looked_for_in_few_parts(world: World, mongo_uri: str) -> None:
    """The part that had it is there until the next poll, so the device is looked at once more."""
    await world.poll(mac=macs(*range(5000)))
    await world.poll(5, mac=macs(*range(1, 5000)))
    with profiled(world.database, mongo_uri) as profile:
        assert await world.reads.find(world.org_id, mac=mac(0)) == []
        assert sum(entry["docsExamined"] for entry in profile.take(PARTS)) == 2


async def test_history_that_is_over_is_deleted_though_nothing_else_changes(world: World) -> None:
    day = 24 * 60
    await world.poll(mac=macs(*range(2000)))
    await world.poll(5, mac=macs(1))
    for minutes in (10, 29 * day):
        await world.poll(minutes, mac=macs(1))
        assert await world.parts() > 5
    for minutes in (31 * day, 31 * day + 5):  # with the second one no reader looks for them any more
        await world.poll(minutes, mac=macs(1))
    assert await world.parts() == 1
