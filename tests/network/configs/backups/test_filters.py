"""The list of devices by how their backups stand: filters, sorts and counts of them."""

from datetime import timedelta
from functools import partial
from typing import Any

from netautod.core.clock import SystemClock
from netautod.network.configs.backups.models import BackupCounts
from netautod.network.configs.backups.store import BackupStates
from netautod.network.devices.models import DeviceFilter
from netautod.network.devices.records.counts import DeviceCounts
from tests.network.configs.fleet import Fleet
from tests.support.client import assert_error

LIST = "/api/devices/with-backup-info"
ASKED = (
    ("", "a b c d e f"),
    ("status=success", "a f"),
    ("status=failed", "b c d"),
    ("status=never", "e"),
    ("status=stale", "f"),
    ("error_kind=auth", "b c"),
    ("error_kind=timeout", "d"),
    ("error_kind=unknown", ""),
    ("status=success&error_kind=auth", ""),
    ("older_than_hours=2", "b f"),
    ("older_than_hours=0", "a b c d e f"),
    ("older_than_hours=101", ""),
    ("older_than_hours=2&status=failed", "b"),
    ("older_than_hours=101&status=stale", ""),
    ("older_than_hours=2&status=stale", "f"),
    ("sort=last_backup_at", "e f a c b d"),
    ("sort=status", "b c d e a f"),
    ("sort=status&status=stale", "f"),
    ("sort=last_backup_at&status=failed", "c b d"),
    ("sort=last_backup_at&site=Bonn", "a b"),
    ("sort=last_backup_at&q=A", "a"),
    ("sort=status&site=Bonn", "b a"),
    ("sort=name&older_than_hours=2&site=Bonn", "b"),
    ("status=failed&site=Bonn", "b"),
    ("status=failed&q=C", "c"),
    ("status=success&q=zz", ""),
    ("status=failed&device_type=linux", "d"),
    ("error_kind=timeout&tag=x", ""),
    ("error_kind=auth&tag=x", "c"),
)


async def mixed(fleet: Fleet) -> dict[str, str]:
    """Ids by name; `gone` failed and is deleted."""
    fields: dict[str, dict[str, Any]] = {
        "a": {"site": "Bonn"},
        "b": {"site": "Bonn"},
        "c": {"tags": ["x"]},
        "d": {"device_type": "linux"},
        "e": {},
        "f": {},
        "gone": {"site": "Bonn"},
    }
    ids = {name: await fleet.entry(name, 22, **more) for name, more in fields.items()}
    captured = (
        *(("f", 100, None), ("b", 3, None), ("a", 1.5, None), ("c", 1.2, "auth")),
        *(("b", 1.1, "auth"), ("d", 1, "timeout"), ("gone", 1, "auth")),
    )
    for name, hours, kind in captured:
        await noted(fleet, ids[name], hours, kind)
    assert (await fleet.api.delete(f"/api/devices/{ids.pop('gone')}")).status == 204
    return ids


async def noted(fleet: Fleet, device_id: str, hours: float, kind: str | None) -> None:
    at = fleet.installation.clock.now() - timedelta(hours=hours)
    error = None if kind is None else f"it was {kind}"
    states = fleet.installation.stores.backup_states
    await states.record(fleet.work(), device_id, at=at, error=error, kind=kind)


async def counts(fleet: Fleet, query: str = "") -> Any:
    return (await fleet.api.get(f"{LIST}?{query}")).expect()["counts"]


async def test_filters_sorts_and_totals(fleet: Fleet) -> None:
    await mixed(fleet)
    for query, names in ASKED:
        found = (await fleet.api.get(f"{LIST}?{query}")).expect()
        assert [device["name"] for device in found["devices"]] == names.split(), query
        assert found["total"] == len(names.split()), query
        for offset, name in enumerate(names.split()):
            page = (await fleet.api.get(f"{LIST}?{query}&limit=1&offset={offset}")).expect()
            assert ([device["name"] for device in page["devices"]], page["total"]) == (
                [name],
                len(names.split()),
            ), query
    shown = (await fleet.api.get(f"{LIST}?sort=status")).expect()["devices"]
    assert [device["error_kind"] for device in shown] == ["auth", "auth", "timeout", None, None, None]
    assert [device["last_backup_error"] for device in shown][1:4] == ["it was auth", "it was timeout", None]


