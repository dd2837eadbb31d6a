"""Notes on a version: set, cleared, kept by later captures; who may set them."""

from typing import Any

import pytest

from netautod.testing import ios_config
from tests.network.configs.fleet import Fleet
from tests.support.client import assert_error


def path(device_id: str, rest: str = "1/notes") -> str:
    return f"/api/config/devices/{device_id}/configs/{rest}"


async def test_notes_are_set_and_cleared_and_nothing_else_changes(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", ios_config("sw1"))
    before = (await fleet.api.get(path(device_id, "1"))).json
    for name in ("config_text", "encoding", "parts", "learned_noise"):
        del before[name]
    noted = await fleet.api.put(path(device_id), {"notes": "before the upgrade"})
    assert (noted.status, noted.json) == (200, {**before, "notes": "before the upgrade"})
    await fleet.pulled(device_id)  # unchanged: the same version
    listed = (await fleet.api.get(f"/api/config/devices/{device_id}/configs")).json["configs"]
    assert [(config["version"], config["notes"]) for config in listed] == [(1, "before the upgrade")]
    for cleared in (None, ""):
        assert (await fleet.api.put(path(device_id), {"notes": cleared})).json["notes"] is None
    events = await fleet.audited("config.set_notes")
    assert [(event["resource_id"], event["details"]) for event in events] == [
        (before["id"], {"device_id": device_id, "version": 1})
    ] * 3


async def test_what_was_read_can_be_sent_back(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", ios_config("sw1"))
    whole = (await fleet.api.get(path(device_id, "1"))).json
    assert (await fleet.api.put(path(device_id), {**whole, "notes": "x", "version": 9})).json["version"] == 1


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param({}, "notes: missing", id="no notes"),
        pytest.param({"notes": 7}, "notes", id="a number"),
        pytest.param({"notes": {"$set": 1}}, "notes", id="an operator"),
        pytest.param({"notes": "x" * 4097}, "notes", id="too long"),
        pytest.param({"notes": "x", "note": "y"}, "note", id="an unknown field"),
        pytest.param({"notes": "x\u0000"}, "notes", id="NUL"),
    ],
)
async def test_bad_notes(fleet: Fleet, body: Any, text: str) -> None:
    device_id = await fleet.stored("sw1", ios_config("sw1"))
    assert_error(await fleet.api.put(path(device_id), body), 400, text)


async def test_who_may_note_what(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", ios_config("sw1"))
    body = {"notes": "x"}
    assert_error(await fleet.with_permissions("devices.access").put(path(device_id), body), 403)
    assert_error(await fleet.served.client("*")[0].put(path(device_id), body), 404, "Device not found")
    for version in ("2", "0", "01", "latest"):
        missing = await fleet.api.put(path(device_id, f"{version}/notes"), body)
        assert_error(missing, 404, "Config version not found")


async def test_a_new_version_begins_without_notes(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    for community in ("a", "b"):
        switch.config = ios_config("sw1", community=community)
        await fleet.pulled(device_id)
        await fleet.api.put(path(device_id), {"notes": "the first"})
    assert (await fleet.api.get(path(device_id, "latest"))).json["notes"] is None
