"""Imports over HTTP: good rows get in, and each bad one is an error of its own."""

import asyncio
from typing import Any

import pytest

from netautod.network.inventory.imports.models import MOST_ERRORS
from netautod.store.scoped import scoped
from tests.network.devices.inventory import ABSENT_ID, DEVICE, EMPTY, FULL, Inventory
from tests.network.inventory.imports.files import GOOD, HEAD, JSON, import_csv
from tests.support.client import ApiClient


async def devices(api: ApiClient) -> dict[str, Any]:
    """The devices of the first page, all fields, by name."""
    listed = (await api.get("/api/devices?limit=100")).json["devices"]
    whole = [(await api.get(f"/api/devices/{device['id']}")).json for device in listed]
    return {device["name"]: device for device in whole}


async def test_rows_become_devices_with_the_defaults_of_a_created_one(inventory: Inventory) -> None:
    text = (
        f'{HEAD},port,Tags,Rack,description\na,10.0.0.1,linux,,,,\nb,10.0.0.2,linux,2222,x|y|x,7,"=1\n+1"\n'
    )
    assert (await import_csv(inventory.api, text)).expect() == {"imported": 2, "failed": 0, "errors": []}
    made = await devices(inventory.api)
    defaults = {**EMPTY, "source": "csv", "org_id": inventory.org_id, "device_type": "linux"}
    assert {**made["a"], **defaults, "host": "10.0.0.1"} == made["a"]
    more = {"port": 2222, "tags": ["x", "y"], "metadata": {"Rack": "7"}, "description": "=1\n+1"}
    assert {**made["b"], **defaults, **more} == made["b"]
    assert made["a"]["created_at"] == made["a"]["updated_at"]
    by_source = await inventory.api.get("/api/devices?source=csv")
    assert by_source.json["total"] == 2


async def test_json_rows_take_every_field_of_a_device(inventory: Inventory) -> None:
    site, jump = await inventory.site("Berlin"), await inventory.device(name="jump")
    ssh = await inventory.credential("ssh")
    snmp = await inventory.credential("snmp", credential_type="snmp_community", username=None)
    links = {
        "site_id": site["id"].upper(),
        "jump_device_id": jump["id"],
        "default_credential_id": ssh["id"],
        "snmp_credential_id": snmp["id"],
        "automation_credential_id": ssh["id"],
    }
    rows = [{**FULL, "id": ABSENT_ID, "source": "csv"}, {**FULL, "name": "linked", **links}]
    assert (await inventory.api.post(JSON, rows)).expect() == {"imported": 2, "failed": 0, "errors": []}
    made = await devices(inventory.api)
    assert {**made["edge-1"], **FULL, "source": "manual"} == made["edge-1"]
    linked = {**FULL, **links, "name": "linked", "site_id": site["id"], "site": "Berlin"}
    assert {**made["linked"], **linked} == made["linked"]


async def test_each_bad_row_is_an_error_and_the_others_get_in(inventory: Inventory) -> None:
    await inventory.device(name="taken")
    text = "\n".join(
        [
            HEAD + ",port",
            "good-1,10.0.0.1,linux,22",
            ",10.0.0.1,linux,22",
            "no-host,,linux,22",
            "taken,10.0.0.1,linux,22",
            "bad-host,a b,linux,ssh",
            "",
            "good-1,10.0.0.9,linux,22",
            "good-2,10.0.0.2,linux,22,surplus",
            " good-3 ,10.0.0.2,linux,",
            "good-3,10.0.0.2,linux,",
        ]
    )
    for query, found in (("?dry_run=true", {"taken"}), ("", {"taken", "good-1", "good-3"})):
        answer = (await import_csv(inventory.api, text, query)).expect()
        assert (answer["imported"], answer["failed"]) == (2, 7)
        assert [(error["row"], error["name"], error["error"]) for error in answer["errors"]] == [
            (2, "", "name: Missing data for required field"),
            (3, "no-host", "host: Missing data for required field"),
            (4, "taken", "Device with this name already exists"),
            (5, "bad-host", "host: Must be a host name or an IP address; port: Not a valid integer"),
            (6, "good-1", "name: the same as in row 1"),
            (7, "good-2", "the row has more cells than the header row"),
            (9, "good-3", "name: the same as in row 8"),
        ]
        assert set(await devices(inventory.api)) == found
    again = (await import_csv(inventory.api, text)).expect()
    assert (again["imported"], again["failed"]) == (0, 9)


