"""The doctor: each check has its finding once it is true, and is silent otherwise; nothing is changed."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pymongo import IndexModel

from netautod.assembly.configuration import Configuration
from netautod.assembly.installation import open_installation
from netautod.assembly.settings import Settings
from netautod.automation.system.store import SystemStore
from netautod.core.settings.risks import FoundRisks, Risk
from netautod.http.settings import ServerSettings
from netautod.maintenance.doctor.checks import examined
from netautod.maintenance.doctor.findings import of_members, of_mongodb
from netautod.plugin_api import hookimpl
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.secrets.vault.rotation import Rotation
from netautod.store.client import Database
from netautod.store.migrations.restore_marker import RestoreMarker
from netautod.store.settings import DataSettings, MongoDBSettings
from tests.support.programs.service import run
from tests.support.servers.certificates import Authority

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("version", "text"),
    [
        pytest.param("8.0.4", None, id="supported"),
        pytest.param("9.1.0", None, id="newer than the table"),
        pytest.param("7.0.14", "MongoDB 7.0.14 gets no fixes after 2027-08-31", id="ends soon"),
        pytest.param("6.0.5", "MongoDB 6.0.5 gets no fixes since 2025-07-31", id="has ended"),
        pytest.param("3.6.8", "MongoDB 3.6.8 gets no fixes since 2024-02-29", id="older than the table"),
    ],
)
def test_a_version_and_its_end(version: str, text: str | None) -> None:
    found = of_mongodb(version, date(2027, 7, 1))
    assert (found and found.text) == text


@pytest.fixture
async def well(database: Database, mongo_uri: str, tmp_path: Path) -> AsyncIterator[Configuration]:
    """A new installation without anything to see to, but for the age of the tests' MongoDB."""
    settings = Settings(
        data_dir=tmp_path / "data",
        data=DataSettings(min_free_mb=1),
        mongodb=MongoDBSettings(uri=mongo_uri, database=database.name),
    )
    async with open_installation(settings, database):
        yield Configuration(settings=settings, plugins=LoadedPlugins.of({}))


async def found_in(configuration: Configuration) -> list[tuple[str, str]]:
    found = await examined(configuration)
    assert all(finding.todo for finding in found)
    return [(finding.check, finding.text) for finding in found if finding.check != "mongodb"]


async def test_all_is_well(well: Configuration) -> None:
    assert await found_in(well) == []


async def test_secrets_that_the_vault_lacks(well: Configuration, database: Database) -> None:
    await database.collection("installation_secrets").insert({"_id": "there"})
    asking = replace(well, in_vault={"ldap.bind_password": "there", "webhook.secret": "not-there"})
    assert await found_in(asking) == [
        ("secrets", "webhook.secret: the vault holds no secret 'not-there'"),
    ]


async def test_users_whose_provider_is_gone(well: Configuration, database: Database) -> None:
    users = database.collection("users")
    for name in ("ada", "grace"):
        await users.insert({"_id": name, "username": name, "auth_provider": "acme", "org_id": "o"})
    said = "2 users belong to the auth provider acme, which is not enabled: they cannot log in"
    assert await found_in(well) == [("logins", said)]


def of(configuration: Configuration, **settings: Any) -> Configuration:
    return replace(configuration, settings=replace(configuration.settings, **settings))


def with_certificate(
    configuration: Configuration, folder: Path, *, expired: bool, spoilt: bool = False
) -> Configuration:
    certificate, key = Authority(folder, "authority").server("http", expired=expired)
    if spoilt:
        key.unlink()
    return of(configuration, server=ServerSettings(tls_certificate=str(certificate), tls_key=str(key)))


async def another_key(well: Configuration, database: Database, folder: Path) -> Configuration:
    file = folder / "another.key"
    file.write_bytes(bytes(32))
    file.chmod(0o600)
    return of(well, master_key_file=str(file))


async def no_key(well: Configuration, database: Database, folder: Path) -> Configuration:
    (well.settings.data_dir / "master.key").unlink()
    return well


