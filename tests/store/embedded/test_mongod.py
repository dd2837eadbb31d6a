"""The private MongoDB: closed to others, keeps what was acknowledged, never outlives its service."""

import asyncio
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pymongo import AsyncMongoClient, WriteConcern

import netautod
from netautod.store.embedded import life
from netautod.store.embedded.mongod import EmbeddedMongo, EmbeddedMongoError, find_running
from netautod.store.embedded.program import find_mongod
from netautod.store.embedded.restarts import RestartRule

SERVICE = """
import asyncio, sys
from pathlib import Path
from netautod.store.embedded.mongod import EmbeddedMongo

async def main():
    async with EmbeddedMongo(Path(sys.argv[1])) as mongo:
        sys.stdout.write(f"{mongo.pid}\\n")
        sys.stdout.flush()
        await asyncio.Event().wait()

asyncio.run(main())
"""

Client = AsyncMongoClient[dict[str, Any]]


@asynccontextmanager
async def connected(uri: str | None) -> AsyncIterator[Client]:
    assert uri is not None
    client: Client = AsyncMongoClient(uri, serverSelectionTimeoutMS=5000)
    try:
        yield client
    finally:
        await client.close()


async def insert(uri: str | None, name: str) -> None:
    async with connected(uri) as client:
        concern = WriteConcern("majority", j=True, wtimeout=5000)
        await client.kept.get_collection("names", write_concern=concern).insert_one({"_id": name})


async def started_again(mongo: EmbeddedMongo, before: int) -> int:
    """The pid of the mongod that took the place of this one, once it takes writes."""
    async with asyncio.timeout(60):
        while mongo.pid == before:  # noqa: ASYNC110 - only the service's log tells of it
            await asyncio.sleep(0.02)
    return mongo.pid


async def names(uri: str) -> list[str]:
    async with connected(uri) as client:
        return [found["_id"] async for found in client.kept.names.find(sort=[("_id", 1)])]


async def gone(pid: int) -> None:
    """Returns when the process has ended (pidfd_open(2): readable then), at once if it had."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, ended.set)
    try:
        async with asyncio.timeout(10):
            await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def open_files(pid: int) -> list[str]:
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            found.append(os.readlink(link))
    return found


def environment(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


@asynccontextmanager
async def service(data_dir: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """Another process that runs the database; yields it and the pid of its mongod."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SERVICE,
        str(data_dir),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(netautod.__file__).parent.parent)},
    )
    assert process.stdout is not None
    try:
        yield process, int(await process.stdout.readline())
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[EmbeddedMongo, Path]]:
    data_dir = tmp_path_factory.mktemp("running") / "made" / "by us"
    async with EmbeddedMongo(data_dir) as mongo:
        yield mongo, data_dir


async def test_a_fresh_directory_serves_majority_writes_transactions_and_change_streams(
    running: tuple[EmbeddedMongo, Path],
) -> None:
    mongo, _ = running
    await insert(mongo.uri, "majority")
    async with connected(mongo.uri) as client, client.start_session() as session:
        changes = await client.kept.names.watch()
        async with await session.start_transaction():
            await client.kept.names.insert_one({"_id": "transaction"}, session=session)
        change = await changes.next()
        await changes.close()
    assert change["documentKey"] == {"_id": "transaction"}
    assert await names(mongo.uri) == ["majority", "transaction"]


async def test_no_other_user_can_reach_the_files_or_the_socket(running: tuple[EmbeddedMongo, Path]) -> None:
    _, data_dir = running
    for path in (data_dir, *data_dir.rglob("*")):
        assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path
    for directory in (data_dir, data_dir / "mongodb"):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700


async def test_mongod_listens_on_its_private_socket_and_nowhere_else(
    running: tuple[EmbeddedMongo, Path],
) -> None:
    mongo, _ = running
    links = open_files(mongo.pid)
    inodes = {link.removeprefix("socket:[").removesuffix("]") for link in links if link.startswith("socket:")}
    network = Path(f"/proc/{mongo.pid}/net")
    over_ip = [
        line
        for table in ("tcp", "tcp6", "udp", "udp6")
        if (network / table).exists()
        for line in (network / table).read_text().splitlines()[1:]
        if line.split()[9] in inodes
    ]
    rows = [line.split() for line in (network / "unix").read_text().splitlines()[1:]]
    listening = [row[7] for row in rows if row[6] in inodes and row[3] == "00010000"]
    assert over_ip == []
    assert listening == ["./mongod.sock"]


async def test_mongod_sees_no_secret_of_the_service(
    running: tuple[EmbeddedMongo, Path],
) -> None:
    mongo, _ = running
    names_seen = {entry.split(b"=")[0] for entry in environment(mongo.pid).split(b"\0") if entry}
    assert names_seen <= {b"PATH", b"LD_LIBRARY_PATH", b"LC_ALL", b"PWD", b"OLDPWD", b"SHLVL", b"_"}


async def test_the_same_process_cannot_start_it_twice_but_finds_it(
    running: tuple[EmbeddedMongo, Path],
) -> None:
    mongo, data_dir = running
    with pytest.raises(EmbeddedMongoError, match=rf"in use by a running netautod \(process {os.getpid()}\)"):
        await EmbeddedMongo(data_dir).__aenter__()
    assert find_running(data_dir) == mongo.uri


async def test_a_restart_keeps_the_data_and_one_old_log(tmp_path: Path) -> None:
    for name in ("first", "second"):
        async with EmbeddedMongo(tmp_path) as mongo:
            await insert(mongo.uri, name)
            pid = mongo.pid
        await gone(pid)
        assert find_running(tmp_path) is None
    async with EmbeddedMongo(tmp_path) as mongo:
        assert await names(mongo.uri) == ["first", "second"]
    assert {name for name in os.listdir(tmp_path) if "log" in name} == {"mongod.log", "mongod.log.1"}