async def test_counts_are_of_the_filter_of_devices_and_not_of_the_page(fleet: Fleet) -> None:
    ids = await mixed(fleet)
    every = {
        "success": 2,
        "failed": 3,
        "never": 1,
        "stale": 1,
        "by_kind": {"auth": 2, "timeout": 1},
    }
    for query in ("", "status=never", "limit=1&offset=5", "offset=100", "error_kind=auth&sort=status"):
        assert await counts(fleet, query) == every
    bonn = {"success": 1, "failed": 1, "never": 0, "stale": 0, "by_kind": {"auth": 1}}
    assert await counts(fleet, "site=Bonn") == bonn
    linux = {"success": 0, "failed": 1, "never": 0, "stale": 0, "by_kind": {"timeout": 1}}
    assert await counts(fleet, "device_type=linux&status=success") == linux
    assert await counts(fleet, "q=f") == {"success": 1, "failed": 0, "never": 0, "stale": 1, "by_kind": {}}
    nothing = {"success": 0, "failed": 0, "never": 0, "stale": 0, "by_kind": {}}
    assert (await fleet.served.client("*")[0].get(LIST)).expect()["counts"] == nothing
    # What changes is counted anew at once: captures, other sites and types, deletions, new devices.
    await noted(fleet, ids["b"], 0, None)
    assert await counts(fleet, "site=Bonn") == {**nothing, "success": 2}
    (await fleet.api.put(f"/api/devices/{ids['d']}", {"site": "Bonn", "device_type": "cisco_ios"})).expect()
    assert await counts(fleet, "site=Bonn") == {**linux, "success": 2}
    assert await counts(fleet, "device_type=linux") == nothing
    assert (await fleet.api.delete(f"/api/devices/{ids['d']}")).status == 204
    await fleet.entry("new", 22)
    assert await counts(fleet) == {**every, "success": 3, "failed": 1, "never": 2, "by_kind": {"auth": 1}}


async def test_what_a_filter_cannot_mean_is_refused(fleet: Fleet) -> None:
    for query in (
        *("status=bad", "status=", "error_kind=odd", "sort=size", "older_than_hours=-1"),
        *("older_than_hours=1.5", "older_than_hours=876001"),
    ):
        assert_error(await fleet.api.get(f"{LIST}?{query}"), 400, query.split("=")[0])


async def test_the_tag_follows_what_is_shown(fleet: Fleet) -> None:
    """Counts too: the page of the others is another one when a device on none of its rows has failed."""
    ids = await mixed(fleet)
    path = f"{LIST}?status=success&limit=1"
    tag = (await fleet.api.get(path)).headers["ETag"]
    same = await fleet.api.get(path, headers={"If-None-Match": tag})
    assert same.status == 304
    await noted(fleet, ids["e"], 0, "lost")
    changed = await fleet.api.get(path, headers={"If-None-Match": tag})
    assert (changed.status, changed.headers["ETag"] != tag) == (200, True)


async def test_a_device_becomes_stale_without_a_write(fleet: Fleet) -> None:
    await mixed(fleet)
    counting, now = fleet.installation.stores.backup_states.counts, SystemClock().now()
    of = partial(counting.of, fleet.org_id, stale_hours=48.0)
    for narrowed, expected in ((DeviceFilter(), [1, 2, 6]), (DeviceFilter(site="Bonn"), [0, 1, 2])):
        found = [(await of(narrowed, now=now + timedelta(hours=hours))).stale for hours in (0, 46, 49)]
        assert found == expected
        # What was kept for later is not what holds now.
        assert (await of(narrowed, now=now)).stale == expected[0]
    assert (await counting.of(fleet.org_id, DeviceFilter(), now=now, stale_hours=0)).stale == 0


async def test_what_another_node_notes_is_counted_at_once(fleet: Fleet) -> None:
    ids = await mixed(fleet)
    database = fleet.database
    other = BackupStates(database, totals=DeviceCounts(database))
    ask = partial(other.counts.of, fleet.org_id, DeviceFilter(), now=SystemClock().now(), stale_hours=48.0)
    before = await ask()
    assert await ask() is before  # kept
    await noted(fleet, ids["e"], 0, "lost")
    assert await ask() == BackupCounts(
        success=2, failed=4, never=0, stale=1, by_kind={"auth": 2, "timeout": 1, "lost": 1}
    )
