"""Stored configs over HTTP: pulls, versions, diffs, redaction, permissions, other organizations."""

import re
from typing import Any
from uuid import uuid4

import pytest

from netautod.testing import Faults, ios_config
from tests.network.configs.fleet import Fleet
from tests.network.devices.inventory import ABSENT_ID
from tests.support.client import assert_error

FIELDS = {
    *("id", "device_id", "org_id", "version", "config_hash", "config_format", "source", "pulled_via"),
    *("created_by", "created_at", "last_seen_at", "size", "notes"),
}


def path(device_id: str, rest: str) -> str:
    return f"/api/config/devices/{device_id}/{rest}"


def configs(*communities: str, name: str = "sw1") -> list[str]:
    """One per SNMP community."""
    return [ios_config(name, community=community) for community in communities]


async def test_a_pull_answers_the_config_without_its_text(fleet: Fleet) -> None:
    device_id = await fleet.device(fleet.simulated())
    first = await fleet.pulled(device_id)
    assert set(first) == {*FIELDS, "changed"}
    assert (first["version"], first["changed"], first["pulled_via"]) == (1, True, "api")
    assert (first["config_format"], first["source"], first["notes"]) == ("cli", "device", None)
    assert first["created_by"] == fleet.caller.user_id
    second = await fleet.pulled(device_id)
    assert (second["version"], second["changed"]) == (1, False)
    assert [event["details"]["changed"] for event in await fleet.audited("config.pull")] == [True, False]


