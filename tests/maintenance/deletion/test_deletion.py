"""The deletion of an organization: everything of it goes, and nothing of another one."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from netautod.assembly.data.stores import INDEXES, SEALED_FIELDS
from netautod.assembly.identity import build_lockout
from netautod.core.errors import Conflict, NotFound
from netautod.core.identity.caller import OrgId, system_caller
from netautod.identity.auth.lockout.service import Lockout
from netautod.identity.users.models import NewUser
from netautod.maintenance.deletion.organization import REASON, OrganizationDeletion
from netautod.maintenance.deletion.ownership import KEPT_TO_THE_END, KNOWN, OWNED, SHARED
from netautod.store.client import Collection, Database, Document
from tests.support.databases import stores_of
from tests.support.installation import PASSWORD, Installation, open_installation
from tests.support.organizations import of_organization, unknown_collections

SOON = datetime.now(UTC) + timedelta(days=1)


@pytest.fixture
async def installation(indexed: Database, tmp_path: Path) -> Installation:
    return await (await open_installation(indexed, tmp_path)).started(tmp_path)


@pytest.fixture
async def lockout(installation: Installation) -> Lockout:
    return build_lockout(installation)


def deletion_of(installation: Installation, lockout: Lockout) -> OrganizationDeletion:
    return OrganizationDeletion(
        database=installation.database,
        stores=installation.stores,
        organizations=installation.organizations,
        lockout=lockout,
        report=lambda text: None,
        settled_seconds=0.01,
    )


@pytest.fixture
async def deletion(installation: Installation, lockout: Lockout) -> OrganizationDeletion:
    return deletion_of(installation, lockout)


async def made(installation: Installation, name: str) -> OrgId:
    created = await installation.organizations.create_organization(name, admin=f"{name}-admin")
    return created.organization.id


async def fill(installation: Installation, org_id: OrgId, name: str) -> None:
    """Two documents in every collection where there may be more than one of an organization."""
    for owned in OWNED:
        collection = installation.database.collection(owned.collection)
        if owned.field == "_id":
            await collection.update({"_id": org_id}, {"$set": {"touched": True}}, upsert=True)
            continue
        for number in range(2):
            key = f"{name}-{owned.collection}-{number}"
            unique = {"name": key, "username": key, "hash": key, "task_id": key, "execution_id": key}
            more = {"version": number, "seq": 1000 + number, "serial": number, "state": "completed"}
            await collection.insert({"_id": key, owned.field: org_id, **unique, **more})
    await installation.database.collection("pauses").insert({"_id": org_id, "reason": "x"})
    leases = (f"device:{name}-devices-0", f"poll:{name}-devices-1", f"sync:{org_id}:source")
    for lease in leases:
        over = {"owner": "dead", "epoch": 1, "claim": "c", "lease_until": datetime(2020, 1, 1, tzinfo=UTC)}
        await installation.database.collection("leases").insert({"_id": lease, **over})
    seat = {"number": len(name), "holder": f"{name}-sessions-0", "confirmed": True}
    await installation.database.collection("seats").insert({"_id": f"seat:{name}", **seat})


async def everything(database: Database) -> dict[str, list[Document]]:
    names = await database._raw.list_collection_names()
    return {name: await database.collection(name).find({}, sort=[("_id", 1)]) for name in sorted(names)}


def test_every_collection_with_an_index_or_a_secret_is_known() -> None:
    declared = {index.collection for index in INDEXES} | {field.collection for field in SEALED_FIELDS}
    assert declared - KNOWN == set()
    assert len(KNOWN) == len(OWNED) + len(KEPT_TO_THE_END) + len(SHARED)


def test_every_collection_that_a_store_opens_is_known(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, collection = set[str](), Database.collection

    def noted(self: Database, name: str) -> Collection:
        opened.add(name)
        return collection(self, name)

    monkeypatch.setattr(Database, "collection", noted)
    stores_of(database)
    assert len(opened) > 30
    assert opened - KNOWN == set()


async def test_everything_of_it_goes_and_nothing_of_another_one(
    installation: Installation, deletion: OrganizationDeletion, lockout: Lockout
) -> None:
    database = installation.database
    acme, other = await made(installation, "acme"), await made(installation, "other")
    for org_id, name in ((acme, "acme"), (other, "other")):
        await fill(installation, org_id, name)
        for username in (f"{name}-admin", f"{name}-users-0"):
            attempt = await lockout.admit("192.0.2.1", username)
            await lockout.failed(attempt)
            await lockout.succeeded(attempt)
            await lockout.failed(attempt)
            await lockout.admit_code(attempt)
    before = await everything(database)
    counts = await deletion.run("acme")
    after = await everything(database)
    assert unknown_collections(after) == set()
    assert of_organization(after, acme, "acme") == {}
    # Of the others nothing has changed but the audit, and the address that both came from.
    own = Counter({name: sum(1 for row in rows if is_of(row, acme, "acme")) for name, rows in before.items()})
    assert counts["users"] == own["users"] == 3
    assert counts["devices"] == 2
    for name, rows in after.items():
        if name in ("audit_events", "audit_chains", "login_failures", "known_addresses"):
            continue
        assert rows == [row for row in before[name] if not is_of(row, acme, "acme")], name
    assert len(after["known_addresses"]) == len(before["known_addresses"]) - 2
    assert len([row for row in after["login_failures"] if row["_id"].startswith("codes:")]) == 2
    [failures] = [row for row in after["login_failures"] if row["_id"].startswith("address:")]
    assert len(failures["failures"]) == 2
    default = await installation.organizations.default_id()
    told = [row for row in after["audit_events"] if row.get("action", "").startswith("organization.delete")]
    assert [
        (row["action"], row["org_id"], row["resource_id"]) for row in sorted(told, key=lambda row: row["seq"])
    ] == [
        ("organization.delete", default, acme),
        ("organization.deleted", default, acme),
    ]


def is_of(row: Document, org_id: OrgId, name: str) -> bool:
    return bool(of_organization({"x": [row]}, org_id, name))


async def test_default_stays_and_an_unknown_one_is_told(deletion: OrganizationDeletion) -> None:
    with pytest.raises(Conflict, match="default cannot be deleted"):
        await deletion.run("default")
    with pytest.raises(NotFound):
        await deletion.run("nobody")


async def test_half_deleted_nobody_gets_in_and_the_name_is_taken(
    installation: Installation, deletion: OrganizationDeletion, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme = await made(installation, "acme")
    admin = await installation.users.by_username("acme-admin")
    assert admin is not None

    async def die(*arguments: Any, **more: Any) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr(installation.stores.system, "put_pause", die)
    with pytest.raises(RuntimeError, match="killed"):
        await deletion.run("acme")
    monkeypatch.undo()
    now = await installation.users.by_username("acme-admin")
    assert now is not None
    assert not now.is_active
    assert now.session_epoch > admin.session_epoch
    assert now.token_epoch > admin.token_epoch
    with pytest.raises(Conflict, match="is being deleted"):
        await installation.organizations.by_name("acme")
    with pytest.raises(Conflict, match="is being deleted"):
        await made(installation, "acme")
    late = NewUser(username="late", password=PASSWORD, roles=("admin",))
    with pytest.raises(Conflict, match="is being deleted"):
        await installation.users.create(system_caller(acme), late)
    assert await installation.users.by_username("late") is None
    await deletion.run("acme")
    assert await made(installation, "acme") != acme
    begun = await installation.database.collection("audit_events").count({"action": "organization.delete"})
    assert begun == 1


@pytest.mark.parametrize(
    ("place", "dies"),
    [("users", "disable_all"), ("audit", "record"), ("organizations", "deletion_recorded")],
)
async def test_a_deletion_that_dies_at_its_beginning_is_on_record(
    installation: Installation,
    deletion: OrganizationDeletion,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    dies: str,
) -> None:
    acme = await made(installation, "acme")

    async def die(*arguments: Any, **more: Any) -> None:
        raise RuntimeError("killed")

    part = installation.audit if place == "audit" else getattr(installation.stores, place)
    for killed, call in ((part, dies), (installation.stores.system, "put_pause")):
        monkeypatch.setattr(killed, call, die)
        with pytest.raises(RuntimeError, match="killed"):
            await deletion.run("acme")
        monkeypatch.undo()
    await deletion.run("acme")
    where = {"action": "organization.delete", "resource_id": acme}
    written = await installation.database.collection("audit_events").count(where)
    assert written == (2 if dies == "deletion_recorded" else 1)


async def test_what_runs_is_cancelled_and_what_a_node_writes_late_is_found(
    installation: Installation, deletion: OrganizationDeletion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a node in sight: it cleans up after a cancelled run, ends a visit, and writes once more."""
    database, acme = installation.database, await made(installation, "acme")
    executions, leases = database.collection("executions"), database.collection("leases")
    await executions.insert({"_id": "e", "org_id": acme, "state": "running", "task_id": "t", "owner": "n"})
    await database.collection("devices").insert({"_id": "d", "org_id": acme, "name": "core"})
    now = await database.now()
    row = {"host": "far", "version": "1", "migration": 1, "slots": 1, "running": 1, "local": now}
    await installation.stores.system.put_node("n", **row)  # type: ignore[arg-type]
    await leases.insert({"_id": "device:d", "owner": "n", "epoch": 1, "claim": "c", "lease_until": SOON})
    told, order = list[str](), list[str]()

    async def sleep(seconds: float) -> None:
        """What the node does while it is waited for."""
        found = await executions.find_one({"_id": "e"})
        if found is not None and found.get("closing") is not None:
            assert (found["state"], found["error_message"]) == ("cancelled", REASON)
            order.append("cleaned up")
            await executions.update({"_id": "e"}, {"$set": {"closing": None}})
        elif await leases.delete({"_id": "device:d"}):
            order.append("left the device")
            assert await database.collection("devices").count({}) == 1
        elif "late" not in order:
            order.append("late")
            await database.collection("backup_facts").insert({"_id": "d", "org_id": acme})
            await installation.vault.seal(acme, "credentials", "c", "sealed", b"secret")

    monkeypatch.setattr("netautod.maintenance.deletion.organization.asyncio.sleep", sleep)
    deletion.report = told.append
    await deletion.run("acme")
    assert order == ["cleaned up", "left the device", "late"]
    assert told == [
        "waiting for 1 cancelled executions that clean up",
        "waiting for 1 visits of devices and inventories",
    ]
    assert of_organization(await everything(database), acme, "acme") == {}


async def test_a_visit_that_does_not_end_is_told_and_nothing_is_deleted_under_it(
    installation: Installation, deletion: OrganizationDeletion, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, acme = installation.database, await made(installation, "acme")
    await database.collection("devices").insert({"_id": "d", "org_id": acme, "name": "core"})
    row = {
        "host": "far",
        "version": "1",
        "migration": 1,
        "slots": 1,
        "running": 1,
        "local": await database.now(),
    }
    await installation.stores.system.put_node("n", **row)  # type: ignore[arg-type]
    held = {"owner": "n", "epoch": 1, "claim": "c", "lease_until": SOON}
    await database.collection("leases").insert({"_id": f"sync:{acme}:source", **held})
    monkeypatch.setattr("netautod.maintenance.deletion.organization.LONGEST_WAIT_SECONDS", 0)
    with pytest.raises(Conflict, match="1 visits of devices and inventories do not end: stop the nodes"):
        await deletion.run("acme")
    assert await database.collection("devices").count({}) == 1