async def test_the_check_warns_of_device_types_that_nothing_has(inventory: Inventory) -> None:
    types = ["linux", "cisco_isos", "fortinet_fortios", "sun_solaris", "cisco_ios_telnet", "cisco_isos"]
    rows = "".join(f"d{number},10.0.0.1,{kind}\n" for number, kind in enumerate(types, 1))
    text = f"{HEAD}\n{rows}bad,a b,nothing\n"
    check = (await import_csv(inventory.api, text, "?dry_run=true")).expect()
    none = "device_type: no platform is called"
    assert check["warnings"] == [
        {
            "row": 2,
            "name": "d2",
            "warning": f"{none} cisco_isos: 2 rows are handled as generic; did you mean cisco_ios?",
        },
        {"row": 4, "name": "d4", "warning": f"{none} sun_solaris: this row is handled as generic"},
    ]
    assert (check["imported"], check["failed"]) == (6, 1)
    done = (await import_csv(inventory.api, text)).expect()
    assert set(done) == {"imported", "failed", "errors"}


async def test_a_row_with_a_transport_that_nothing_serves_fails(inventory: Inventory) -> None:
    rows = [{**DEVICE, "automation_transport": "restconf"}, {**DEVICE, "automation_transport": "eapi"}]
    answer = (await inventory.api.post(JSON, rows)).expect()
    (error,) = answer["errors"]
    assert (answer["imported"], error["row"]) == (1, 1)
    assert error["error"] == "automation_transport: Must be one of: cli, eapi, netconf, snmp"


async def test_a_row_with_the_name_of_a_bad_one_gets_in(inventory: Inventory) -> None:
    rows = [{**DEVICE, "port": 0}, {**DEVICE, "site_id": ABSENT_ID}, DEVICE]
    answer = (await inventory.api.post(JSON, rows)).expect()
    assert answer["imported"] == 1
    assert [error["row"] for error in answer["errors"]] == [1, 2]


@pytest.mark.parametrize(
    ("row", "name", "text"),
    [
        pytest.param(7, "", "the row must be a JSON object", id="no object"),
        pytest.param({"name": "a"}, "a", "device_type: Missing data", id="fields missing"),
        pytest.param({**DEVICE, "hostname": 1}, "core-1", "hostname: Unknown field", id="unknown field"),
        pytest.param({**DEVICE, "name": {"$ne": 1}}, "", "name: Not a valid string", id="an operator"),
        pytest.param({**DEVICE, "name": "a\0b"}, "a\0b", "name: NUL is not allowed", id="NUL"),
        pytest.param({**DEVICE, "name": "\ud800"}, "?", "name: the text is not valid", id="lone surrogate"),
        pytest.param({**DEVICE, "name": "x" * 300}, "x" * 255, "name: Length must", id="a long name"),
        pytest.param(
            {**DEVICE, "x" * 9000: 1}, "core-1", "x" * 200 + "...: Unknown field", id="a long field name"
        ),
        pytest.param({**DEVICE, "metadata": {"a": 2**64}}, "core-1", "metadata.a: the number", id="int64"),
    ],
)
async def test_a_bad_json_row_is_an_error(inventory: Inventory, row: Any, name: str, text: str) -> None:
    answer = (await inventory.api.post(JSON, [row])).expect()
    (error,) = answer.pop("errors")
    assert answer == {"imported": 0, "failed": 1}
    assert (error["row"], error["name"]) == (1, name)
    assert text in error["error"]
    assert len(error["error"]) <= 500


async def test_an_operator_object_is_an_error_in_every_field(inventory: Inventory) -> None:
    fields = sorted({*FULL, "site_id", "jump_device_id", "default_credential_id"} - {"metadata"})
    rows = [
        {**FULL, "name": f"d-{field}", field: wrong}
        for field in fields
        for wrong in ({"$ne": None}, [{"$gt": ""}])
    ]
    answer = (await inventory.api.post(JSON, rows)).expect()
    assert (answer["imported"], answer["failed"]) == (0, len(rows))
    for error, field in zip(answer["errors"][::2], fields, strict=True):
        assert error["error"].startswith(field)
    assert (await inventory.api.get("/api/devices")).json["total"] == 0


async def test_links_of_other_organizations_are_errors(inventory: Inventory) -> None:
    site, device = await inventory.site("Berlin"), await inventory.device()
    credential = await inventory.credential("ssh")
    snmp = await inventory.credential("snmp", credential_type="snmp_community", username=None)
    cases = [
        ("site_id", site["id"], "site_id: there is no such site"),
        ("jump_device_id", device["id"], "jump_device_id: there is no such device"),
        ("default_credential_id", credential["id"], "default_credential_id: there is no such credential"),
        ("snmp_credential_id", snmp["id"], "snmp_credential_id: there is no such credential"),
    ]
    rows = [{**DEVICE, "name": field, field: value} for field, value, _ in cases]
    answer = (await inventory.elsewhere().post(JSON, rows)).expect()
    assert [error["error"] for error in answer["errors"]] == [text for _, _, text in cases]
    assert answer["imported"] == 0
    unfit = await inventory.api.post(JSON, [{**DEVICE, "name": "x", "snmp_credential_id": credential["id"]}])
    assert "of the type ssh_password cannot be used here" in unfit.json["errors"][0]["error"]


