"""Sizes of parts as readers see them, which are made in the background as those of the versions are."""

from typing import Any

import pytest

from netautod.network.configs.models import Config
from netautod.transport.ssh.capture.parts import MOST_BYTES
from tests.network.configs.capture.test_parts import INVENTORY, PARTS, parts_of, switch_with_parts
from tests.network.configs.capture.test_shown_misfortunes import forms_of
from tests.network.configs.fleet import Fleet
from tests.support.clock import MovableClock

HOUR = 3600


async def sizes(fleet: Fleet, device_id: str) -> set[Any]:
    found = await parts_of(fleet, device_id)
    assert set(found) == set(PARTS)
    return {part["size"] for part in found.values()}


async def test_parts_of_a_version_whose_form_was_made_are_measured_within_the_hour(fleet: Fleet) -> None:
    """As a node of an earlier release beside this one has read them."""
    clock = MovableClock()
    forms = forms_of(fleet, clock=clock)
    device_id = await fleet.device(switch_with_parts(fleet))
    await fleet.pulled(device_id)
    known = await sizes(fleet, device_id)
    await fleet.database.collection("configs").update_many({}, {"$unset": {"shown_parts": ""}})
    for passed, renewed, shown in ((0, 0, {None}), (2 * HOUR, 1, known), (2 * HOUR, 0, known)):
        clock.move(passed)
        assert await forms.renew() == renewed
        assert await sizes(fleet, device_id) == shown


async def test_a_part_of_unknown_size_that_was_not_read_again_is_measured(fleet: Fleet) -> None:
    switch = switch_with_parts(fleet)
    device_id = await fleet.device(switch)
    await fleet.pulled(device_id)
    known = await sizes(fleet, device_id)
    change = {"$set": {"shown_parts.rules": "others", "parts_at": None}}
    await fleet.database.collection("configs").update_many({}, change)
    switch.responses["show inventory"] = "x" * (MOST_BYTES + 1)
    await fleet.pulled(device_id)
    assert None in await sizes(fleet, device_id)
    clock = MovableClock()
    clock.move(2 * HOUR)
    await forms_of(fleet, clock=clock).renew()
    assert await sizes(fleet, device_id) == known


async def test_parts_that_are_read_while_those_of_before_are_measured_keep_their_sizes(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch = switch_with_parts(fleet)
    device_id = await fleet.device(switch)
    await fleet.pulled(device_id)
    store = fleet.installation.stores.configs
    set_shown = store.set_shown

    async def late(config: Config, *given: Any, **named: Any) -> None:
        switch.responses["show inventory"] = INVENTORY * 2
        await fleet.database.collection("configs").update_many({}, {"$set": {"parts_at": None}})
        await fleet.pulled(device_id)
        await set_shown(config, *given, **named)

    monkeypatch.setattr(store, "set_shown", late)
    await fleet.database.collection("configs").update_many({}, {"$unset": {"shown": ""}})
    assert await fleet.configs.shown_forms.renew() == 1
    assert len(INVENTORY * 2) in await sizes(fleet, device_id)
    assert None not in await sizes(fleet, device_id)