async def index_gone(well: Configuration, database: Database, folder: Path) -> Configuration:
    await database.collection("tasks").drop_index("enabled_1_next_run_at_1")
    return well


async def index_changed(well: Configuration, database: Database, folder: Path) -> Configuration:
    tasks = database.collection("tasks")
    await tasks.drop_index("org_id_1_name_1")
    await tasks.create_indexes(IndexModel([("org_id", 1), ("name", 1)]))
    return well


async def index_of_yesterday(well: Configuration, database: Database, folder: Path) -> Configuration:
    keys = [("org_id", 1), ("task_type", 1), ("name", 1), ("_id", 1)]
    await database.collection("tasks").create_indexes(IndexModel(keys))
    return well


async def index_of_their_own(well: Configuration, database: Database, folder: Path) -> Configuration:
    await database.collection("pauses").create_indexes(IndexModel([("region", 1)]))
    await database.collection("their own").create_indexes(IndexModel([("region", 1)]))
    return well


async def newer(well: Configuration, database: Database, folder: Path) -> Configuration:
    row = {"name": "a form of tomorrow", "version": "9.9.9", "host": "far", "began_at": datetime.now(UTC)}
    await database.collection("migrations").insert({"_id": 99, **row})
    return well


async def unfinished(well: Configuration, database: Database, folder: Path) -> Configuration:
    change = {"$set": {"host": "far"}, "$unset": {"done_at": ""}}
    await database.collection("migrations").update({"_id": 2}, change)
    return well


async def failed(well: Configuration, database: Database, folder: Path) -> Configuration:
    change = {"$set": {"host": "far", "error": "sites are equal"}, "$unset": {"done_at": ""}}
    await database.collection("migrations").update({"_id": 2}, change)
    return well


async def never_begun(well: Configuration, database: Database, folder: Path) -> Configuration:
    await database.collection("migrations").delete({"_id": 3})
    return well


async def half_rotated(well: Configuration, database: Database, folder: Path) -> Configuration:
    await Rotation.begin(database)
    return well


async def half_deleted(well: Configuration, database: Database, folder: Path) -> Configuration:
    row = {"name": "acme corp", "ready": True, "created_at": NOW, "deleting_since": NOW}
    await database.collection("organizations").insert({"_id": "a", **row})
    return well


async def put_node(database: Database, version: str, local: datetime) -> None:
    row = {"host": "far", "migration": 1, "slots": 20, "running": 0}
    await SystemStore(database).put_node(f"node {version}", version=version, local=local, **row)  # type: ignore[arg-type]


async def late_node(well: Configuration, database: Database, folder: Path) -> Configuration:
    await put_node(database, "1.0", datetime.now(UTC) - timedelta(seconds=90))
    return well


async def mixed_nodes(well: Configuration, database: Database, folder: Path) -> Configuration:
    for version in ("1.0", "1.1"):
        await put_node(database, version, datetime.now(UTC))
    return well


async def full_disk(well: Configuration, database: Database, folder: Path) -> Configuration:
    return of(well, data=DataSettings(min_free_mb=1_000_000_000))


async def expired(well: Configuration, database: Database, folder: Path) -> Configuration:
    return with_certificate(well, folder, expired=True)


async def ends_soon(well: Configuration, database: Database, folder: Path) -> Configuration:
    return with_certificate(well, folder, expired=False)


async def no_certificate(well: Configuration, database: Database, folder: Path) -> Configuration:
    return with_certificate(well, folder, expired=False, spoilt=True)


async def risk(well: Configuration, database: Database, folder: Path) -> Configuration:
    return replace(well, risks=FoundRisks(warned=(Risk(name="telnet", text="in clear"),)))


async def broken_plugin(well: Configuration, database: Database, folder: Path) -> Configuration:
    def register(register: object) -> None:
        raise RuntimeError("it is broken")

    plugin = SimpleNamespace(netautod_register_executors=hookimpl(register))
    return replace(well, plugins=LoadedPlugins.of({"acme": plugin}))


