"""Filters by any name of a platform, and requests that are refused because nothing could be tried."""

from typing import Any

import pytest

from tests.network.configs.fleet import Fleet
from tests.network.devices.inventory import ABSENT_ID
from tests.support.client import assert_error

SEARCH = "/api/config/search?q=hostname"


@pytest.mark.parametrize("wanted", ["fortinet", "fortinet_fortios", "fortios"])
async def test_a_filter_means_every_name_of_the_platform(fleet: Fleet, wanted: str) -> None:
    for name, kind in (("a", "fortinet"), ("b", "fortinet_fortios"), ("c", "cisco_ios")):
        await fleet.entry(name, 22, device_type=kind)
    for path, items in (
        ("/api/devices", "devices"),
        ("/api/devices/browse", "items"),
        ("/api/devices/with-backup-info", "devices"),
    ):
        found = (await fleet.api.get(f"{path}?device_type={wanted}")).expect()
        kinds = {each["name"]: each["device_type"] for each in found[items]}
        assert (kinds, found["total"]) == ({"a": "fortinet", "b": "fortinet_fortios"}, 2)
        first = (await fleet.api.get(f"{path}?device_type={wanted}&limit=1")).expect()
        assert ([each["name"] for each in first[items]], first["total"]) == (["a"], 2)
    acting = fleet.acting()
    assert {device.name async for device in acting.devices(device_type=wanted)} == {"a", "b"}


async def test_a_search_finds_the_devices_of_every_name_of_the_platform(fleet: Fleet) -> None:
    await fleet.stored("one", "hostname one\nend\n")
    two = await fleet.stored("two", "hostname two\nend\n")
    (await fleet.api.put(f"/api/devices/{two}", {"device_type": "cisco_xe"})).expect()
    for wanted in ("cisco_ios", "cisco_xe"):
        found = (await fleet.api.get(f"{SEARCH}&device_type={wanted}")).expect()
        assert {match["device_name"] for match in found["matches"]} == {"one", "two"}


async def test_an_unknown_type_is_a_type_of_its_own(fleet: Fleet) -> None:
    for name, kind in (("a", "acme_os"), ("b", "generic")):
        await fleet.entry(name, 22, device_type=kind)
    for wanted, names in (("acme_os", ["a"]), ("generic", ["b"]), ("other_os", [])):
        found = (await fleet.api.get(f"/api/devices?device_type={wanted}")).expect()
        assert [each["name"] for each in found["devices"]] == names


@pytest.mark.parametrize("value", ["true", "false", "", "x"])
async def test_a_search_is_always_redacted(fleet: Fleet, value: str) -> None:
    assert_error(await fleet.api.get(f"{SEARCH}&secrets={value}"), 400, "always redacted")


async def test_a_login_with_a_credential_that_there_is_not(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    theirs = (
        await fleet.elsewhere().post(
            "/api/credentials",
            {"name": "c", "credential_type": "ssh_password", "username": "u", "secret": "s3cret-word"},
        )
    ).expect(201)
    for unknown in (ABSENT_ID, theirs["id"]):
        body: dict[str, Any] = {"credential_id": unknown}
        answer = await fleet.api.post(f"/api/devices/{device_id}/test-credential", body)
        assert_error(answer, 400, "credential_id: there is no such credential")
    manager = fleet.with_permissions("devices.access")
    refused = await manager.post(f"/api/devices/{device_id}/test-credential", {"credential_id": ABSENT_ID})
    assert_error(refused, 403)
    assert switch.login_attempts == []


async def test_no_device_is_tested_if_none_is_named(fleet: Fleet) -> None:
    switch = fleet.simulated()
    await fleet.device(switch)
    found = await fleet.posted("/api/devices/bulk/test-credentials", device_ids=[])
    assert (found["total"], found["results"], switch.login_attempts) == (0, [], [])


async def test_a_pull_of_a_device_without_any_credential_is_a_conflict(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    assert (await fleet.api.delete(f"/api/credentials/{fleet.credential_id}")).status == 204
    answer = await fleet.api.post(f"/api/config/devices/{device_id}/pull")
    assert_error(answer, 409, "neither the device nor the organization has a default credential")
    assert switch.login_attempts == []


async def test_a_pull_of_a_device_that_waits_for_approval_is_a_conflict(fleet: Fleet) -> None:
    switch = fleet.simulated()
    await fleet.stack.enter_async_context(switch)
    body = {"name": "theirs", "host": "127.0.0.1", "port": switch.port, "device_type": "cisco_ios"}
    made = (await fleet.with_permissions("devices.manage").post("/api/devices", body)).expect(201)
    answer = await fleet.api.post(f"/api/config/devices/{made['id']}/pull")
    assert_error(answer, 409, "waits for approval")
    assert switch.login_attempts == []
