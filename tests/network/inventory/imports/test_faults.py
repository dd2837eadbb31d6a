"""Imports that something comes between: a crash, an outage, a record that goes away or changes its name."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from netautod.core.errors import UnknownOutcome
from netautod.core.identity.caller import OrgId
from netautod.network.devices.bulk_creation import Fields
from netautod.network.inventory.imports import run as import_run
from netautod.network.inventory.imports.csv_rows import CsvFile
from netautod.store.scoped import scoped
from tests.network.devices.inventory import DEVICE, Inventory
from tests.network.inventory.imports.files import GOOD, HEAD, JSON, import_csv
from tests.support.client import assert_error

ROWS = 3 * import_run.BATCH
TEXT = HEAD + "\n" + "".join(f"d{number:04},10.0.0.1,linux\n" for number in range(ROWS))
Insert = Callable[..., Awaitable[list[str | None]]]


def failing(insert: Insert, error: Exception, *, after: int) -> Insert:
    """`insert`, which raises the error instead of its call number `after` + 1."""
    calls: list[int] = []

    async def failing_insert(org_id: OrgId, devices: Sequence[Fields], *, source: str) -> list[str | None]:
        calls.append(len(devices))
        if len(calls) > after:
            raise error
        return await insert(org_id, devices, source=source)

    return failing_insert


async def events(inventory: Inventory) -> list[Any]:
    found = await scoped(inventory.database, "audit_events").find(
        inventory.org_id, {"action": "device.import"}, sort=[("at", 1)]
    )
    return [event["details"] for event in found]


async def test_what_is_in_after_a_crash_stays_and_a_second_run_brings_the_rest(
    inventory: Inventory, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = inventory.services.imports._batches
    monkeypatch.setattr(batches, "insert", failing(batches.insert, RuntimeError("power failure"), after=2))
    assert (await import_csv(inventory.api, TEXT)).status == 500
    assert (await inventory.api.get("/api/devices")).json["total"] == 2 * import_run.BATCH
    restarted = inventory.on_another_node()
    again = await restarted.imports.run(inventory.caller, CsvFile(TEXT.encode()))
    assert (again.imported, again.failed) == (import_run.BATCH, 2 * import_run.BATCH)
    assert again.errors[0].to_json() == {
        "row": 1,
        "name": "d0000",
        "error": "Device with this name already exists",
    }
    assert (await inventory.api.get("/api/devices")).json["total"] == ROWS


async def test_an_interrupted_import_is_audited_as_such(
    inventory: Inventory, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = inventory.services.imports._batches
    insert = batches.insert
    lost = UnknownOutcome("The database is not available at the moment")
    monkeypatch.setattr(batches, "insert", failing(insert, lost, after=1))
    assert_error(await import_csv(inventory.api, TEXT), 503, "database is not available")
    counts = {"source": "csv", "imported": import_run.BATCH, "failed": 0, "completed": False}
    assert await events(inventory) == [counts]
    monkeypatch.setattr(batches, "insert", failing(insert, lost, after=0))
    assert_error(await import_csv(inventory.api, TEXT), 503)
    assert await events(inventory) == [counts]  # nothing was changed


@pytest.mark.parametrize("link", ["default_credential_id", "site_id"])
async def test_a_record_that_is_deleted_between_the_check_and_the_write_is_not_named(
    inventory: Inventory, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    credential, site = await inventory.credential("ssh"), await inventory.site("Berlin")
    services = inventory.services
    targets: dict[str, tuple[Any, str, str]] = {
        "default_credential_id": (services.credentials, "types_of", credential["id"]),
        "site_id": (services.sites, "names_of", site["id"]),
    }
    service, reader, record_id = targets[link]
    read, reads = getattr(service, reader), []

    async def read_then_delete(org_id: OrgId, wanted: set[str]) -> Any:
        found = await read(org_id, wanted)
        reads.append(found)
        if len(reads) == 2:  # after the check of the rows, at that of the write
            await service.delete(inventory.caller, record_id)
        return found

    monkeypatch.setattr(service, reader, read_then_delete)
    answer = (await inventory.api.post(JSON, [{**DEVICE, link: record_id}, {**DEVICE, "name": "b"}])).expect()
    (error,) = answer["errors"]
    assert (answer["imported"], error["row"], error["name"]) == (1, 1, "core-1")
    assert error["error"].startswith(f"{link}: there is no such")
    left = (await inventory.api.get("/api/devices")).json["devices"]
    assert [device["name"] for device in left] == ["b"]


async def test_a_site_that_is_renamed_meanwhile_has_its_new_name_on_the_devices(
    inventory: Inventory, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = await inventory.site("Berlin")
    sites = inventory.services.sites
    read, reads = sites.names_of, []

    async def read_then_rename(org_id: OrgId, wanted: Any) -> dict[str, str]:
        found = await read(org_id, wanted)
        reads.append(found)
        if len(reads) == 2:
            await sites.update(inventory.caller, site["id"], {"name": "Bonn"})
        return found

    monkeypatch.setattr(sites, "names_of", read_then_rename)
    rows = [{**DEVICE, "name": f"d{number}", "site_id": site["id"]} for number in range(3)]
    assert (await inventory.api.post(JSON, rows)).expect()["imported"] == 3
    listed = (await inventory.api.get("/api/devices")).json["devices"]
    assert [device["site"] for device in listed] == ["Bonn"] * 3


async def test_progress_is_told_after_each_batch(inventory: Inventory) -> None:
    told: list[tuple[int, int]] = []
    await inventory.services.imports.run(
        inventory.caller, CsvFile(TEXT.encode()), progress=lambda done, total: told.append((done, total))
    )
    assert told == [(import_run.BATCH * number, ROWS) for number in (1, 2, 3)]
    told.clear()
    await inventory.services.imports.run(
        inventory.caller,
        CsvFile(GOOD.encode()),
        dry_run=True,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(1, 1)]


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_hundred_thousand_rows_get_in(inventory: Inventory) -> None:
    rows = 100_000
    text = HEAD + ",site,tags\n" + "".join(f"d{n},10.0.0.1,linux,s{n % 40},a|b\n" for n in range(rows))
    assert (await import_csv(inventory.api, text)).expect() == {"imported": rows, "failed": 0, "errors": []}
    assert (await inventory.api.get("/api/devices?limit=1")).json["total"] == rows
    again = (await import_csv(inventory.api, text, "?dry_run=true")).expect()
    assert (again["imported"], again["failed"]) == (0, rows)
