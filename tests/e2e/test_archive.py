"""A backup beside a service under load, and its restore into the data folder of another machine.

One story, step by step: the tests of this module run in their order, on the same two services.
"""

import asyncio
import os
import shutil
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from netautod.store.embedded.life import HISTORY_PARAMETER
from netautod.store.embedded.mongod import find_running
from netautod.store.raw.history import MARGIN_SECONDS
from netautod.testing import Faults, SimulatedDevice
from tests.e2e.console import Console
from tests.support.client import ApiClient
from tests.support.execution import eventually
from tests.support.programs.service import (
    NETAUTOD,
    QUICK_LEASES,
    Finished,
    Service,
    environment,
    run,
    serving,
)
from tests.support.programs.started import started

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
MIB = 1 << 20
# Random, so that the file grows with it, and more than the reading is ahead of the writing. Its name lies
# between `audit_events` and `sites`, which are read in the order of the names.
FILLER, FILLER_MIB = "middle", 96
WHILE_STOPPED = 20
# A restore that kills itself, and with it its mongod, when it notes its progress for the third time.
DYING = """
import os, signal, sys
from netautod.maintenance.archive import claim, loading
from netautod.cli import entry
loading.FRAMES_AT_ONCE = 2
real, calls = claim.RestoreClaim.progress, iter(range(2))
async def progress(self, frames):
    if next(calls, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)
    await real(self, frames)
claim.RestoreClaim.progress = progress
sys.exit(entry.main(sys.argv[1:]))
"""


@dataclass(kw_only=True)
class Load:
    """One client that makes one site after the other: each has its event in the audit behind it."""

    console: Console
    made: int = 0
    errors: list[str] = field(default_factory=list)

    async def go_on(self) -> None:
        while True:
            answer = await self.console.client.post("/api/sites", {"name": f"load {self.made}"})
            if answer.status != 201:
                self.errors.append(str(answer))
            self.made += 1

    async def more(self, count: int) -> None:
        wanted = self.made + count

        async def there() -> bool:
            return self.made >= wanted

        await eventually(there, seconds=60)


@dataclass(kw_only=True)
class Story:
    folder: Path
    origin: Service
    console: Console
    device: SimulatedDevice
    tokens: dict[str, Any]
    load: Load
    running: str
    task: str

    @property
    def backups(self) -> Path:
        return self.folder / "backups"

    @property
    def target(self) -> Path:
        return self.folder / "target"

    def of(self, command: str, data_dir: Path, name: str = "b") -> tuple[str, ...]:
        passphrase = ("--passphrase-file", str(self.folder / "passphrase"))
        return (command, str(self.backups / name), *passphrase, "--data-dir", str(data_dir))


def database_of(data_dir: Path) -> MongoClient[Any]:
    uri = find_running(data_dir)
    assert uri is not None
    return MongoClient(uri)


def history_of(data_dir: Path) -> int:
    with database_of(data_dir) as client:
        found: int = client.admin.command({"getParameter": 1, HISTORY_PARAMETER: 1})[HISTORY_PARAMETER]
        return found


def put_filler(data_dir: Path) -> None:
    with database_of(data_dir) as client:
        rows = client.netautod[FILLER]
        for number in range(FILLER_MIB):
            rows.insert_one({"_id": number, "content": os.urandom(MIB)})


@pytest.fixture(scope="module")
async def story(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Story]:
    folder = tmp_path_factory.mktemp("story")
    (folder / "backups").mkdir()
    (folder / "passphrase").write_text("correct horse battery staple\n")
    async with SimulatedDevice(hostname="slow") as device, serving(folder / "origin") as origin:
        login = {"username": "admin", "password": origin.password}
        tokens = (await (await origin.anonymous()).post("/api/auth/login", login)).expect()
        console = Console(client=(await origin.anonymous()).with_token(tokens["access_token"]))
        credential = await console.credential("lab")
        await console.device("slow", device.port, default_credential_id=credential)
        task = await console.backup("slow", "slow")
        assert (await console.run(task))["state"] == "completed"
        await asyncio.to_thread(put_filler, origin.data_dir)
        device.faults = Faults(slow=30)  # certainly under way while the backup is taken
        running = await console.start(task)
        await console.until(running, "running")
        load = Load(console=console)
        going_on = asyncio.create_task(load.go_on())
        try:
            yield Story(
                folder=folder,
                origin=origin,
                console=console,
                device=device,
                tokens=tokens,
                load=load,
                running=running,
                task=task,
            )
        finally:
            going_on.cancel()
            await asyncio.gather(going_on, return_exceptions=True)


@asynccontextmanager
async def begun(story: Story) -> AsyncIterator[Process]:
    """A backup in the middle of the filler, stopped."""
    words = story.of("backup", story.origin.data_dir)
    async with started(
        *NETAUTOD, *words, stdout=PIPE, stderr=PIPE, env=environment(), slow_to_leave=True
    ) as process:

        async def in_the_middle() -> bool:
            assert process.returncode is None, process
            return written_by(process.pid, story.backups) > MIB

        await eventually(in_the_middle, seconds=60)
        process.send_signal(signal.SIGSTOP)
        assert written_by(process.pid, story.backups) < FILLER_MIB * MIB
        yield process


