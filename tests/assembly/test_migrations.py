"""The table of migrations, and whole services that migrate, wait for one that does, and are refused."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from pymongo import IndexModel

from netautod import __version__
from netautod.assembly.data.dropped_indexes import DROPPED
from netautod.assembly.data.leases import named_leases
from netautod.assembly.data.migrations import list_migrations
from netautod.assembly.data.stores import INDEXES
from netautod.automation.executions.settings import ExecutionSettings
from netautod.automation.system.store import SystemStore
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.core.identity.permissions import grants
from netautod.core.work.guard import no_guard
from netautod.identity.auth.settings import AuthSettings
from netautod.identity.users.models import Role
from netautod.identity.users.roles.store import RoleStore
from netautod.server.watch.systemd import longer
from netautod.store.client import Database
from netautod.store.indexes import fingerprint
from netautod.store.migrations.model import Migration
from netautod.store.migrations.runner import LEASE, MigrationRunner
from netautod.store.migrations.store import COLLECTION
from tests.e2e.test_systemd import Manager
from tests.support.databases import stores_of
from tests.support.fetching import fetch
from tests.support.locked import locked
from tests.support.programs.service import NETAUTOD, QUICK_LEASES, NotStarted, environment, run, serving
from tests.support.programs.started import free_port, listening, started

MANY, HELD = 3500, 1500  # devices, and the one that nobody can change for a while
NEWER = {
    "_id": 99,
    "name": "a form of tomorrow",
    "version": "9.9.9",
    "since": "9.8.0",
    "host": "far",
    "began_at": datetime(2026, 1, 1, tzinfo=UTC),
    "done_at": datetime(2026, 1, 1, tzinfo=UTC),
    "seconds": 1.0,
}
REFUSAL = "netautod 9.9.9 has migrated this database to number 99"


def table(database: Database) -> list[Migration]:
    return list(list_migrations(database, stores_of(database), AuthSettings()))


def test_numbers_and_names_are_one_each(database: Database) -> None:
    known = table(database)
    assert [one.number for one in known] == list(range(1, len(known) + 1))
    assert len({one.name for one in known}) == len(known)


def test_each_names_the_version_that_it_came_with(database: Database) -> None:
    versions = [[int(part) for part in one.since.split(".")] for one in table(database)]
    assert versions == sorted(versions)
    assert versions[:10] == [[0, 1, 0]] * 9 + [[0, 2, 0]]
    assert versions[-1] <= [int(part) for part in __version__.split(".")]


def test_a_change_of_an_index_is_a_migration(database: Database) -> None:
    """Check the fingerprint of the indexes.

    If this fails: add a line for the indexes with the next number and this name, and leave the others.
    """
    names = [one.name for one in table(database) if one.name.startswith("indexes ")]
    assert names[-1] == f"indexes {fingerprint(INDEXES)}"


def test_an_index_that_is_declared_no_more_is_dropped_by_a_migration(database: Database) -> None:
    """Check the fingerprint of the dropped indexes.

    If this fails: add a line `dropped indexes`, in the same way.
    """
    names = [one.name for one in table(database) if one.name.startswith("dropped indexes ")]
    assert names[-1] == f"dropped indexes {sha256(repr(sorted(DROPPED)).encode()).hexdigest()[:16]}"
    assert not {(index.collection, index.name) for index in INDEXES} & set(DROPPED)


@pytest.mark.parametrize(
    "known",
    [
        pytest.param({}, id="a node that tells no number"),
        pytest.param({"migration": 9}, id="a node that knows an earlier line which drops indexes"),
    ],
)
async def test_indexes_are_dropped_once_no_node_of_an_earlier_version_lives(
    indexed: Database, known: Mapping[str, int]
) -> None:
    """Keep the indexes that an earlier node may read by, and those that an administrator has made."""
    tasks, nodes = indexed.collection("tasks"), indexed.collection("nodes")
    own, left = "region_1", "org_id_1_task_type_1_name_1__id_1"
    for name in (own, left):
        await tasks.create_indexes(IndexModel([(f"field of {name}", 1)], name=name))
    row = {"host": "far", "version": "0", "slots": 1, "running": 0, "local": await indexed.now()}
    await SystemStore(indexed).put_node("of today", migration=len(table(indexed)), **row)  # type: ignore[arg-type]
    await nodes.insert({"_id": "of yesterday", "heartbeat_at": await indexed.now(), **known})
    leasing = named_leases(database=indexed, node_id="n", clock=SystemClock(), settings=ExecutionSettings())
    async with leasing as leases:
        runner = MigrationRunner(indexed, table(indexed), leases=leases)
        await runner.go_on_in_background()
        assert {own, left} <= (await tasks.indexes()).keys()
        assert await indexed.collection(COLLECTION).count({"name": {"$regex": "^dropped"}}) == 0
        await nodes.update({"_id": "of yesterday"}, {"$set": {"heartbeat_at": NEWER["began_at"]}})  # died
        await runner.go_on_in_background()
    declared = {index.name for index in INDEXES if index.collection == "tasks"}
    try:
        assert (await tasks.indexes()).keys() == {"_id_", own, *declared}
    finally:
        await tasks.drop_index(own)  # the next test has the same collections


async def test_tokens_and_devices_of_older_releases(indexed: Database) -> None:
    tokens, devices = indexed.collection("api_tokens"), indexed.collection("devices")
    await tokens.insert({"_id": "old", "hash": "1", "expires_at": None})
    await tokens.insert({"_id": "for ever", "hash": "2", "expires_at": None, "never": True})
    await devices.insert({"_id": "d", "org_id": "o", "name": "Core-1", "host": "10.0.0.1", "live": True})
    now = await indexed.now()
    for migration in table(indexed):
        await migration.apply(no_guard)
    ends = {row["_id"]: row["expires_at"] for row in await tokens.find({})}
    assert ends["for ever"] is None
    assert timedelta(0) <= ends["old"] - now - timedelta(days=90) < timedelta(minutes=5)
    [device] = await devices.find({})
    assert "Core-1" in device["search"]


@pytest.mark.parametrize(
    ("held", "then"),
    [
        pytest.param([], ["docs.read"], id="no permission"),
        pytest.param(["devices.access"], ["devices.access", "docs.read"], id="another one"),
        pytest.param(["docs.manage"], ["docs.manage", "docs.read", "notes.read"], id="who writes documents"),
        pytest.param(["*"], ["*"], id="everything, which grants it"),
        pytest.param(["docs.*"], ["docs.*"], id="all of documents, which grants it"),
        pytest.param(["*", "docs.manage"], ["*", "docs.manage", "notes.read"], id="named beside everything"),
    ],
)
async def test_roles_and_tokens_of_older_releases_read_documents(
    indexed: Database, held: list[str], then: list[str]
) -> None:
    roles, tokens, tasks = (indexed.collection(name) for name in ("roles", "api_tokens", "tasks"))
    [migration] = [one for one in table(indexed) if one.number == 10]
    assert migration.catch_up is not None
    old = {"org_id": "o", "permissions": held}
    await roles.insert({**old, "_id": "old", "name": "old"})
    await tokens.insert({**old, "_id": "old", "hash": "1", "expires_at": None})
    await tasks.insert({"_id": "of a token", "org_id": "o", "name": "t", "scope": held})
    await tasks.insert({"_id": "of a session", "org_id": "o", "name": "s", "scope": None})
    for step in (migration.apply, migration.apply, migration.catch_up):
        await step(no_guard)
        for collection in (roles, tokens):
            assert [row["permissions"] for row in await collection.find({})] == [then]
    scopes = {row["_id"]: row["scope"] for row in await tasks.find({})}
    assert scopes["of a session"] is None
    assert grants(scopes["of a token"], "docs.read")
    # A node of before works beside: what it writes is put right, what this version writes is not touched.
    await roles.insert({**old, "_id": "late", "name": "late"})
    now = datetime.now(UTC)
    mine = {"description": None, "builtin": False, "created_at": now, "updated_at": now}
    role = Role(id="new", org_id=OrgId("o"), name="new", permissions=tuple(held), **mine)  # type: ignore[arg-type]
    await RoleStore(indexed).insert(role)
    await migration.catch_up(no_guard)
    found = {row["_id"]: row["permissions"] for row in await roles.find({})}
    assert found == {"old": then, "late": then, "new": held}


@pytest.mark.slow
async def test_a_start_on_equal_records_says_which_they_are_and_the_next_goes_on(
    database: Database, mongo_uri: str, tmp_path: Path
) -> None:
    sites, variables = database.collection("sites"), place(mongo_uri, database)
    await sites.insert_many([{"_id": id, "org_id": "o", "name": "berlin"} for id in ("one", "two")])
    text = "sites has several records with the same org_id and name"
    refusal = rf"migration 1 \(indexes 23c27254fe3194fc\) cannot be done: {text}$"
    with pytest.raises(NotStarted, match=refusal):
        async with serving(tmp_path, variables=variables):
            pass
    [failed] = await database.collection(COLLECTION).find({})
    assert (failed["_id"], failed["error"]) == (1, text)
    await sites.delete({"_id": "two"})
    async with serving(tmp_path, variables=variables):
        assert await database.collection(COLLECTION).count({"error": {"$exists": True}}) == 0


def place(mongo_uri: str, database: Database) -> dict[str, str]:
    return {"NETAUTOD_MONGODB_URI": mongo_uri, "NETAUTOD_MONGODB_DATABASE": database.name, **QUICK_LEASES}


async def health(port: int) -> tuple[int, str]:
    answer = await fetch(f"http://127.0.0.1:{port}/health")
    return answer.code, answer.body.decode()


@pytest.mark.slow
async def test_a_start_that_is_killed_in_the_middle_is_finished_by_the_next_node(
    indexed: Database, mongo_uri: str, tmp_path: Path
) -> None:
    database = indexed  # making the indexes would wait for the transaction
    devices, migrations = database.collection("devices"), database.collection(COLLECTION)
    rows = [{"_id": f"{number:04}", "org_id": "o", "name": f"d{number}"} for number in range(MANY)]
    await devices.insert_many([{**row, "host": "h", "live": True} for row in rows])
    variables = place(mongo_uri, database)
    with locked(mongo_uri, database.name, "devices", f"{HELD:04}"):
        command = (*NETAUTOD, "serve", "--port", "0", "--data-dir", str(tmp_path / "one"))
        async with started(*command, env=environment(**variables), slow_to_leave=True) as process:
            async with asyncio.timeout(60):
                while await devices.count({"vouched": True}) < HELD:  # noqa: ASYNC110  # the database tells nobody
                    await asyncio.sleep(0.02)
            process.kill()
            await process.wait()
        [unfinished] = await migrations.find({"done_at": None})
        assert unfinished["_id"] == 2
        assert await devices.count({"vouched": True}) < MANY
    async with serving(tmp_path / "two", variables=variables):
        assert await devices.count({"vouched": True, "search": {"$gt": ""}}) == MANY
        while await migrations.count({"done_at": {"$type": "date"}}) < len(table(database)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # some go on in the background
    applied = await migrations.find({}, sort=[("_id", 1)])
    assert [row["_id"] for row in applied] == [one.number for one in table(database)]
    assert all(row["done_at"] is not None for row in applied)
    async with serving(tmp_path / "two", variables=variables):  # nothing is left to do
        assert await migrations.find({}, sort=[("_id", 1)]) == applied


@pytest.mark.slow
async def test_a_node_that_starts_while_another_one_migrates_says_so_and_waits(
    database: Database, mongo_uri: str, tmp_path: Path
) -> None:
    leases, port = database.collection("leases"), free_port()
    far = datetime.now(UTC) + timedelta(days=1)
    row = {"owner": "another", "epoch": 1, "claim": "another", "lease_until": far}
    await leases.insert({"_id": LEASE, **row})
    manager = Manager(str(tmp_path / "notify"))
    variables = {"NOTIFY_SOCKET": manager.path, **place(mongo_uri, database)}
    starting = asyncio.create_task(_ready(tmp_path, port, variables))
    await listening_while(starting, port)
    assert await health(port) == (503, '{"error":"starting"}')
    assert await database.collection(COLLECTION).count({}) == 0
    log = tmp_path / "service.log"
    while "another node migrates the database" not in log.read_text():  # nor a log
        assert not starting.done()
        await asyncio.sleep(0.05)
    await manager.until(longer().__eq__)  # systemd is asked for more time
    await leases.delete({"_id": LEASE})
    await starting
    await manager.close()


async def _ready(folder: Path, port: int, variables: Mapping[str, str]) -> None:
    """Start a service, wait until it is ready, and stop it."""
    async with serving(folder, "--port", str(port), variables=variables) as service:
        assert await health(port) == (200, '{"status":"ok"}')
        assert await service.stop() == 0


async def listening_while(starting: "asyncio.Task[None]", port: int) -> None:
    while not starting.done():
        with suppress(TimeoutError):
            await listening(port)
            return


@pytest.mark.slow
async def test_older_nodes_work_on_and_are_refused_when_they_start(
    database: Database, mongo_uri: str, tmp_path: Path
) -> None:
    variables = place(mongo_uri, database)
    async with serving(tmp_path, variables=variables) as service:
        client = await service.client()
        await database.collection(COLLECTION).insert(dict(NEWER))  # a node of the next version has started
        made = await client.post("/api/sites", {"name": "berlin"})
        assert made.status == 201, made.content
        assert (await client.get("/health")).status == 200
        await service.stop()
    with pytest.raises(NotStarted, match=REFUSAL):
        async with serving(tmp_path, variables=variables):
            pass
    flags = ("--data-dir", str(tmp_path))
    for command in (("user", "list"), ("rotate-keys",)):
        refused = await run(*command, *flags, variables=variables)
        assert (refused.code, refused.out) == (1, "")
        assert refused.err.startswith(f"netautod: {REFUSAL}")
        assert refused.err.count("\n") == 1
    doctor = await run("doctor", *flags, variables=variables)
    assert doctor.code == 1
    assert f"migrations: {REFUSAL}" in doctor.out