async def test_a_service_killed_with_9_leaves_no_mongod_and_loses_nothing(tmp_path: Path) -> None:
    async with service(tmp_path) as (process, pid):
        with pytest.raises(EmbeddedMongoError, match=rf"\(process {process.pid}\): stop it"):
            await EmbeddedMongo(tmp_path).__aenter__()
        await insert(find_running(tmp_path), "acknowledged")
        process.kill()
        await gone(pid)
    assert find_running(tmp_path) is None
    assert (tmp_path / "run" / "mongod.sock").exists()  # stale: the next start has to cope
    async with EmbeddedMongo(tmp_path) as mongo:
        assert await names(mongo.uri) == ["acknowledged"]


async def test_a_directory_moved_to_a_path_too_long_for_a_socket_still_serves(tmp_path: Path) -> None:
    short = tmp_path / "short"
    async with EmbeddedMongo(short) as mongo:
        await insert(mongo.uri, "before")
    moved = tmp_path / ("long, with: marks " * 8).strip()
    short.rename(moved)
    async with service(moved) as (process, pid):
        uri = find_running(moved)
        await insert(uri, "after")
        process.kill()
        await gone(pid)
    left = Path((moved / "netautod.lock").read_text().split("\n")[1]).parent
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    async with EmbeddedMongo(moved) as mongo:
        assert mongo.uri != uri
        assert not left.exists()
        assert await names(mongo.uri) == ["after", "before"]


async def test_a_set_configured_for_another_host_is_taken_over(tmp_path: Path) -> None:
    async with EmbeddedMongo(tmp_path) as mongo:
        await insert(mongo.uri, "before")
        # The server refuses a configuration without itself, so write what data copied from another hold.
        async with connected(f"{mongo.uri}&retryWrites=false") as client:
            config = (await client.admin.command("replSetGetConfig"))["config"]
            config["members"][0]["host"] = "127.0.0.1:1"
            await client.local.get_collection("system.replset").replace_one({"_id": "netautod"}, config)
    async with EmbeddedMongo(tmp_path) as mongo:
        assert await names(mongo.uri) == ["before"]


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(signal.SIGKILL, id="for want of memory"),
        pytest.param(signal.SIGABRT, id="by a fault of its own", marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, id="by an operator", marks=pytest.mark.slow),
    ],
)
async def test_a_mongod_that_ends_is_started_again_at_the_same_address(
    tmp_path: Path, how: signal.Signals
) -> None:
    async with EmbeddedMongo(tmp_path) as mongo:
        uri, first = mongo.uri, mongo.pid
        await insert(uri, "before")
        os.kill(first, how)
        await gone(first)
        again = await started_again(mongo, first)
        await insert(uri, "after")
        assert (mongo.uri, find_running(tmp_path)) == (uri, uri)
        assert await names(uri) == ["after", "before"]
    await gone(again)
    with pytest.raises(RuntimeError):
        _ = mongo.uri


async def test_a_mongod_that_ends_too_often_is_given_up_in_one_line(tmp_path: Path) -> None:
    async with EmbeddedMongo(tmp_path, restarts=RestartRule(times=1)) as mongo:
        ended = asyncio.create_task(mongo.ended())
        first = mongo.pid
        os.kill(first, signal.SIGKILL)
        os.kill(await started_again(mongo, first), signal.SIGKILL)
        assert await ended == (
            "mongod was ended by SIGKILL, after it was started again 1 times in 10 minutes: "
            f"see {tmp_path / 'mongod.log'}"
        )


async def test_a_restart_that_fails_counts_as_well(tmp_path: Path) -> None:
    program = tmp_path / "mongod"
    program.symlink_to(find_mongod())
    rule = RestartRule(times=2, pauses=(0.0,))
    async with EmbeddedMongo(tmp_path / "data", mongod=program, restarts=rule) as mongo:
        program.unlink()
        program.write_text("#!/bin/sh\necho broken >&2; exit 3\n")
        program.chmod(0o755)
        os.kill(mongo.pid, signal.SIGKILL)
        line = await mongo.ended()
    cause = "The embedded database cannot start: mongod ended with status 3: broken"
    assert line.startswith(f"{cause}, after it was started again 2 times")


async def test_a_stop_while_it_is_down_starts_nothing(tmp_path: Path) -> None:
    rule = RestartRule(pauses=(3600.0,))
    async with EmbeddedMongo(tmp_path, restarts=rule) as mongo:
        first = mongo.pid
        os.kill(first, signal.SIGKILL)
        await gone(first)
    assert find_running(tmp_path) is None


async def test_a_log_that_grows_is_cut_while_mongod_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life, "_LOG_BYTES", 1000)
    monkeypatch.setattr(life, "_LOG_CHECK_SECONDS", 0.05)
    async with EmbeddedMongo(tmp_path) as mongo, asyncio.timeout(60):
        while not {"mongod.log", "mongod.log.1"} <= set(os.listdir(tmp_path)):  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # the server opens its new log without telling anybody
        assert str(tmp_path / "mongod.log") in open_files(mongo.pid)


async def test_a_damaged_database_is_one_line_with_the_first_cause(tmp_path: Path) -> None:
    database = tmp_path / "mongodb"
    database.mkdir()
    (database / "WiredTiger").write_text("junk")
    (database / "WiredTiger.turtle").write_text("junk")
    with pytest.raises(EmbeddedMongoError, match=r"cannot start: mongod ended: .*turtle") as raised:
        await EmbeddedMongo(tmp_path).__aenter__()
    assert "\n" not in raised.value.text