async def no_database(well: Configuration, database: Database, folder: Path) -> Configuration:
    return of(well, mongodb=MongoDBSettings(uri="mongodb://127.0.0.1:1/?replicaSet=rs", timeout_seconds=0.5))


@pytest.mark.parametrize(
    ("spoil", "check", "text"),
    [
        pytest.param(another_key, "key", "is not the one of this database", id="another key"),
        pytest.param(no_key, "key", "this node has no root key", id="no key"),
        pytest.param(index_gone, "indexes", "tasks lacks enabled_1_next_run_at_1", id="an index is gone"),
        pytest.param(
            index_changed, "indexes", "tasks has with another definition: org_id_1_name_1", id="not unique"
        ),
        pytest.param(
            index_of_yesterday,
            "indexes",
            "tasks still has of an earlier version: org_id_1_task_type_1_name_1__id_1",
            id="an index of an earlier version",
        ),
        pytest.param(
            index_of_their_own,
            "indexes",
            "pauses has, and this version does not declare: region_1",
            id="an index that nobody declares",
        ),
        pytest.param(newer, "migrations", "netautod 9.9.9 has migrated this database", id="a newer version"),
        pytest.param(unfinished, "migrations", "is not done: far began it at 20", id="an unfinished one"),
        pytest.param(failed, "migrations", "; it failed: sites are equal", id="one that failed"),
        pytest.param(never_begun, "migrations", "3 (search texts of devices) is not done", id="one to do"),
        pytest.param(half_rotated, "key rotation", "has not ended", id="a rotation that died"),
        pytest.param(half_deleted, "organizations", "acme corp is being deleted since 2026", id="half gone"),
        pytest.param(late_node, "clock", "node 1.0 on far is -90.", id="a node's clock"),
        pytest.param(mixed_nodes, "nodes", "the nodes run versions 1.0, 1.1", id="versions"),
        pytest.param(full_disk, "disk", "MiB free", id="the disk"),
        pytest.param(expired, "certificate", "has ended", id="an expired certificate"),
        pytest.param(ends_soon, "certificate", "ends in 0 days", id="a certificate that ends"),
        pytest.param(no_certificate, "certificate", "cannot be read", id="no key of the certificate"),
        pytest.param(risk, "settings", "telnet: in clear", id="a risk"),
        pytest.param(broken_plugin, "plugins", "acme: ", id="a plugin"),
        pytest.param(no_database, "database", "", id="no database"),
    ],
)
async def test_what_is_found(
    well: Configuration,
    database: Database,
    tmp_path: Path,
    spoil: Callable[[Configuration, Database, Path], Awaitable[Configuration]],
    check: str,
    text: str,
) -> None:
    [(found, told)] = await found_in(await spoil(well, database, tmp_path))
    assert (found, text in told) == (check, True), told


PRIMARY = {"name": "a", "stateStr": "PRIMARY", "health": 1.0, "optimeDate": NOW}


@pytest.mark.parametrize(
    ("member", "texts"),
    [
        pytest.param({"stateStr": "SECONDARY", "optimeDate": NOW}, [], id="well"),
        pytest.param({"stateStr": "ARBITER"}, [], id="one without data"),
        pytest.param(
            {"stateStr": "SECONDARY", "optimeDate": NOW - timedelta(seconds=90)},
            ["b is 90 s behind"],
            id="late",
        ),
        pytest.param({"stateStr": "RECOVERING", "optimeDate": NOW}, ["b is RECOVERING"], id="no copy yet"),
        pytest.param(
            {"stateStr": "(not reachable/healthy)", "health": 0.0, "optimeDate": NOW},
            ["b is (not reachable/healthy)"],
            id="away",
        ),
    ],
)
def test_members_of_the_replica_set(member: dict[str, Any], texts: list[str]) -> None:
    members = [PRIMARY, {"name": "b", "health": 1.0, **member}]
    assert [finding.text for finding in of_members({"members": members})] == texts