def written_by(pid: int, folder: Path) -> int:
    """Bytes of the file without a name that the process, or what it became, has open in that folder."""
    sizes = [0]
    with suppress(FileNotFoundError):  # it has ended
        for number in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if os.readlink(number).startswith(f"{folder}/"):
                    sizes.append(number.stat().st_size)
    return max(sizes)


async def finished(process: Process) -> Finished:
    process.send_signal(signal.SIGCONT)
    async with asyncio.timeout(120):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Finished(code=process.returncode, out=out.decode(), err=err.decode())


async def test_a_backup_that_is_killed_leaves_nothing_but_a_minute_of_history(story: Story) -> None:
    assert history_of(story.origin.data_dir) == 0
    async with begun(story) as process:
        process.kill()
        await process.wait()
    assert os.listdir(story.backups) == []
    assert MARGIN_SECONDS <= history_of(story.origin.data_dir) <= 3 * MARGIN_SECONDS


async def test_a_backup_beside_a_service_under_load(story: Story) -> None:
    async with begun(story) as process:
        before = story.load.made
        await story.load.more(WHILE_STOPPED)
        done = await finished(process)
    assert (done.code, done.err) == (
        0,
        f"netautod: warning: {FILLER} is no collection of this version; it is in the backup as it is\n",
    )
    assert "the master key is not in it" in done.out
    assert story.load.made >= before + WHILE_STOPPED
    assert story.load.errors == []
    assert history_of(story.origin.data_dir) == 0
    assert os.listdir(story.backups) == ["b"]
    assert os.stat(story.backups / "b").st_mode & 0o777 == 0o600


async def test_a_restore_without_the_key_writes_nothing(story: Story) -> None:
    done = await run(*story.of("restore", story.target))
    assert done.code == 1
    assert "The root key of this backup is missing (nothing was written): put it at" in done.err
    assert not story.target.exists()


async def test_a_restore_that_is_killed_keeps_everything_from_starting(story: Story) -> None:
    story.target.mkdir(mode=0o700)
    shutil.copy(story.origin.data_dir / "master.key", story.target / "master.key")
    killed = await run(
        *story.of("restore", story.target), command=(sys.executable, "-c", DYING), variables=QUICK_LEASES
    )
    assert killed.code == -signal.SIGKILL, killed
    place = ("--data-dir", str(story.target))
    for words in (("serve", "--port", "0"), ("serve", "--port", "0", "--workers", "2")):
        done = await run(*words, *place)
        assert done.code == 1, done
        assert "is not finished: run `netautod restore` with the same file again" in done.err
        assert "Traceback" not in done.err


async def test_the_same_restore_goes_on(story: Story) -> None:
    done = await run(*story.of("restore", story.target), seconds=180)
    assert done.code == 0, done
    assert "restore gone on and finished: " in done.out
    assert "1 execution cancelled" in done.out


@pytest.fixture(scope="module")
async def restored(story: Story) -> AsyncIterator[Service]:
    async with serving(story.target) as service:
        yield service


@pytest.fixture(scope="module")
async def admin(story: Story, restored: Service) -> ApiClient:
    return await restored.client(password=story.origin.password)


async def test_everything_is_of_one_moment(story: Story, restored: Service) -> None:
    """Each site is made before its event: at any moment at most one event is missing, none is too many."""

    def counted() -> tuple[int, int, int]:
        with database_of(restored.data_dir) as client:
            found = client.netautod
            sites = found.sites.count_documents({"name": {"$regex": "^load "}})
            events = found.audit_events.count_documents({"action": "site.create"})
            return sites, events, found[FILLER].count_documents({})

    sites, events, filler = await asyncio.to_thread(counted)
    assert 0 < sites < story.load.made
    assert sites - events in (0, 1), (sites, events)
    assert filler == FILLER_MIB


async def test_what_was_going_on_is_over_there(story: Story, restored: Service, admin: ApiClient) -> None:
    anonymous = await restored.anonymous()
    with_old = anonymous.with_token(story.tokens["access_token"])
    assert (await with_old.get("/api/sites")).status == 401
    refresh = {"refresh_token": story.tokens["refresh_token"]}
    assert (await anonymous.post("/api/auth/refresh", refresh)).status == 401
    console = Console(client=admin)
    ended = await console.read(f"/api/tasks/executions/{story.running}")
    assert ended["state"] == "cancelled"
    assert ended["error_message"].startswith("restored from the backup of ")
    paused = (await console.read("/api/system/status"))["paused"]
    assert paused["by"] == "netautod restore"
    assert (await run("audit", "verify", "--data-dir", str(restored.data_dir))).code == 0
    assert (await console.read("/api/system/status"))["queues"] == {"pending": 0, "polls": 0}


async def test_it_works_on_when_the_pause_is_ended(story: Story, admin: ApiClient) -> None:
    """With the secrets of the old machine: the credential opens under the same key."""
    console = Console(client=admin)
    story.device.faults = Faults()
    waiting = await console.start(story.task)
    assert (await console.read(f"/api/tasks/executions/{waiting}"))["state"] == "pending"
    (await admin.post("/api/system/resume")).expect()
    assert (await console.ended(waiting, seconds=60))["state"] == "completed"


async def test_a_backup_of_a_service_that_does_not_run(story: Story, restored: Service) -> None:
    assert await restored.stop() == 0
    done = await run(*story.of("backup", story.target, "later"))
    assert done.code == 0
    assert sorted(os.listdir(story.backups)) == ["b", "later"]
