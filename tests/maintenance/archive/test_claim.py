"""Of two restores into the same database one is at work, and the other one finds out before it writes."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from netautod.core.errors import Conflict
from netautod.core.work.guard import LeaseLostError
from netautod.maintenance.archive import restore, settling
from netautod.maintenance.archive.backup import back_up
from netautod.maintenance.archive.claim import RestoreClaim, claimed
from netautod.store.client import Database
from netautod.store.leases.lease import LeaseTimes
from netautod.store.migrations.archive_errors import ArchiveError
from netautod.store.migrations.restore_marker import COLLECTION as MARKER
from netautod.store.migrations.restore_marker import RestoreMarker
from tests.maintenance.archive.origin import NOW, Place, session
from tests.support.execution import eventually
from tests.support.programs.service import QUICK_LEASES, Finished, environment
from tests.support.programs.started import started

# Nothing runs out while a test lasts.
CALM = LeaseTimes(lease=3600.0, heartbeat=900.0, abandon=1800.0)
TAKEN_OVER = "Another restore has taken this database over"
# A restore that stops itself at a step, the first argument; one thread writes, so nothing else is on its way.
STOPPING = """
import signal, sys, threading
from netautod.maintenance.archive import claim, loading, settling
from netautod.cli import entry
from netautod.store.raw import writing
writing.THREADS, loading.FRAMES_AT_ONCE = 1, 2
owner, at = {"guard": (claim.RestoreClaim, 20), "create_indexes": (settling, 1)}[sys.argv[1]]
real, calls = getattr(owner, sys.argv[1]), iter(range(1, at + 1))
def step(*given, **named):
    if next(calls, None) == at:
        # To this very thread: it would get a little further before the process as a whole is stopped.
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
    return real(*given, **named)
setattr(owner, sys.argv[1], step)
sys.exit(entry.main(sys.argv[2:]))
"""


@pytest.fixture(scope="module")
async def file(origin: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("backups") / "b"
    await back_up(origin.settings, made, None)
    return made


def hold(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> tuple[asyncio.Event, asyncio.Event]:
    """The first call of the step sets one event and waits for the other."""
    real, calls, there, on = getattr(owner, name), iter(range(1)), asyncio.Event(), asyncio.Event()

    async def step(*given: Any, **named: Any) -> Any:
        if next(calls, None) is not None:
            there.set()
            await on.wait()
        return await real(*given, **named)

    monkeypatch.setattr(owner, name, step)
    return there, on


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        pytest.param(restore, "_require_own", id="before anything is written"),
        pytest.param(RestoreClaim, "loaded", id="when everything is loaded"),
        pytest.param(settling, "create_indexes", id="while the indexes are made"),
    ],
)
async def test_a_second_one_is_refused_while_the_first_is_at_work(
    target: Place, file: Path, owner: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, on = hold(monkeypatch, owner, name)
    first = asyncio.create_task(target.restore(file))
    await there.wait()
    with pytest.raises(
        Conflict, match=rf"at work in this database, or was stopped \(process {os.getpid()} on "
    ):
        await target.restore(file)
    assert await RestoreMarker(target.database).find() is not None
    on.set()
    assert (await first).settled.organizations == 1
    assert await RestoreMarker(target.database).find() is None


async def progress(claim: RestoreClaim) -> None:
    await claim.progress(7)


@pytest.mark.parametrize("act", [progress, RestoreClaim.loaded, RestoreClaim.confirm, RestoreClaim.end])
async def test_what_another_has_taken_over_is_left_alone(
    target: Place, act: Callable[[RestoreClaim], Awaitable[None]]
) -> None:
    await RestoreMarker(target.database).begin("b", NOW)

    async def late() -> None:
        async with claimed(target.database, "one", CALM) as claim:
            target.raw[MARKER].update_one({}, {"$set": {"owner": "another"}, "$inc": {"epoch": 1}})
            with pytest.raises(LeaseLostError):
                await act(claim)
            await act(claim)

    with pytest.raises(ArchiveError, match=TAKEN_OVER):
        await late()
    [mark] = target.documents(MARKER)
    assert (mark["owner"], mark["epoch"], mark["phase"], mark["frames"]) == ("another", 2, "claimed", 0)
    assert mark["lease_until"] > NOW  # what is another's is not given back either


async def test_one_that_ends_early_keeps_nobody_waiting(target: Place) -> None:
    await RestoreMarker(target.database).begin("b", NOW)
    with pytest.raises(KeyboardInterrupt):
        async with claimed(target.database, "one", CALM):
            raise KeyboardInterrupt
    async with claimed(target.database, "one", CALM) as claim:
        await claim.confirm()


def state_of(pid: int) -> str:
    """One letter, as proc(5) has it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@asynccontextmanager
