"""A disk that fills up under the service: it is named, what grows is refused, and what died comes back."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from netautod.identity.users.organizations import initial_password
from netautod.identity.users.organizations.initial_password import InitialPasswordError
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.root import key_file
from netautod.store.embedded.mongod import EmbeddedMongo, EmbeddedMongoError, find_running
from tests.support.client import ApiClient
from tests.support.execution import eventually
from tests.support.programs.service import Service, run, serving
from tests.support.programs.small_disk import MIB, SmallDisk, small_disk

pytestmark = pytest.mark.slow
SITES = "/api/sites"


@pytest.fixture
async def tiny(tmp_path: Path) -> AsyncIterator[SmallDisk]:
    """One on which directories can be made, and no file gets a byte."""
    async with small_disk(tmp_path / "tiny", mib=1) as disk:
        disk.leave(0)
        yield disk


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncIterator[SmallDisk]:
    """Room for a mongod (300 MiB of journal) and 800 MiB more."""
    async with small_disk(tmp_path / "disk", mib=1100) as made:
        yield made


async def test_each_file_of_the_start_that_finds_no_room_names_the_disk(tiny: SmallDisk) -> None:
    said = rf"the disk of {tiny.path}\S* is full \(0 of 1 MiB free\)"
    with pytest.raises(InitialPasswordError, match=said):
        initial_password.obtain(tiny.path, "secret")
    with pytest.raises(VaultError, match=said):
        key_file.make_pending(tiny.path)
    with pytest.raises(EmbeddedMongoError, match=said):
        await EmbeddedMongo(tiny.path).__aenter__()
    assert sorted(os.listdir(tiny.path)) == [
        "mongodb",
        "netautod.lock",
        "run",
        "what somebody else keeps here",
    ]


async def test_a_service_that_finds_its_disk_full_says_so_and_ends(disk: SmallDisk) -> None:
    async with serving(disk.path / "data") as service:
        assert await service.stop() == 0
    disk.leave(0)
    refused = await run("serve", "--port", "0", "--data-dir", str(disk.path / "data"))
    assert refused.code == 1
    last = refused.err.splitlines()[-1]
    assert last.startswith("netautod: ")
    assert f"the disk of {disk.path / 'data'}" in last
    assert " is full (" in last
    assert "Traceback" not in refused.err
    disk.clear()
    async with serving(disk.path / "data") as service:
        assert (await (await service.client()).get("/api/auth/me")).status == 200


async def test_what_grows_is_refused_in_time_and_taken_again_when_there_is_room(disk: SmallDisk) -> None:
    async with serving(disk.path / "data") as service:
        client = await service.client()
        site = (await client.post(SITES, {"name": "before"})).expect(201)["id"]
        disk.leave(300)
        await eventually(lambda: full(client), seconds=60)
        refused = await client.post(SITES, {"name": "while full"})
        assert (refused.status, refused.headers["Retry-After"]) == (503, "60")
        assert f"The disk of {disk.path / 'data' / 'mongodb'} is full: " in refused.json["error"]
        assert (await client.get(f"{SITES}/{site}")).status == 200
        assert (await client.delete(f"{SITES}/{site}")).status == 204
        assert (await service.client()).token  # a login
        command = ("import", "-", "--format", "csv", "--data-dir", str(service.data_dir))
        imported = await run(*command, given="name,host,device_type\nsw,192.0.2.1,cisco_ios\n")
        assert imported.code == 1
        assert " is full: " in imported.err.splitlines()[-1]
        disk.clear()
        await eventually(lambda: not_full(client), seconds=60)
        assert (await client.post(SITES, {"name": "after"})).status == 201


async def test_a_mongod_that_a_full_disk_ends_waits_for_room_and_comes_back(disk: SmallDisk) -> None:
    bound = {"NETAUTOD_DATA_MIN_FREE_MB": "0"}  # nothing holds it back from the end
    async with serving(disk.path / "data", variables=bound) as service:
        client = await service.client()
        (await client.post(SITES, {"name": "acknowledged"})).expect(201)
        disk.leave(30)
        await fill_the_database(service)
        await eventually(lambda: logged(service, "waits for 128 MiB of room"), seconds=60)
        assert (await client.get("/health")).json == {"error": "unavailable"}
        refused = await client.get(SITES)
        assert refused.status == 503
        assert f"the disk of {disk.path / 'data' / 'mongodb'} is full (" in refused.json["error"]
        disk.clear()
        await eventually(lambda: logged(service, "its disk has room"), seconds=60)
        await eventually(lambda: healthy(client), seconds=60)
        assert [site["name"] for site in (await client.get(SITES)).json["sites"]] == ["acknowledged"]
        assert (await client.post(SITES, {"name": "after"})).status == 201
        assert await service.stop() == 0
    log = service.log.read_text()
    assert log.count("waits for 128 MiB of room") == 1
    assert "is started again: mongod" not in log  # it cost none of the three restarts


async def fill_the_database(service: Service) -> None:
    """Writes past the service, as a plugin or a leak might, until the server has gone."""
    uri = find_running(service.data_dir)
    assert uri is not None
    async with AsyncMongoClient[dict[str, Any]](uri, serverSelectionTimeoutMS=2000) as client:
        try:
            while True:
                await client.other.rows.insert_one({"bytes": os.urandom(MIB)})
        except PyMongoError:
            pass
        await asyncio.sleep(0)


async def full(client: ApiClient) -> bool:
    status = (await client.get("/api/system/status")).json
    return bool(status["database"]["disk"]["full"])


async def not_full(client: ApiClient) -> bool:
    return not await full(client)


async def healthy(client: ApiClient) -> bool:
    return (await client.get("/health")).status == 200


async def logged(service: Service, text: str) -> bool:
    return text in service.log.read_text()


@pytest.mark.timeout(300)
async def test_a_restore_that_finds_no_room_goes_on_where_there_is(disk: SmallDisk, tmp_path: Path) -> None:
    backup, target = str(tmp_path / "backup"), str(disk.path / "data")
    async with serving(tmp_path / "origin") as service:
        site = (await (await service.client()).post(SITES, {"name": "in the backup"})).expect(201)["id"]
        await keep_randomness(service.data_dir, mib=128)
        password = service.password
        assert (await run("backup", backup, "--data-dir", str(service.data_dir), seconds=120)).code == 0
    os.makedirs(target)
    shutil.copy(tmp_path / "origin" / "master.key", target)
    disk.leave(400)  # the journal, and less than what comes
    refused = await run("restore", backup, "--data-dir", target, seconds=120)
    assert (refused.code, "Traceback" in refused.err) == (1, False), refused
    # Beside it, the claim of the restore could not be renewed.
    [why] = [line for line in refused.err.splitlines() if line.startswith("netautod: ")]
    assert " full" in why
    disk.clear()
    started = await run("serve", "--port", "0", "--data-dir", target)
    assert started.code == 1
    assert "is not finished: run `netautod restore` with the same file again" in started.err
    done = await run("restore", backup, "--data-dir", target, seconds=120)
    assert done.code == 0, done
    assert "restore gone on and finished: " in done.out
    async with serving(disk.path / "data") as service:
        client = await service.client(password=password)
        assert (await client.get(f"{SITES}/{site}")).expect()["name"] == "in the backup"


async def keep_randomness(data_dir: Path, *, mib: int) -> None:
    """A collection of somebody else, which no compression makes smaller."""
    uri = find_running(data_dir)
    assert uri is not None
    async with AsyncMongoClient[dict[str, Any]](uri) as client:
        for number in range(mib):
            await client.netautod.randomness.insert_one({"_id": number, "content": os.urandom(MIB)})