async def empty(well: Configuration, database: Database, folder: Path) -> Configuration:
    return of(well, mongodb=replace(well.settings.mongodb, database=f"{database.name}_2"))


async def half_restored(well: Configuration, database: Database, folder: Path) -> Configuration:
    elsewhere = await empty(well, database, folder)
    await RestoreMarker(named(database, elsewhere)).begin("b", NOW)
    return elsewhere


def named(database: Database, configuration: Configuration) -> Database:
    return Database(database._client, configuration.settings.mongodb.database)


@pytest.mark.parametrize(
    ("spoil", "check", "text"),
    [
        pytest.param(empty, "installation", "holds no installation of netautod", id="an empty one"),
        pytest.param(half_restored, "restore", "into this database is not finished", id="half a restore"),
    ],
)
async def test_a_database_without_an_installation_is_one_finding(
    well: Configuration,
    database: Database,
    tmp_path: Path,
    spoil: Callable[[Configuration, Database, Path], Awaitable[Configuration]],
    check: str,
    text: str,
) -> None:
    spoilt = await spoil(well, database, tmp_path)
    before = await named(database, spoilt).collection_names()
    try:
        [(found, told)] = await found_in(spoilt)
        assert (found, text in told) == (check, True), told
        assert await named(database, spoilt).collection_names() == before
    finally:
        await named(database, spoilt).drop()


@pytest.mark.parametrize("place", ["missing", "missing/deeper", "file", "file/deeper", "folder"])
async def test_where_there_is_no_installation_nothing_is_begun(
    well: Configuration, tmp_path: Path, place: str
) -> None:
    (tmp_path / "here" / "folder" / "mongodb").mkdir(parents=True)  # a first start that came no further
    (tmp_path / "here" / "file").touch()
    before = sorted((tmp_path / "here").rglob("*"))
    mistyped = of(well, data_dir=tmp_path / "here" / place, mongodb=MongoDBSettings())
    [finding] = await examined(mistyped)
    assert finding.check == "installation"
    assert finding.text == f"there is no installation in {tmp_path}/here/{place}: is --data-dir right?"
    assert sorted((tmp_path / "here").rglob("*")) == before


async def test_an_own_database_that_cannot_be_used_is_no_matter_of_the_uri(
    well: Configuration, tmp_path: Path
) -> None:
    spoilt = tmp_path / "spoilt"
    (spoilt / "mongodb").mkdir(parents=True)
    spoilt.chmod(0o777)
    (spoilt / "mongodb" / "WiredTiger").touch()
    [finding] = await examined(of(well, data_dir=spoilt, mongodb=MongoDBSettings()))
    assert (finding.check, "chmod o-w" in finding.text) == ("database", True)
    assert "mongodb.uri" not in finding.todo
    assert "--data-dir" in finding.todo


@pytest.mark.slow
async def test_the_command(mongo_uri: str, database: Database, tmp_path: Path) -> None:
    place = {"NETAUTOD_MONGODB_URI": mongo_uri, "NETAUTOD_MONGODB_DATABASE": database.name}
    flags = ("--data-dir", str(tmp_path))
    new = await run("doctor", *flags, variables=place)
    assert new.code == 1
    assert f"installation: the database {database.name} holds no installation" in new.out
    assert "The first start of the service makes one" in new.out
    as_json = await run("doctor", "--json", *flags, variables=place)
    assert as_json.code == 1
    assert '"check": "installation"' in as_json.out


@pytest.mark.slow
async def test_no_backup_is_made_of_a_folder_without_an_installation(tmp_path: Path) -> None:
    refused = await run("backup", str(tmp_path / "b"), "--data-dir", str(tmp_path / "none"))
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == f"netautod: there is no installation in {tmp_path}/none: is --data-dir right?\n"
    assert os.listdir(tmp_path) == []