async def stopped(target: Place, file: Path, step: str) -> AsyncIterator[Process]:
    """A restore that has stopped at that step."""
    mongodb = target.settings.mongodb
    words = ("restore", str(file), "--data-dir", str(target.settings.data_dir), "--mongodb-uri", mongodb.uri)
    env = environment(NETAUTOD_MONGODB_DATABASE=mongodb.database, **QUICK_LEASES)
    command = (sys.executable, "-c", STOPPING, step, *words)
    async with started(*command, stdout=PIPE, stderr=PIPE, env=env, slow_to_leave=True) as process:

        async def is_stopped() -> bool:
            assert process.returncode is None, await process.communicate()
            return state_of(process.pid) == "T"

        await eventually(is_stopped, seconds=60)
        yield process


async def gone_on(process: Process) -> Finished:
    process.send_signal(signal.SIGCONT)
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Finished(code=process.returncode, out=out.decode(), err=err.decode())


def live_on(target: Place) -> None:
    """What a service might do: the pause is ended, somebody logs in, and much is deleted."""
    for name in {*target.raw.list_collection_names()} - {"organizations"}:
        target.raw[name].delete_many({})
    [organization] = target.documents("organizations")
    target.raw.sessions.insert_one(session(organization["_id"], "of today"))


@pytest.mark.slow
async def test_one_that_was_killed_is_gone_on_with(origin: Place, target: Place, file: Path) -> None:
    async with stopped(target, file, "guard") as process:
        process.kill()
        await process.wait()
        done = await target.restore(file)
    assert done.resumed is True
    assert target.documents("sites") == origin.documents("sites")


@pytest.mark.slow
@pytest.mark.parametrize("step", ["guard", "create_indexes"])
async def test_one_that_was_stopped_and_taken_over_changes_nothing_any_more(
    target: Place, file: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by one that was cut off from the database: else its connections would tell that it is there."""

    async def cut_off(database: Database, app_name: str) -> bool:
        return False

    monkeypatch.setattr(Database, "has_connections", cut_off)
    async with stopped(target, file, step) as process:
        done = await target.restore(file)
        assert done.resumed is True
        live_on(target)
        before = target.all()
        late = await gone_on(process)
    assert (late.code, TAKEN_OVER in late.err) == (1, True), late
    assert target.all() == before


@pytest.mark.slow
@pytest.mark.parametrize("step", ["guard", "create_indexes"])
async def test_one_that_was_stopped_is_not_taken_over_and_goes_on(
    origin: Place, target: Place, file: Path, step: str
) -> None:
    async with stopped(target, file, step) as process:

        async def run_out() -> bool:
            over = {"$expr": {"$lt": ["$lease_until", "$$NOW"]}}
            return target.raw[MARKER].count_documents(over) == 1

        await eventually(run_out, seconds=60)
        with pytest.raises(Conflict, match=rf"or was stopped \(process {process.pid} on "):
            await target.restore(file)
        done = await gone_on(process)
    assert done.code == 0, done
    assert target.documents("sites") == origin.documents("sites")
    assert target.documents(MARKER) == []
