"""An installation that an earlier commit has filled, taken over by the service of today."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from netautod.assembly.data.migrations import list_migrations
from netautod.assembly.data.stores import INDEXES, SEALED_FIELDS
from netautod.core.identity.caller import OrgId
from netautod.identity.auth.settings import AuthSettings
from netautod.secrets.vault.vault import INSTALLATION, Vault
from netautod.store.client import Database, Document
from netautod.store.connection import connect
from netautod.testing import SimulatedDevice, ios_config
from tests.e2e.console import CONFIGS, EXECUTIONS, SCHEDULES, Console
from tests.support.databases import PATIENT_SECONDS, stores_of
from tests.support.execution import eventually
from tests.support.organizations import unknown_collections
from tests.support.populating import (
    DEVICE_PASSWORD,
    NEW_COMMUNITY,
    NOTE,
    OLD_COMMUNITY,
    PASSPHRASE,
    PASSWORD,
)
from tests.support.programs.service import Service, run, serving
from tests.upgrade.archive import Earlier

pytestmark = pytest.mark.slow
# What a service writes whenever it starts or stops.
OF_NODES = {"nodes", "leases"}


@dataclass(frozen=True, kw_only=True)
class Upgraded:
    """The service of today on the data of the earlier commit."""

    made: dict[str, Any]
    console: Console
    service: Service
    database: Database


@pytest.fixture(scope="module")
async def upgraded(mongo_uri: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Upgraded]:
    earlier, data_dir = Earlier.read(), tmp_path_factory.mktemp("upgraded") / "data"
    database = connect(mongo_uri, "upgraded", timeout_seconds=PATIENT_SECONDS)
    earlier.load(mongo_uri, "upgraded")
    earlier.put_files(data_dir)
    async with serving(data_dir, variables=place(mongo_uri)) as service:
        console = Console(client=await service.client())
        yield Upgraded(made=earlier.made, console=console, service=service, database=database)
    await database.drop()
    database.close()


def place(mongo_uri: str) -> dict[str, str]:
    return {"NETAUTOD_MONGODB_URI": mongo_uri, "NETAUTOD_MONGODB_DATABASE": "upgraded"}


async def test_every_migration_is_done_and_known(upgraded: Upgraded) -> None:
    database = upgraded.database
    known = {one.number for one in list_migrations(database, stores_of(database), AuthSettings())}

    async def done() -> bool:
        rows = await database.collection("migrations").find({"done_at": {"$type": "date"}})
        return {row["_id"] for row in rows} == known

    await eventually(done, seconds=90)
    assert unknown_collections(await database._raw.list_collection_names()) == set()


async def test_the_indexes_are_those_of_today(upgraded: Upgraded) -> None:
    database = upgraded.database
    declared = {(index.collection, index.name) for index in INDEXES}

    async def nothing_is_left() -> bool:
        names = await database.collection_names()
        found = {(name, index) for name in names for index in await database.collection(name).indexes()}
        return {(name, index) for name, index in found if index != "_id_"} == declared

    await eventually(nothing_is_left, seconds=90)


async def test_the_device_its_versions_and_their_texts(upgraded: Upgraded) -> None:
    console, device = upgraded.console, upgraded.made["device"]
    found = await console.read(f"/api/devices/{device}")
    assert (found["name"], found["credential_state"]) == ("upgraded-switch", "usable")
    assert (await console.read("/api/devices?search=upgraded-swi"))["total"] == 1
    assert await console.versions(device) == [2, 1]
    for version, community in ((1, OLD_COMMUNITY), (2, NEW_COMMUNITY)):
        raw = await console.client.get(f"{CONFIGS}/{device}/configs/{version}/raw")
        assert raw.status == 200, raw.content
        assert community.encode() in raw.content
        shown = await console.read(f"{CONFIGS}/{device}/configs/{version}")
        assert "hostname upgraded" in shown["config_text"]
        assert community not in shown["config_text"]
    assert (await console.read(f"{CONFIGS}/{device}/configs/1"))["notes"] == "upgraded before the change"
    assert (await console.read("/api/config/search?q=hostname"))["total"] == 1


async def test_documents_notes_and_their_versions(upgraded: Upgraded) -> None:
    console, made = upgraded.console, upgraded.made
    document = await console.read(f"/api/docs/{made['document']}")
    assert document["content"] == "Hello {{ name }}, from upgraded!"
    [version] = await console.read(f"/api/docs/{made['document']}/versions")
    old = await console.read(f"/api/docs/versions/{version['id']}")
    assert old["content"] == "Hello {{ name }}, from upgraded"
    rendered = await console.client.post(
        f"/api/docs/{made['document']}/render", {"variables": {"name": "you"}}
    )
    assert rendered.expect()["output"] == "Hello you, from upgraded!"
    unlocked = await console.client.post("/api/vault/unlock", {"password": PASSPHRASE})
    assert unlocked.status == 204, unlocked.content
    assert (await console.read(f"/api/docs/{made['note']}"))["content"] == NOTE


async def test_what_ran_is_still_told(upgraded: Upgraded) -> None:
    console, made = upgraded.console, upgraded.made
    for execution in made["executions"]:
        found = await console.read(f"{EXECUTIONS}/{execution}")
        assert (found["state"], found["task_name"]) == ("completed", "upgraded-nightly")
        assert len(await console.log_texts(execution)) > 1
        results = await console.read(f"{EXECUTIONS}/{execution}/results")
        assert [row["device_id"] for row in results["results"]] == [made["device"]]
    snapshots = (await console.read("/api/config/snapshots"))["snapshots"]
    assert {one["execution_id"] for one in snapshots} >= set(made["executions"])
    off = await console.read(f"{SCHEDULES}/{made['disabled task']}")
    assert (off["enabled"], off["cron_expression"]) == (False, "0 3 * * *")


async def test_people_and_machines_get_in_as_before(upgraded: Upgraded) -> None:
    console, made, service = upgraded.console, upgraded.made, upgraded.service
    carla = await service.client("upgraded-carla", PASSWORD)
    me = (await carla.get("/api/auth/me")).expect()
    assert (me["id"], me["roles"], me["permissions"]) == (
        made["user"],
        ["upgraded-reader"],
        ["devices.access", "docs.read"],
    )
    machine = (await service.anonymous()).with_token(made["token"])
    assert (await machine.get("/api/devices")).expect()["total"] == 1
    tokens = (await console.read("/api/auth/tokens"))["tokens"]
    assert [token["expires_at"] is not None for token in tokens] == [True]


async def test_every_secret_opens(upgraded: Upgraded) -> None:
    database, data_dir = upgraded.database, upgraded.service.data_dir
    vault, opened = await Vault.open(database, data_dir=data_dir, environ={}), set[str]()
    for field in SEALED_FIELDS:
        where = {f"{field.path}.wrapped": {"$exists": True}}
        for row in await database.collection(field.collection).find(where):
            value = row
            for name in field.path.split("."):
                value = value[name]
            org_id = OrgId(row.get("org_id", INSTALLATION))
            assert await vault.unseal(org_id, field.collection, str(row["_id"]), field.path, value)
            opened.add(field.collection)
    assert opened >= {"credentials", "config_texts", "signing_keys", "inventory_sources", "notes_vaults"}


async def test_the_audit_of_before_is_chained_and_whole(upgraded: Upgraded, mongo_uri: str) -> None:
    events = upgraded.database.collection("audit_events")

    async def chained() -> bool:
        return await events.count({"seq": None}) == 0

    await eventually(chained, seconds=60)
    flags = ("--data-dir", str(upgraded.service.data_dir))
    verified = await run("audit", "verify", *flags, variables=place(mongo_uri))
    assert verified.code == 0, verified
    made = await upgraded.console.read("/api/audit?action=device.create")
    assert made["total"] == 1


async def test_schedules_fire_and_the_password_of_before_still_logs_in(upgraded: Upgraded) -> None:
    """The scheduled run comes within a minute or so: it has waited since the earlier commit."""
    console, made = upgraded.console, upgraded.made
    config = ios_config("upgraded", community=NEW_COMMUNITY)
    async with SimulatedDevice(hostname="upgraded", password=DEVICE_PASSWORD, config=config) as switch:
        (await console.client.put(f"/api/devices/{made['device']}", {"port": switch.port})).expect()
        await console.client.post(f"/api/devices/{made['device']}/host-key/reset")

        async def fired() -> Any:
            found = await console.read(
                f"{EXECUTIONS}?task_id={made['minutely']}&triggered_by=schedule&state=completed"
            )
            return found["executions"][0] if found["executions"] else None

        run = await eventually(fired, seconds=100)
    assert run["error_message"] is None
    # The tokens that stand for secrets in a comparison are the same as before.
    assert await console.versions(made["device"]) == [2, 1]


async def test_a_second_start_changes_nothing(upgraded: Upgraded, mongo_uri: str) -> None:
    """Last: it stops the service."""
    console, made, service = upgraded.console, upgraded.made, upgraded.service
    (await console.client.post(f"{SCHEDULES}/{made['minutely']}/toggle", {"enabled": False})).expect()

    async def at_rest() -> bool:
        running: int = (await console.read(f"{EXECUTIONS}?state=running"))["total"]
        return running == 0

    await eventually(at_rest, seconds=60)
    assert await service.stop() == 0
    before = await stored(upgraded.database)
    async with serving(service.data_dir, variables=place(mongo_uri)) as again:
        assert await again.stop() == 0
    after = await stored(upgraded.database)
    for name in sorted({*before, *after} - OF_NODES):
        assert after.get(name) == before.get(name), name


async def stored(database: Database) -> dict[str, list[Document]]:
    names = await database._raw.list_collection_names()
    return {name: await database.collection(name).find({}, sort=[("_id", 1)]) for name in names}
