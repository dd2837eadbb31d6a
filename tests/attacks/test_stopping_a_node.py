"""A node cannot be stopped by one caller: a real service, and clients that hold or flood it."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from netautod.core.schema.bases import JsonObject, Request
from netautod.http.access import MIB, public
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from tests.attacks.attackers.bodies import Target, list_fields, many_fields, targets
from tests.attacks.attackers.crowds import BEGINNINGS, crowd, trickle
from tests.attacks.attackers.hoarders import hoard, peak_mib
from tests.attacks.attackers.raw import Answer, ask, raw
from tests.support.all_at_once import going_on, works
from tests.support.calibration import slowness
from tests.support.client import ApiClient, Response
from tests.support.fetching import fetch_found
from tests.support.loop_watch import watched
from tests.support.programs.service import Service, serving
from tests.support.programs.started import free_port
from tests.support.serving import Serve
from tests.support.temporary import LASTING

CONNECTIONS = 110
BURST = 60
SMALL = {
    # The older name is of the time when a full node turned everybody away.
    "NETAUTOD_SERVER_MAX_CONNECTIONS": str(CONNECTIONS),
    "NETAUTOD_LIMITS_CONNECTIONS": str(CONNECTIONS),
    # Nobody gives way because he is slow: neither an attacker nor a client on a busy machine.
    "NETAUTOD_SERVER_HEADER_TIMEOUT": "600",
    "NETAUTOD_SERVER_BODY_TIMEOUT": "600",
    "NETAUTOD_LIMITS_ANONYMOUS_PER_SECOND": "0.01",
    "NETAUTOD_LIMITS_ANONYMOUS_BURST": str(BURST),
}
IMPATIENT = {"NETAUTOD_SERVER_HEADER_TIMEOUT": "3", "NETAUTOD_SERVER_BODY_TIMEOUT": "3"}
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def small(mongo_uri: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service that has room for few, and all patience."""
    async with attacked(mongo_uri, tmp_path_factory.mktemp(f"{LASTING}small"), SMALL) as service:
        yield service


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def impatient(mongo_uri: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with attacked(mongo_uri, tmp_path_factory.mktemp(f"{LASTING}impatient"), IMPATIENT) as service:
        yield service


def attacked(mongo_uri: str, folder: Path, variables: dict[str, str]) -> AbstractAsyncContextManager[Service]:
    named = {**variables, "NETAUTOD_MONGODB_DATABASE": f"attacked-{uuid4().hex[:8]}"}
    return serving(folder, "--mongodb-uri", mongo_uri, variables=named)


# -- connections --


@pytest.mark.parametrize(
    "beginning", [pytest.param(sent, id=f"a crowd of which each {what}") for what, sent in BEGINNINGS.items()]
)
@pytest.mark.parametrize(
    "sources",
    [
        pytest.param(["127.0.0.2"], id="from one address"),
        pytest.param([f"127.0.0.{number}" for number in range(2, 90)], id="from many addresses"),
    ],
)
async def test_a_crowd_does_not_keep_a_newcomer_out(
    small: Service, beginning: bytes, sources: list[str]
) -> None:
    async with crowd(small.url, CONNECTIONS + 30, beginning, sources=sources):
        for _ in range(5):
            assert_served(await soon_let_in(small.url, "127.0.0.1"))


async def soon_let_in(url: str, source: str) -> Answer:
    """The answer to one who tries again while the requests of all the others are in work at this moment."""
    for _ in range(20):
        answer = await ask(url, HEALTH, source=source)
        if b"Too many connections" not in answer.body:
            break
    return answer


def assert_served(answer: Answer) -> None:
    """Let in and answered; on a busy machine the database may be too slow for an ok."""
    assert answer.json in ({"status": "ok"}, {"error": "unavailable"})


async def test_somebody_at_another_desk_keeps_the_own_connection(small: Service) -> None:
    async with raw(small.url, source="127.0.0.1") as mine:
        mine.send(HEALTH)
        assert_served(await mine.answer())
        async with crowd(small.url, CONNECTIONS + 30, b"", sources=["127.0.0.2"]):
            assert_served(await ask(small.url, HEALTH, source="127.0.0.3"))
            mine.send(HEALTH)
            assert_served(await mine.answer())


@pytest.mark.parametrize(
    ("beginning", "byte"),
    [
        pytest.param(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: ", b"a", id="a head that trickles"),
        pytest.param(b"GET /health HTTP/1.1\r\nHost: localhost\r\n", b"a:\r\n", id="headers that trickle"),
        pytest.param(HEALTH + b"GET /health HTTP/1.1\r\nX-A: ", b"a", id="the second head that trickles"),
        pytest.param(BEGINNINGS["announces a body"], b" ", id="a body that trickles"),
        pytest.param(
            b"POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"1\r\n \r\n",
            id="chunks that trickle",
        ),
        pytest.param(
            b"POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;",
            b"a",
            id="the extension of a chunk that trickles",
        ),
    ],
)
async def test_a_trickle_is_cut_off(impatient: Service, beginning: bytes, byte: bytes) -> None:
    async with raw(impatient.url) as client:
        client.send(beginning)
        told = await trickle(client, byte)
    assert b"HTTP/1.1 408 " in told


# -- requests without a valid token --


@pytest.mark.parametrize(
    ("number", "sent"),
    [
        pytest.param(1, b"GET /api/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", id="of unknown paths"),
        pytest.param(2, b"FOO /health HTTP/1.1\r\nHost: localhost\r\n\r\n", id="of unknown methods"),
        pytest.param(3, b"GET /api/devices HTTP/1.1\r\nHost: localhost\r\n\r\n", id="without a token"),
        pytest.param(
            4,
            b"GET /api/devices HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer made.up.token\r\n\r\n",
            id="with a made-up token",
        ),
        pytest.param(
            5,
            b"GET /api/devices HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer nat_made_up\r\n\r\n",
            id="with a made-up API token",
        ),
        pytest.param(6, b"NONSENSE\r\n\r\n", id="that are malformed"),
        pytest.param(
            7, b"GET /health HTTP/1.1\r\nHost: localhost\r\nExpect: x\r\n\r\n", id="with odd expectations"
        ),
        pytest.param(
            8,
            b"POST /api/auth/refresh HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
            id="of refreshes",
        ),
    ],
)
async def test_a_flood_of_requests_is_held_back_at_its_own_address(
    small: Service, number: int, sent: bytes
) -> None:
    flooder, other = f"127.0.1.{number}", f"127.0.2.{number}"
    before = {(await ask(small.url, sent, source=flooder)).status for _ in range(BURST)}
    assert 429 not in before
    refused = await ask(small.url, sent, source=flooder)
    assert refused.status == 429
    assert refused.json["retry_after_secs"] == int(refused.headers["retry-after"])
    assert_served(await ask(small.url, HEALTH, source=flooder))
    assert {(await ask(small.url, sent, source=other)).status} == before


# -- memory --


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def narrow(mongo_uri: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service that may hold few bodies."""
    variables = {
        "NETAUTOD_MONGODB_DATABASE": f"attacked-{uuid4().hex[:8]}",
        "NETAUTOD_LIMITS_BODIES_MIB": "32",
        "NETAUTOD_SERVER_BODY_TIMEOUT": "600",
    }
    folder = tmp_path_factory.mktemp("attacked")
    async with serving(folder, "--mongodb-uri", mongo_uri, variables=variables) as service:
        yield service


@pytest.mark.parametrize(
    ("count", "head", "mib", "answered"),
    [
        pytest.param(100, b"GET /health", 1, {200}, id="strangers who ask for the health with a body"),
        pytest.param(20, b"POST /api/devices/import/json", 15, {400, 503}, id="one with a token who imports"),
    ],
)
async def test_a_hoard_of_bodies_does_not_fill_the_memory(
    narrow: Service, count: int, head: bytes, mib: int, answered: set[int]
) -> None:
    token = str((await narrow.client()).token).encode()
    lines = b" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + b"\r\n"
    before = peak_mib(narrow.process.pid)
    answers = await hoard(narrow.url, count, head + lines, mib)
    assert {answer.status for answer in answers} == answered
    assert all(answer.headers["retry-after"] for answer in answers if answer.status == 503)
    assert peak_mib(narrow.process.pid) - before < count * mib / 2


# ---------------------------------------------------------------------------------------------------- bodies

TARGETS = list(targets())
# Of the processor time of the loop's thread, which no other program prolongs; it was a second and more.
MOST_BUSY_MS = 150


class FreeRequest(Request):
    metadata = JsonObject()


class FreeHandler(JsonHandler):
    @public(body=FreeRequest, body_limit=16 * MIB)
    async def post(self) -> None:
        """Takes what it is given."""
        self.answer({})


class LongHandler(JsonHandler):
    @public()
    async def get(self) -> None:
        """Answers 8 MiB of text, and of rows."""
        self.answer({"text": "\x01\n" * (4 * MIB), "rows": [{"number": number} for number in range(200_000)]})


FREE = Route(path="/api/free", handler=FreeHandler)
LONG = Route(path="/api/long", handler=LongHandler)


async def caller(serve: Serve, *routes: Route) -> ApiClient:
    return (await serve(routes=routes)).client()[0]


def assert_short_complaint(response: Response, text: str) -> None:
    assert response.status == 400, (response.status, response.content[:500])
    assert text in response.json["error"], response.json["error"]
    assert response.json["error"].count("; ") <= 10
    assert len(response.content) < 4096


@pytest.mark.parametrize(
    "target",
    [pytest.param(one, id=f"{one.said} names ten of thousands of unknown fields") for one in TARGETS],
)
async def test_unknown_fields_are_counted_and_ten_are_named(serve: Serve, target: Target) -> None:
    body = many_fields(target.limit)
    response = await (await caller(serve, target.route())).post(target.path, raw=body)
    count = body.count(b":")
    assert_short_complaint(response, f"... and {count - 10:,} more")
    assert response.json["error"].count("Unknown field") == 10


@pytest.mark.parametrize(
    ("target", "field"),
    [
        pytest.param(one, field, id=f"{one.said} is not held up by {field} of 400,000 wrong elements")
        for one in TARGETS
        if one.limit >= MIB
        for field in list_fields(one.schema)
    ],
)
async def test_long_arrays_are_refused_unseen(serve: Serve, target: Target, field: str) -> None:
    client = await caller(serve, target.route())
    value: Any = [7] * 400_000
    for wrong in (value, {"tags": value}):
        body = json.dumps({field: wrong}, separators=(",", ":")).encode()
        async with watched() as watch:
            response = await client.post(target.path, raw=body)
        assert_short_complaint(response, field)
        assert watch.busy < MOST_BUSY_MS * slowness()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(
            b'{"metadata":{"a":[' + b"[]," * 340_000 + b"[]]}}", "metadata: More than 350,000", id="arrays"
        ),
        pytest.param(b'{"metadata":{"a":[' + b"1e9," * 400_000 + b"1]}}", "More than 350,000", id="numbers"),
        pytest.param(
            b'{"metadata":{"a":[' + b'{"b":1},' * 250_000 + b"1]}}", "metadata: More than", id="objects"
        ),
        pytest.param(b'{"metadata":{"a":[' + b"1," * 8_000_000 + b"1]}}", "More than 350,000", id="16 MiB"),
        pytest.param(b'{"metadata":{"a":"' + b"x" * 70_000 + b'"}}', "Larger than 64 KiB", id="a long text"),
        pytest.param(
            b'{"metadata":{"' + b"n" * 70_000 + b'":1}}', "metadata: Larger than 64 KiB", id="a long name"
        ),
    ],
)
async def test_a_hard_body_is_read_by_another_process(serve: Serve, body: bytes, text: str) -> None:
    client = await caller(serve, FREE)
    async with watched() as watch:
        response = await client.post("/api/free", raw=body)
    assert_short_complaint(response, text)
    assert watch.busy < MOST_BUSY_MS * slowness()


async def test_a_long_answer_is_written_in_parts(serve: Serve) -> None:
    client = await caller(serve, LONG)
    response = await client.get("/api/long")
    assert "Content-Length" not in response.headers  # it is not encoded as a whole before it is sent
    assert response.json["text"] == "\x01\n" * (4 * MIB)
    assert len(response.json["rows"]) == 200_000


# ------------------------------------------------------------------------------------------------- long work

READERS = 16
READINGS = 30
ROUNDS = 8
MOST_P99 = 0.2


async def health_p99(url: str, metrics: str) -> float:
    """In seconds, of readings by each of 16 clients: of the time in the service, or that its loop is late.

    Its own account of it: this process is busy with the long work that it asks for.
    """
    before = await buckets(metrics)

    async def read() -> None:
        for _ in range(READINGS):
            assert (await ask(url, HEALTH)).status == 200

    await asyncio.gather(*(read() for _ in range(READERS)))
    after = await buckets(metrics)
    return max(p99({le: count - before[name][le] for le, count in after[name].items()}) for name in MEASURED)


MEASURED = {"netautod_http_request_seconds": {"route": "/health"}, "netautod_loop_lag_seconds": {}}


async def buckets(metrics: str) -> dict[str, dict[float, float]]:
    """How many were as quick as that, by seconds; of what is MEASURED."""
    page = (await fetch_found(metrics)).body.decode()
    found: dict[str, dict[float, float]] = {name: defaultdict(float) for name in MEASURED}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if sample.name == f"{family.name}_bucket" and family.name in MEASURED:
                le = float(sample.labels["le"])
                if {"le": sample.labels["le"], **MEASURED[family.name]} == sample.labels:
                    found[family.name][le] = sample.value
    return found


def p99(counts: Mapping[float, float]) -> float:
    """The bucket that it falls into."""
    return min((le for le, count in counts.items() if count >= 0.99 * max(counts.values())), default=0.0)


def answers_in_time(idle: float, busy: float) -> bool:
    """Both are 99th percentiles: what else the machine does makes both of them longer."""
    return busy - idle < max(MOST_P99, 4 * idle)


@pytest.mark.slow
async def test_all_long_work_at_once_leaves_health_answered(mongo_uri: str, tmp_path: Path) -> None:
    port = free_port()
    variables = {
        "NETAUTOD_MONGODB_DATABASE": f"attacked-{uuid4().hex[:8]}",
        "NETAUTOD_LIMITS_ANONYMOUS_PER_SECOND": "0",
        "NETAUTOD_METRICS_PORT": str(port),
    }
    metrics = f"http://127.0.0.1:{port}/metrics"
    async with serving(tmp_path, "--mongodb-uri", mongo_uri, variables=variables) as service:
        api = await service.client()
        asked = await works(api)
        rounds: list[tuple[float, float]] = []
        while len(rounds) < ROUNDS and not (rounds and answers_in_time(*rounds[-1])):
            idle = await health_p99(service.url, metrics)  # of this machine as it is now
            async with going_on(asked) as answered:
                rounds.append((idle, await health_p99(service.url, metrics)))
            assert not [name for name, status in answered if status == 500]
    assert answers_in_time(*rounds[-1]), rounds
