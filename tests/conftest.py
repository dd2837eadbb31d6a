"""Shared fixtures: one real mongod per run, a fresh database per test, and served routes."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tornado.httpclient import AsyncHTTPClient
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from netautod.core.clock import SystemClock
from netautod.core.errors import Unauthenticated
from netautod.core.identity import Caller, RequestInfo
from netautod.http import openapi
from netautod.http.context import HttpContext
from netautod.http.limits import RateLimiter
from netautod.http.routes import Route, application
from netautod.store.client import Database
from netautod.store.embedded.mongod import EmbeddedMongo
from netautod.store.indexes import Index
from tests.support.client import ServedRoutes
from tests.support.databases import DatabasePool, Indexed
from tests.support.sshd import Sshd, running_sshd


@pytest.fixture(scope="session")
async def mongo_uri(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """One mongod for the whole run."""
    async with EmbeddedMongo(tmp_path_factory.mktemp("mongo")) as mongo:
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
    if not databases.is_pooled(made):
        await made.drop()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sshd(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sshd]:
    """OpenSSH's server, for the tests that are skipped where it is missing."""
    async with running_sshd(tmp_path_factory.mktemp("sshd")) as running:
        yield running


Serve = Callable[[Iterable[Route]], Awaitable[ServedRoutes]]


@pytest.fixture(scope="session")
def descriptions() -> dict[tuple[object, ...], dict[str, Any]]:
    """The OpenAPI descriptions of what was served, by the routes; one takes as long as a test."""
    return {}


@pytest.fixture
async def serve(descriptions: dict[tuple[object, ...], dict[str, Any]]) -> AsyncIterator[Serve]:
    """`served = await serve(routes)`: the real handlers without the rest of the service."""
    servers: list[HTTPServer] = []

    async def start(routes: Iterable[Route]) -> ServedRoutes:
        callers: dict[str, Caller] = {}

        async def authenticate(token: str, info: RequestInfo) -> Caller:
            if token not in callers:
                raise Unauthenticated("Invalid or expired token")
            return callers[token]

        context = HttpContext(
            authenticate=authenticate,
            limiter=RateLimiter(clock=SystemClock(), rate=0, burst=1),
            trusted_proxies=(),
            cors_origins=frozenset({"https://console.example"}),
        )
        listed = list(routes)
        server = HTTPServer(application(listed, context))
        sockets = bind_sockets(0, "127.0.0.1")
        server.add_sockets(sockets)
        servers.append(server)
        port = sockets[0].getsockname()[1]
        key = tuple((route.path, route.handler) for route in listed)
        if key not in descriptions:
            descriptions[key] = openapi.document(listed)
        return ServedRoutes(
            base_url=f"http://127.0.0.1:{port}", description=descriptions[key], callers=callers
        )

    AsyncHTTPClient.configure(None, max_clients=1000)
    yield start
    for server in servers:
        server.stop()
        await server.close_all_connections()


@pytest.fixture
def indexed(database: Database, databases: DatabasePool) -> Indexed:
    """`database = await indexed(INDEXES)`: the empty database with a resource's indexes."""

    async def create(indexes: Iterable[Index]) -> Database:
        await databases.become_indexed(database, indexes)
        return database

    return create


@pytest.fixture
def repository_root() -> Path:
    return Path(__file__).parent.parent
