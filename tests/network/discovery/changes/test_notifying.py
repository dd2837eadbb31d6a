"""Changes are told once, and what a crash has left untold is told by another look."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.network.discovery.changes.service import Changes
from netautod.network.discovery.tables.models import Before
from netautod.network.discovery.tables.store import DiscoveredStore
from netautod.network.discovery.visits.service import Visited
from netautod.plugin_api import DeviceChanged
from netautod.store.client import Database
from tests.network.discovery.tables.worlds import NOTE
from tests.network.discovery.visits.fakes import DEVICE
from tests.support.clock import MovableClock

ORG = OrgId(str(uuid4()))


class Told(list[DeviceChanged]):
    def device_changed(self, event: DeviceChanged) -> None:
        self.append(event)


class World:
    """Two nodes, each with observers of its own."""

    def __init__(self, database: Database) -> None:
        self.store = DiscoveredStore(database, gone_for=timedelta(days=30))
        self.clock = MovableClock()
        self.told, self.told_elsewhere = Told(), Told()
        self.changes, self.elsewhere = self.of(self.told), self.of(self.told_elsewhere)

    def of(self, told: Told) -> Changes:
        return Changes(tables=self.store, observers=told, clock=self.clock, unreachable_after=1)

    async def written(self, device_id: str = DEVICE.id) -> list[dict[str, Any]]:
        """The events of a device that answers no more, with the note of its poll."""
        events = self.changes.of(DEVICE, Before(), Visited(reachable=False), failures=1, at=self.clock.now())
        await self.store.note(ORG, device_id, replace(NOTE, at=self.clock.now()), events=events)
        return [dict(event) for event in events]


@pytest.fixture
def world(indexed: Database) -> World:
    return World(indexed)


async def test_an_event_is_told_and_crossed_out(world: World) -> None:
    events = await world.written()
    await world.changes.notify(ORG, DEVICE.id, events)
    assert world.told == [
        DeviceChanged(
            id=events[0]["id"],
            org_id=ORG,
            device_id=DEVICE.id,
            device_name="sw1",
            kind="device_unreachable",
            at=events[0]["at"],
        )
    ]
    world.clock.move(3600)
    await world.elsewhere.look()
    assert world.told_elsewhere == []


async def test_what_a_crash_left_untold_is_told_by_another_node_once(world: World) -> None:
    events = await world.written()
    await world.elsewhere.look()
    assert world.told_elsewhere == []  # the node that has written it is about to tell it
    world.clock.move(61)
    for _ in range(2):
        await world.elsewhere.look()
    assert [event.id for event in world.told_elsewhere] == [events[0]["id"]]


async def test_what_cannot_be_crossed_out_is_told_again_under_the_same_id(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*args: Any) -> None:
        raise Unavailable("gone")

    events = await world.written()
    with monkeypatch.context() as patch:
        patch.setattr(world.store.unnotified, "clear", away)
        await world.changes.notify(ORG, DEVICE.id, events)
    world.clock.move(61)
    await world.elsewhere.look()
    assert world.told == world.told_elsewhere


async def test_a_later_poll_keeps_what_is_untold(world: World) -> None:
    events = await world.written()
    await world.store.note(ORG, DEVICE.id, replace(NOTE, at=world.clock.now()))
    world.clock.move(61)
    await world.changes.look()
    assert [event.id for event in world.told] == [events[0]["id"]]


async def test_an_event_of_a_newer_version_is_told_by_what_is_known_of_it(world: World) -> None:
    [event] = world.changes.of(DEVICE, Before(), Visited(reachable=False), failures=1, at=world.clock.now())
    await world.store.note(
        ORG, DEVICE.id, replace(NOTE, at=world.clock.now()), events=[{**event, "weight": 3}]
    )
    world.clock.move(61)
    await world.changes.look()
    assert [(told.id, told.kind) for told in world.told] == [(event["id"], "device_unreachable")]


async def test_many_devices(world: World) -> None:
    for _ in range(120):
        await world.written(str(uuid4()))
    world.clock.move(61)
    await world.changes.look()
    assert len({event.device_id for event in world.told}) == 120
