"""Shared fixtures: one real mongod per run, a fresh database per test, served routes, and the inventory."""

import gc
import os
import shutil
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.secrets.redaction.known_secrets import KNOWN
from netautod.store.client import Database
from netautod.store.embedded.mongod import EmbeddedMongo
from tests.network.configs.fleet import Fleet, open_fleet
from tests.network.devices.inventory import Inventory, open_inventory
from tests.support.clock import MovableClock
from tests.support.databases import DatabasePool
from tests.support.programs.forked import FORKS
from tests.support.programs.in_process import Commands
from tests.support.programs.sshd import Sshd, running_sshd
from tests.support.progress import show_progress
from tests.support.query_watch import Asked, watched
from tests.support.scheduling import Together, scheduler
from tests.support.serving import Serve, Servers
from tests.support.slow import mark_slow
from tests.support.temporary import LASTING


def pytest_sessionstart(session: pytest.Session) -> None:
    # The number is known when the tests run: with xdist the processes collect.
    show_progress(session.config, lambda: session.testscollected)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while thousands of tests are made, nor among them later: it takes two fifths."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Two processes more than cores: tests wait for devices that rest and for programs that start.

    The variable of xdist wins.
    """
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else len(os.sched_getaffinity(0)) + 2


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files of slow tests come first: those at the end are short, so that all processes end together."""
    mark_slow(items)
    slow = {item.path for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="module", autouse=True)
def folders_of_the_module(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """What the fixtures of a module made on the disk goes with it, unless one of its tests failed.

    A database takes 300 MB there, and there are hundreds in a run. Those of tests are pytest's own to remove.
    """
    base, failed = tmp_path_factory.getbasetemp(), request.session.testsfailed
    before = set(base.iterdir())
    yield
    if request.session.testsfailed == failed:
        for folder in set(base.iterdir()) - before:
            if not folder.name.startswith((LASTING, "test_")):
                shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def across() -> Iterator[list[Asked]]:
    """What the service has asked of all shards of a sharded cluster, that it would be."""
    with watched() as asked:
        yield asked


@pytest.fixture(autouse=True)
def only_listed_queries_are_across(across: list[Asked]) -> Iterator[None]:
    """A new query names the organization, or has a reason in tests/support/cross_shard_queries.py."""
    yield
    unlisted = {str(one) for one in across if not one.is_listed}
    across.clear()
    assert not unlisted, f"neither do these name an organization, nor does ACROSS: {sorted(unlisted)}"


@pytest.fixture(scope="session", autouse=True)
def forks() -> Iterator[None]:
    """Programs of ours are forks of a process that has imported them."""
    FORKS.enable()
    yield
    FORKS.stop()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together | None:
    return scheduler(config, log)


@pytest.fixture(scope="session")
async def mongo_uri(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """One mongod for the whole run."""
    async with EmbeddedMongo(tmp_path_factory.mktemp(f"{LASTING}mongo")) as mongo:
        yield mongo.uri


@pytest.fixture(scope="session")
async def databases(mongo_uri: str) -> AsyncIterator[DatabasePool]:
    pool = DatabasePool(mongo_uri)
    yield pool
    pool.close()


@pytest.fixture
async def database(databases: DatabasePool) -> AsyncIterator[Database]:
    """An empty database of its own."""
    made = databases.fresh()
    yield made
    await databases.give_back(made)


@pytest.fixture(scope="module")
async def module_database(databases: DatabasePool) -> AsyncIterator[Database]:
    """One database, with all indexes, for all tests of a module."""
    made = databases.fresh()
    await databases.become_indexed(made)
    yield made
    await databases.give_back(made)


@pytest.fixture(scope="module")
async def fresh_module_database(databases: DatabasePool) -> AsyncIterator[Database]:
    """One that no test has written to: nothing in it, collections neither."""
    made = databases.fresh()
    yield made
    await databases.give_back(made)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sshd(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sshd]:
    """OpenSSH's server, for the tests that are skipped where it is missing."""
    async with running_sshd(tmp_path_factory.mktemp(f"{LASTING}sshd")) as running:
        yield running


@pytest.fixture
async def servers() -> AsyncIterator[Servers]:
    async with Servers() as made:
        yield made


@pytest.fixture
def serve(servers: Servers) -> Serve:
    """`served = await serve(devices, sites)`: the routes that these services are enough for."""
    return servers.serve


@pytest.fixture
async def indexed(database: Database, databases: DatabasePool) -> Database:
    """The database with all indexes of the service, and without a document."""
    await databases.become_indexed(database)
    return database


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
async def inventory(indexed: Database, serve: Serve, tmp_path: Path) -> Inventory:
    """The services of devices, sites and credentials on a fresh database, served."""
    return await open_inventory(indexed, serve, tmp_path)


@pytest.fixture
async def fleet(indexed: Database, serve: Serve, tmp_path: Path) -> AsyncIterator[Fleet]:
    """The same with sessions, configs and devices that can be visited."""
    async with open_fleet(indexed, serve, tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
async def hasher() -> AsyncIterator[PasswordHasher]:
    async with PasswordHasher() as made:
        yield made


@pytest.fixture(autouse=True)
def no_known_secrets() -> Iterator[None]:
    """Commands that run in this process make its log lines hide the secrets of their settings."""
    yield
    KNOWN.clear()


@pytest.fixture
def commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> Commands:
    return Commands(monkeypatch=monkeypatch, capsys=capsys, caplog=caplog)


@pytest.fixture
def repository_root() -> Path:
    return Path(__file__).parent.parent