async def test_lists_are_newest_first_and_page(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", *configs("a1", "b2", "c3"))
    listed = (await fleet.api.get(path(device_id, "configs?limit=2"))).json
    assert [config["version"] for config in listed["configs"]] == [3, 2]
    assert (listed["total"], listed["limit"], listed["offset"]) == (3, 2, 0)
    assert set(listed["configs"][0]) == FIELDS
    newest = (await fleet.api.get(path(device_id, "configs/latest"))).json
    assert newest == {
        **listed["configs"][0],
        "config_text": newest["config_text"],
        "encoding": "utf-8",
        "parts": newest["parts"],
        "learned_noise": [],
    }
    assert (await fleet.api.get(path(device_id, "configs/3"))).json == newest


async def test_a_list_without_a_limit_has_all_versions(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few are read at a time, however many there are."""
    device_id = await fleet.stored("sw1", *configs("a1"))
    rows = fleet.database.collection("configs")
    row = await rows.find_one({"device_id": device_id})
    assert row is not None
    numbers = range(2, 252)
    await rows.insert_many([{**row, "_id": str(uuid4()), "version": number} for number in numbers])
    monkeypatch.setattr("netautod.network.configs.store.BATCH", 25)
    whole = (await fleet.api.get(path(device_id, "configs"))).expect()
    assert [config["version"] for config in whole["configs"]] == list(range(251, 0, -1))
    assert (whole["total"], whole["limit"], whole["offset"]) == (251, 251, 0)
    paged = (await fleet.api.get(path(device_id, "configs?limit=100&offset=1"))).expect()
    assert paged["configs"] == whole["configs"][1:101]
    rest = (await fleet.api.get(path(device_id, "configs?offset=240"))).expect()
    assert rest["configs"] == whole["configs"][240:]
    assert (await fleet.api.get(path(device_id, "configs?offset=251"))).expect()["configs"] == []
    bare = await fleet.device(fleet.simulated("sw2"))
    assert (await fleet.api.get(path(bare, "configs"))).expect() == {
        "configs": [],
        "total": 0,
        "limit": 0,
        "offset": 0,
    }
    assert_error(await fleet.api.get(path(ABSENT_ID, "configs")), 404, "Device not found")


async def test_texts_are_redacted_unless_one_may_see_secrets_and_asks(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", *configs("c4nary"))
    shown = (await fleet.api.get(path(device_id, "configs/latest"))).json["config_text"]
    assert "hostname sw1" in shown
    assert "c4nary" not in shown
    raw = (await fleet.api.get(path(device_id, "configs/1?secrets=true"))).json["config_text"]
    assert "c4nary" in raw
    assert raw.startswith("Building configuration...")
    (event,) = await fleet.audited("config.read_secrets")
    assert event["details"] == {"device_id": device_id, "version": 1}
    reader = fleet.with_permissions("devices.access")
    assert (await reader.get(path(device_id, "configs/latest"))).status == 200
    for rest in ("configs/latest?secrets=true", "diff?old_version=1&new_version=1&secrets=true"):
        assert_error(await reader.get(path(device_id, rest)), 403)


async def test_a_changed_password_is_a_change_that_reveals_nothing(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", *configs("old-c4nary", "new-c4nary"))
    for rest in ("diff", "diff-versions", "diff?old_version=1&new_version=2"):
        found = (await fleet.api.get(path(device_id, rest))).json
        assert (found["old_version"], found["new_version"], found["identical"]) == (1, 2, False)
        assert (found["additions"], found["deletions"]) == (1, 1)
        assert "c4nary" not in found["diff"]
        assert found["diff"].startswith("--- version 1\n+++ version 2\n@@ ")
    raw = (await fleet.api.get(path(device_id, "diff?secrets=true"))).json
    assert "-snmp-server community old-c4nary" in raw["diff"]
    assert len(await fleet.audited("config.read_secrets")) == 2


async def test_a_changed_secret_of_one_device_is_said_and_its_token_is_for_those_who_see_secrets(
    fleet: Fleet,
) -> None:
    one, two = [await fleet.stored(name, *configs("old-c4nary", "new-c4nary")) for name in ("sw1", "sw2")]
    reader = fleet.with_permissions("devices.access", "devices.manage")
    shown = (await reader.get(path(one, "diff?context=0"))).expect()
    assert shown["diff"].split("\n")[3:] == [
        "-snmp-server community <secret> RO",
        "+snmp-server community <secret: changed> RO",
        "",
    ]
    assert (shown["identical"], shown["additions"], shown["deletions"]) == (False, 1, 1)
    columns = (await reader.get(path(one, "diff?context=0&format=side_by_side"))).expect()
    [row] = columns["hunks"][0]["rows"]
    assert (row["kind"], row["new_text"]) == ("changed", "snmp-server community <secret: changed> RO")
    tokens = [
        re.findall("<secret:[0-9a-f]{8}>", (await fleet.api.get(path(device, "diff?context=0"))).json["diff"])
        for device in (one, two)
    ]
    assert [len(found) for found in tokens] == [2, 2]
    assert len({*tokens[0], *tokens[1]}) == 4  # each device has tokens of its own


async def test_between_devices_secrets_are_equal_unless_they_are_compared_in_clear(fleet: Fleet) -> None:
    one = await fleet.stored("sw1", *configs("one-c4nary"))
    two = await fleet.stored("sw2", *configs("two-c4nary"))
    base = f"/api/config/diff?old_device_id={one}&new_device_id={two}"
    for client in (fleet.api, fleet.with_permissions("devices.access")):
        found = (await client.get(base)).expect()
        assert (found["identical"], found["diff"], found["additions"]) == (True, "", 0)
    clear = (await fleet.api.get(f"{base}&secrets=true")).expect()
    assert (clear["identical"], clear["diff"].count("c4nary")) == (False, 2)
    assert len(await fleet.audited("config.read_secrets")) == 2


async def test_a_changed_private_key_is_a_change_too(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    for body in ("AAAA\nBBBB", "CCCC\nDDDD\nEEEE"):
        key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n"
        switch.config = ios_config("sw1").replace("end\n", f"{key}end\n")
        await fleet.pulled(device_id)
    found = (await fleet.api.get(path(device_id, "diff"))).json
    assert (found["identical"], found["additions"], found["deletions"]) == (False, 1, 1)
    assert not any(part in found["diff"] for part in ("AAAA", "DDDD", "EEEE"))


async def test_the_choice_of_versions_to_compare(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", *configs("a1"))
    assert_error(await fleet.api.get(path(device_id, "diff")), 404, "no version before version 1")
    device_id = await fleet.stored("sw2", *configs("a1", "b2", "a1", name="sw2"))

    async def compared(query: str) -> tuple[int, int, bool]:
        found = (await fleet.api.get(path(device_id, f"diff?{query}"))).json
        return found["old_version"], found["new_version"], found["identical"]

    assert await compared("") == (2, 3, False)
    assert await compared("new_version=2") == (1, 2, False)
    assert await compared("old_version=1") == (1, 3, True)
    assert await compared("old_version=3&new_version=1") == (3, 1, True)
    assert_error(await fleet.api.get(path(device_id, "diff?new_version=9")), 404, "Config version not found")


async def test_two_columns_hide_what_one_hides(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", *configs("old-c4nary", "new-c4nary"))
    found = (await fleet.api.get(path(device_id, "diff?format=side_by_side&context=1"))).expect()
    assert "diff" not in found
    assert (found["identical"], found["additions"], found["deletions"]) == (False, 1, 1)
    [hunk] = found["hunks"]
    assert [row["kind"] for row in hunk["rows"]] == ["same", "changed", "same"]
    changed = hunk["rows"][1]
    for side in ("old", "new"):
        [[start, end]] = changed[f"{side}_words"]
        # A token in its place, which is another one now.
        assert changed[f"{side}_text"][start:end].startswith("secret:")
    assert "c4nary" not in str(found)
    raw = (await fleet.api.get(path(device_id, "diff?format=side_by_side&secrets=true"))).expect()
    assert "old-c4nary" in str(raw["hunks"])
    assert len(await fleet.audited("config.read_secrets")) == 2
    same = (await fleet.api.get(path(device_id, "diff?format=side_by_side&old_version=2"))).expect()
    assert (same["identical"], same["hunks"], same["hidden_hunks"]) == (True, [], 0)


async def test_the_context_of_a_diff(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", *configs("a1", "b2"))
    lengths = [
        len((await fleet.api.get(path(device_id, f"diff?context={context}"))).expect()["diff"].split("\n"))
        for context in (0, 1, 1000)
    ]
    whole = len(ios_config("sw1").strip().split("\n"))
    assert lengths[:2] == [6, 8]
    assert lengths[2] > whole - 5
    usual = (await fleet.api.get(path(device_id, "diff"))).expect()
    assert usual == (await fleet.api.get(path(device_id, "diff?context=3&format=unified"))).expect()


async def test_two_devices_are_compared(fleet: Fleet) -> None:
    one = await fleet.stored("sw1", *configs("same-c4nary", "same-c4nary-2"))
    two = await fleet.stored("sw2", *configs("same-c4nary", name="sw2"))
    base = f"/api/config/diff?old_device_id={one}&new_device_id={two}"
    found = (await fleet.api.get(base)).expect()
    assert (found["old_version"], found["new_version"], found["identical"]) == (2, 1, False)
    assert found["diff"].startswith("--- sw1 version 2\n+++ sw2 version 1\n@@ ")
    older = (await fleet.api.get(f"{base}&old_version=1")).expect()
    assert older["diff"].replace("version 1", "version 2", 1) == found["diff"]  # a secret counts as any other
    assert "c4nary" not in found["diff"] + older["diff"]
    columns = (await fleet.api.get(f"{base}&format=side_by_side")).expect()
    assert columns["deletions"] == found["deletions"]
    assert (await fleet.api.get(f"{base}&secrets=true")).expect()["diff"].count("c4nary") == 2
    itself = (await fleet.api.get(f"/api/config/diff?old_device_id={one}&new_device_id={one}")).expect()
    assert (itself["identical"], itself["diff"]) == (True, "")
    assert_error(await fleet.api.get(f"{base}&old_version=9"), 404, "Config version not found")
    empty = await fleet.entry("sw3", 22)
    unread = f"/api/config/diff?old_device_id={one}&new_device_id={empty}"
    assert_error(await fleet.api.get(unread), 404, "No config is stored")


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ("", 400, "old_device_id"),
        (f"?old_device_id={ABSENT_ID}", 400, "new_device_id"),
        (f"?old_device_id=sw1&new_device_id={ABSENT_ID}", 400, "old_device_id"),
        (f"?old_device_id={ABSENT_ID}&new_device_id={ABSENT_ID}", 404, "Device not found"),
        (f"?old_device_id={ABSENT_ID}&new_device_id={ABSENT_ID}&format=html", 400, "format"),
        (f"?old_device_id={ABSENT_ID}&new_device_id={ABSENT_ID}&context=1001", 400, "context"),
        (f"?old_device_id={ABSENT_ID}&new_device_id={ABSENT_ID}&context=-1", 400, "context"),
        (f"?old_device_id={ABSENT_ID}&new_device_id={ABSENT_ID}&new_version=0", 400, "new_version"),
    ],
)
async def test_bad_diffs_of_devices(fleet: Fleet, query: str, status: int, text: str) -> None:
    assert_error(await fleet.api.get(f"/api/config/diff{query}"), status, text)


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        pytest.param("diff?format=html", 400, id="no such form of a diff"),
        pytest.param("diff?context=1001", 400, id="more context than there may be"),
        pytest.param("diff?context=x", 400, id="context that is no number"),
        pytest.param("configs/latest", 404, id="nothing stored yet"),
        pytest.param("configs/1", 404, id="no such version"),
        pytest.param("configs/0", 404, id="version zero"),
        pytest.param("configs/01", 404, id="a version with a leading zero"),
        pytest.param("configs/1e3", 404, id="a version that is no number"),
        pytest.param("configs/99999999999999999999", 404, id="a huge version"),
        pytest.param("configs?limit=0", 400, id="limit zero"),
        pytest.param("diff?old_version=x", 400, id="old_version that is no number"),
        pytest.param("diff?new_version=0", 400, id="new_version zero"),
        pytest.param("configs/latest?secrets=yes", 400, id="secrets neither true nor false"),
    ],
)
async def test_bad_reads(fleet: Fleet, rest: str, status: int) -> None:
    device_id = await fleet.entry("sw1", 22)
    assert_error(await fleet.api.get(path(device_id, rest)), status)


async def test_who_may_do_what(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", *configs("a1", "b2"))
    nobody, reader = fleet.with_permissions("tasks.operate"), fleet.with_permissions("devices.access")
    stranger = fleet.served.client("*")[0]
    reads = [path(device_id, rest) for rest in ("configs", "configs/latest", "configs/1", "diff")]
    for read in reads:
        assert (await reader.get(read)).status == 200
        assert_error(await nobody.get(read), 403)
        assert_error(await stranger.get(read), 404, "Device not found")
    for missing in (ABSENT_ID, "7"):
        assert_error(await reader.get(path(missing, "configs")), 404, "Device not found")
    assert_error(await reader.post(path(device_id, "pull")), 403)
    assert_error(await stranger.post(path(device_id, "pull")), 404, "Device not found")
    assert_error(await reader.post("/api/config/devices/bulk-pull", {"device_ids": []}), 403)


async def test_a_device_failure_is_502_with_its_reason(fleet: Fleet) -> None:
    device_id = await fleet.device(fleet.simulated(faults=Faults(refuse_logins=True)))
    assert_error(await fleet.api.post(path(device_id, "pull")), 502, "refused")
    only_there = await fleet.credential("only there", allowed_hosts=["10.0.0.0/8"])
    await fleet.api.put(f"/api/devices/{device_id}", {"default_credential_id": only_there})
    assert_error(await fleet.api.post(path(device_id, "pull")), 409, "credential not allowed for this host")


async def test_a_bulk_pull_reports_each_failure(fleet: Fleet) -> None:
    good = [await fleet.device(fleet.simulated(f"sw{number}")) for number in range(3)]
    bad = await fleet.device(fleet.simulated("bad", faults=Faults(refuse_logins=True)))
    other = await fleet.served.client("*")[0].post(
        "/api/devices", {"name": "theirs", "host": "127.0.0.1", "device_type": "linux"}
    )
    ids = [*good, bad, good[0].upper(), ABSENT_ID, other.json["id"]]
    found = (await fleet.api.post("/api/config/devices/bulk-pull", {"device_ids": ids})).json
    assert (found["succeeded"], found["failed"]) == (3, 3)
    errors = {error["device_id"]: error for error in found["errors"]}
    assert errors[bad]["device_name"] == "bad"
    assert "refused" in errors[bad]["error"]
    for missing in (ABSENT_ID, other.json["id"]):
        assert errors[missing] == {"device_id": missing, "device_name": None, "error": "Device not found"}
    newest = (await fleet.api.get(path(good[0], "configs/latest"))).json
    assert newest["pulled_via"] == "bulk"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param({}, "device_ids", id="missing"),
        pytest.param({"device_ids": None}, "device_ids", id="null"),
        pytest.param({"device_ids": "all"}, "device_ids", id="a text"),
        pytest.param({"device_ids": ["7"]}, "device_ids", id="no uuid"),
        pytest.param({"device_ids": [{"$ne": 1}]}, "device_ids", id="an operator"),
        pytest.param({"device_ids": [], "site": "x"}, "site", id="an unknown field"),
    ],
)
async def test_bad_bulk_pulls(fleet: Fleet, body: Any, text: str) -> None:
    assert_error(await fleet.api.post("/api/config/devices/bulk-pull", body), 400, text)


async def test_a_bulk_pull_of_nothing_is_fine(fleet: Fleet) -> None:
    found = await fleet.api.post("/api/config/devices/bulk-pull", {"device_ids": []})
    assert found.json == {"succeeded": 0, "failed": 0, "errors": []}
