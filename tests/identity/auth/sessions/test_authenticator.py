"""The session check of every request: its cache, its age, its bound, and what other nodes see."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from netautod.core.errors import Unauthenticated, Unavailable
from netautod.identity.auth.sessions import authenticator as module
from netautod.identity.auth.sessions.activity import INTERVAL
from netautod.identity.auth.sessions.store import SessionStore
from netautod.identity.users.service import UserService
from netautod.store.client import Database
from tests.identity.auth.support import INFO, Node, NodeStarter


async def test_a_logout_is_seen_at_once_here_and_within_a_second_elsewhere(start: NodeStarter) -> None:
    here, elsewhere = await start(), await start()
    token = (await here.log_in()).access_token
    caller = await here.authenticator.authenticate(token, INFO)
    await elsewhere.authenticator.authenticate(token, INFO)
    await here.auth.logout(caller)
    with pytest.raises(Unauthenticated, match="Invalid or expired token"):
        await here.authenticator.authenticate(token, INFO)
    elsewhere.clock.move(1)
    with pytest.raises(Unauthenticated):
        await elsewhere.authenticator.authenticate(token, INFO)


async def test_a_disabled_user_and_changed_roles_are_seen_within_a_second(node: Node) -> None:
    installation = node.installation
    await installation.add("carla", "viewer")
    token = (await node.log_in("carla")).access_token
    assert (await node.authenticator.authenticate(token, INFO)).permissions == {"devices.access", "docs.read"}
    roles = installation.database.collection("roles")
    await roles.update({"name": "viewer"}, {"$set": {"permissions": ["docs.manage"]}})
    node.clock.move(1)
    assert (await node.authenticator.authenticate(token, INFO)).permissions == {"docs.manage"}
    await installation.users.disable(await installation.system(), "carla")
    node.clock.move(1)
    with pytest.raises(Unauthenticated):
        await node.authenticator.authenticate(token, INFO)


class Reads:
    """A counter of session reads, which can hold each of them back until it is released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.open = asyncio.Event()
        self.open.set()
        self.started = asyncio.Event()
        real = SessionStore.get

        async def get(store: SessionStore, *args: Any) -> Any:
            self.count += 1
            found = await real(store, *args)
            self.started.set()
            await self.open.wait()
            return found

        monkeypatch.setattr(SessionStore, "get", get)


async def test_a_hundred_requests_at_once_share_one_reading(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await node.log_in()).access_token
    reads = Reads(monkeypatch)
    await asyncio.gather(*(node.authenticator.authenticate(token, INFO) for _ in range(100)))
    node.clock.move(0.999)
    await node.authenticator.authenticate(token, INFO)
    assert reads.count == 1
    node.clock.move(0.001)
    await node.authenticator.authenticate(token, INFO)
    assert reads.count == 2


async def test_the_request_that_began_a_reading_may_go_away(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await node.log_in()).access_token
    reads = Reads(monkeypatch)
    reads.open.clear()
    first = asyncio.create_task(node.authenticator.authenticate(token, INFO))
    await reads.started.wait()
    second = asyncio.create_task(node.authenticator.authenticate(token, INFO))
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    reads.open.set()
    assert (await second).username == "admin"
    assert reads.count == 1


async def test_a_reading_that_hangs_is_not_shared_by_later_requests(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await node.log_in()).access_token
    reads = Reads(monkeypatch)
    reads.open.clear()
    hanging = asyncio.create_task(node.authenticator.authenticate(token, INFO))
    await reads.started.wait()
    node.clock.move(1)
    reads.open.set()
    await node.authenticator.authenticate(token, INFO)
    await hanging
    assert reads.count == 2


async def test_a_reading_from_before_a_logout_is_not_kept(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await node.log_in()).access_token
    caller = await node.authenticator.authenticate(token, INFO)
    node.clock.move(1)
    reads = Reads(monkeypatch)
    reads.open.clear()
    before = asyncio.create_task(node.authenticator.authenticate(token, INFO))
    await reads.started.wait()
    await node.auth.logout(caller)
    reads.open.set()
    await before  # it had come first
    with pytest.raises(Unauthenticated):
        await node.authenticator.authenticate(token, INFO)


async def test_a_database_that_is_away_is_a_503_and_not_remembered(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await node.log_in()).access_token

    async def away(self: UserService, user_id: str) -> None:
        raise Unavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(UserService, "find", away)
        with pytest.raises(Unavailable):
            await node.authenticator.authenticate(token, INFO)
    assert (await node.authenticator.authenticate(token, INFO)).username == "admin"


async def test_the_cache_is_bounded(start: NodeStarter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CACHED", 2)
    node = await start()
    tokens = [(await node.log_in()).access_token for _ in range(3)]
    reads = Reads(monkeypatch)
    for token in (tokens[0], tokens[1], tokens[0], tokens[2], tokens[0]):
        await node.authenticator.authenticate(token, INFO)
    assert reads.count == 3
    await node.authenticator.authenticate(tokens[1], INFO)
    assert reads.count == 4


async def test_activity_is_stored_once_a_minute_over_all_nodes(
    start: NodeStarter, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = [await start(), await start()]
    token = (await nodes[0].log_in()).access_token
    sessions = database.collection("sessions")

    async def last() -> datetime:
        found = await sessions.find_one({})
        assert found is not None
        moment: datetime = found["last_activity_at"]
        return moment

    began = await last()
    for seconds, expected in ((59, 0), (1, 60), (2, 60), (57, 60), (1, 120)):
        nodes[0].clock.move(seconds)
        await asyncio.gather(*(node.authenticator.authenticate(token, INFO) for node in nodes))
        assert (await last() - began).total_seconds() == expected


async def test_a_node_that_read_long_ago_does_not_store_activity_again(
    node: Node, database: Database
) -> None:
    caller = await node.authenticator.authenticate((await node.log_in()).access_token, INFO)
    store = SessionStore(database)
    read = await store.get(caller.org_id, caller.session_id or "")
    assert read is not None
    first = node.clock.now() + timedelta(seconds=60)
    for later in (0, 59):
        await store.touch(read, first + timedelta(seconds=later), INTERVAL)
    touched = await store.get(caller.org_id, read.id)
    assert touched is not None
    assert touched.last_activity_at == first


async def test_a_session_row_of_another_user_gives_nothing(node: Node, database: Database) -> None:
    await node.installation.add("carla", "viewer")
    token = (await node.log_in("carla")).access_token
    admin = await node.installation.users.by_username("admin")
    assert admin is not None
    await database.collection("sessions").update({}, {"$set": {"user_id": admin.id}})
    with pytest.raises(Unauthenticated):
        await node.authenticator.authenticate(token, INFO)