async def test_a_chain_of_jumps_is_bounded(inventory: Inventory) -> None:
    hops = [await inventory.device(name="hop")]
    for number in range(8):
        hops.append(await inventory.device(name=f"hop-{number}", jump_device_id=hops[-1]["id"]))
    rows = [{**DEVICE, "name": f"d{number}", "jump_device_id": hop["id"]} for number, hop in enumerate(hops)]
    answer = (await inventory.api.post(JSON, rows)).expect()
    assert answer["imported"] == 8
    assert [error["error"] for error in answer["errors"]] == ["jump_device_id: more than 8 jumps"]


@pytest.mark.parametrize(
    ("permissions", "csv", "imported"),
    [
        pytest.param(["devices.access"], 403, None, id="access"),
        pytest.param(["devices.manage"], 200, 1, id="manage"),
        pytest.param(["devices.manage", "credentials.manage"], 200, 2, id="and credentials"),
    ],
)
async def test_permissions(
    inventory: Inventory, permissions: list[str], csv: int, imported: int | None
) -> None:
    credential = await inventory.credential("ssh")
    api = inventory.with_permissions(*permissions)
    assert (await import_csv(api, f"{HEAD}\nx,10.0.0.1,linux\n")).status == csv
    rows = [DEVICE, {**DEVICE, "name": "named", "default_credential_id": credential["id"]}]
    answer = await api.post(JSON, rows)
    assert answer.status == csv
    if imported is not None:
        assert answer.json["imported"] == imported
        told = [error["error"] for error in answer.json["errors"]]
        assert told == ["naming a credential needs the permission credentials.manage"] * (2 - imported)


async def test_all_failures_are_counted_and_the_first_ones_listed(inventory: Inventory) -> None:
    rows = MOST_ERRORS + 500
    text = HEAD + "\n" + "bad,a b,linux\n" * rows
    answer = (await import_csv(inventory.api, text)).expect()
    assert (answer["imported"], answer["failed"], len(answer["errors"])) == (0, rows, MOST_ERRORS + 1)
    assert [error["row"] for error in answer["errors"]] == list(range(1, MOST_ERRORS + 2))
    assert answer["errors"][-1] == {
        "row": MOST_ERRORS + 1,
        "name": "bad",
        "error": "only 10000 errors are listed: this row and 499 after it failed too",
    }
    exactly = (await import_csv(inventory.api, HEAD + "\n" + "bad,a b,linux\n" * MOST_ERRORS)).expect()
    assert {error["error"] for error in exactly["errors"]} == {"host: Must be a host name or an IP address"}
    assert len(exactly["errors"]) == exactly["failed"] == MOST_ERRORS


async def test_an_import_is_one_audit_event_with_counts_only(inventory: Inventory) -> None:
    text = f"{HEAD},password\na,10.0.0.1,linux,canary\nb,a b,linux,canary\n"
    await import_csv(inventory.api, text, "?dry_run=true")
    await import_csv(inventory.api, text)
    events = await scoped(inventory.database, "audit_events").find(inventory.org_id, {})
    assert [(event["action"], event["actor_id"]) for event in events] == [
        ("device.import", inventory.caller.user_id)
    ]
    assert events[0]["details"] == {"source": "csv", "imported": 1, "failed": 1, "completed": True}


async def test_the_same_file_imported_many_times_at_once_gets_in_once(inventory: Inventory) -> None:
    text = HEAD + "\n" + "".join(f"d{number},10.0.0.1,linux\n" for number in range(700))
    answers = await asyncio.gather(*(import_csv(inventory.api, text) for _ in range(4)))
    assert sum(answer.json["imported"] for answer in answers) == 700
    assert {answer.json["imported"] + answer.json["failed"] for answer in answers} == {700}
    assert (await inventory.api.get("/api/devices")).json["total"] == 700


async def test_organizations_import_the_same_names(inventory: Inventory) -> None:
    for api in (inventory.api, inventory.elsewhere()):
        assert (await import_csv(api, GOOD)).expect()["imported"] == 1
        assert (await api.get("/api/devices")).json["total"] == 1


async def test_the_name_of_a_deleted_device_is_free(inventory: Inventory) -> None:
    device = await inventory.device(name="a")
    await inventory.api.delete(f"/api/devices/{device['id']}")
    assert (await import_csv(inventory.api, GOOD)).expect()["imported"] == 1
