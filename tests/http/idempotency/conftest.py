"""Two nodes on one database, a route whose work a test holds in its hands, and the rows of the keys."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from marshmallow import fields

from netautod.core.identity.caller import OrgId
from netautod.core.schema.bases import Answer, JsonObject, Query, QueryInteger, Request
from netautod.http.access import Repeat, requires
from netautod.http.handler import JsonHandler
from netautod.http.idempotency.service import LEASE, IdempotencyKeys
from netautod.http.idempotency.store import COLLECTION
from netautod.http.routing.routes import Route
from netautod.store.client import Collection, Database
from tests.support.client import ApiClient, ServedRoutes
from tests.support.record_nodes import RecordNode, two_nodes
from tests.support.serving import Servers

Nodes = tuple[RecordNode, RecordNode]
PAST = {"$subtract": ["$$NOW", 1000]}


@pytest.fixture(scope="module")
async def nodes(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Nodes]:
    async with two_nodes(module_database, tmp_path_factory.mktemp("nodes")) as made:
        yield made


@pytest.fixture
def apis(nodes: Nodes) -> tuple[ApiClient, ApiClient]:
    """Return the administrator of a new organization, at each node."""
    api = nodes[0].served.client("*")[0]
    return api, replace(api, base_url=nodes[1].served.base_url)


@pytest.fixture
def rows(module_database: Database) -> Collection:
    return module_database.collection(COLLECTION)


async def end_leases(rows: Collection) -> None:
    """End all leases, as time does after the death of a node."""
    await rows.update_many({"state": "open"}, [{"$set": {"lease_until": PAST}}])


class WorkQuery(Query):
    number = QueryInteger(low=0, load_default=0)


class WorkRequest(Request):
    note = JsonObject()


class WorkAnswer(Answer):
    started = fields.Integer()
    ids = fields.List(fields.Integer())


@dataclass
class Work:
    """The work of a test's requests: `starts` counts them, and they wait for `go`, or the one that is held
    by its number for its own event.
    """

    starts: int = 0
    go: asyncio.Event = field(default_factory=asyncio.Event)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    held: dict[int, asyncio.Event] = field(default_factory=dict)
    failure: BaseException | None = None
    answer: Any = None

    async def do(self) -> Any:
        self.starts = number = self.starts + 1
        self.started.set()
        await self.held.get(number, self.go).wait()
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        return {"started": number, "ids": []} if self.answer is None else self.answer


class WorkHandler(JsonHandler):
    work: Work


class Again(WorkHandler):
    @requires("work.do", query=WorkQuery, body=WorkRequest, status=202, repeat=Repeat.AGAIN)
    async def post(self) -> None:
        """Do it."""
        self.set_header("Location", f"/work/{self.record_id}")
        self.answer(await self.while_connected(self.work.do()))


class Never(WorkHandler):
    @requires("work.do", body=WorkRequest, repeat=Repeat.NEVER)
    async def post(self) -> None:
        """Do what must not be done twice."""
        self.answer(await self.while_connected(self.work.do()))


class Started(WorkHandler):
    @requires("work.do", answer=WorkAnswer, other_answers={202: WorkAnswer}, repeat=Repeat.AGAIN)
    async def post(self) -> None:
        """Start it in the background, whether or not that is answered."""
        self.answer(await self.work.do(), status=202)


class Nothing(WorkHandler):
    @requires("work.do", status=204, repeat=Repeat.AGAIN)
    async def post(self) -> None:
        """Answer nothing."""
        await self.work.do()
        self.answer_nothing()


class Listing(WorkHandler):
    @requires("work.do", consumes={"*/*": {}}, repeat=Repeat.AGAIN, body_limit=16 * 1024 * 1024)
    async def post(self) -> None:
        """Answer a long list."""
        done = await self.work.do()
        await self.answer_with_list({"size": len(self.take_body())}, "ids", done["ids"])


class Unkeyed(WorkHandler):
    @requires("work.do", body=WorkRequest)
    async def post(self) -> None:
        """Ignore the key."""
        self.answer(await self.work.do())


class Named(WorkHandler):
    @requires("work.do", repeat=Repeat.AGAIN)
    async def post(self, name: str) -> None:
        """Do it to something with a name."""
        self.answer({"name": name, **await self.work.do()})


ROUTES = (
    Route(path="/again", handler=Again),
    Route(path="/never", handler=Never),
    Route(path="/started", handler=Started),
    Route(path="/nothing", handler=Nothing),
    Route(path="/listing", handler=Listing),
    Route(path="/unkeyed", handler=Unkeyed),
    Route(path="/named/:name", handler=Named),
)


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """The clients of a test: `api` holds `work.do` and may do no more; `other` is the same one at another
    node.
    """

    work: Work
    served: ServedRoutes
    api: ApiClient
    other: ApiClient
    org_id: OrgId
    user_id: str
    keys: IdempotencyKeys


@dataclass(frozen=True, kw_only=True)
class Keyed:
    """The server of the routes above on the module's database."""

    database: Database
    keys: IdempotencyKeys
    servers: Servers

    async def workshop(self, *, lease: timedelta = LEASE) -> Workshop:
        work = Work()
        keys = IdempotencyKeys(
            store=self.keys._store, vault=self.keys._vault, settled=self.keys._settled, lease=lease
        )
        here = await self.servers.serve(work, routes=ROUTES, idempotency=keys)
        there = await self.servers.serve(work, routes=ROUTES, idempotency=keys, callers=here.callers)
        api, caller = here.client("work.do")
        return Workshop(
            work=work,
            served=here,
            api=api,
            other=replace(api, base_url=there.base_url),
            org_id=caller.org_id,
            user_id=caller.user_id,
            keys=keys,
        )


@pytest.fixture
async def keyed(module_database: Database, servers: Servers, tmp_path: Path, nodes: Nodes) -> Keyed:
    return Keyed(database=module_database, keys=nodes[0].keys, servers=servers)


@pytest.fixture
async def workshop(keyed: Keyed) -> Workshop:
    """Return a workshop whose work does not wait."""
    made = await keyed.workshop()
    made.work.go.set()
    return made
