"""A node cannot be stopped by one caller: a real service, and clients that hold or flood it."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
import pytest_asyncio

from tests.attacks.attackers.crowds import BEGINNINGS, crowd, trickle
from tests.attacks.attackers.raw import Answer, ask, raw
from tests.support.programs.service import Service, serving

CONNECTIONS = 50
BURST = 60
SMALL = {
    # The older name is of the time when a full node turned everybody away.
    "NETAUTOD_SERVER_MAX_CONNECTIONS": str(CONNECTIONS),
    "NETAUTOD_LIMITS_CONNECTIONS": str(CONNECTIONS),
    "NETAUTOD_SERVER_HEADER_TIMEOUT": "3",
    "NETAUTOD_SERVER_BODY_TIMEOUT": "3",
    "NETAUTOD_LIMITS_ANONYMOUS_PER_SECOND": "0.01",
    "NETAUTOD_LIMITS_ANONYMOUS_BURST": str(BURST),
}
HEALTH = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def small(mongo_uri: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service that has room for few, and little patience."""
    variables = {**SMALL, "NETAUTOD_MONGODB_DATABASE": f"attacked-{uuid4().hex[:8]}"}
    folder = tmp_path_factory.mktemp("attacked")
    async with serving(folder, "--mongodb-uri", mongo_uri, variables=variables) as service:
        yield service


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
            assert_served(await ask(small.url, HEALTH, source="127.0.0.1"))


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
        pytest.param(b"GET /health HTTP/1.1\r\nHost: a\r\nX-A: ", b"a", id="a head that trickles"),
        pytest.param(b"GET /health HTTP/1.1\r\nHost: a\r\n", b"a:\r\n", id="headers that trickle"),
        pytest.param(HEALTH + b"GET /health HTTP/1.1\r\nX-A: ", b"a", id="the second head that trickles"),
        pytest.param(BEGINNINGS["announces a body"], b" ", id="a body that trickles"),
        pytest.param(
            b"POST /api/auth/login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"1\r\n \r\n",
            id="chunks that trickle",
        ),
        pytest.param(
            b"POST /api/auth/login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;",
            b"a",
            id="the extension of a chunk that trickles",
        ),
    ],
)
async def test_a_trickle_is_cut_off(small: Service, beginning: bytes, byte: bytes) -> None:
    async with raw(small.url) as client:
        client.send(beginning)
        told = await trickle(client, byte)
    assert b"HTTP/1.1 408 " in told


async def test_a_connection_that_says_nothing_is_closed(small: Service) -> None:
    async with raw(small.url) as client:
        assert await client.everything() == b""


# -- requests without a valid token --


@pytest.mark.parametrize(
    ("number", "sent"),
    [
        pytest.param(1, b"GET /api/nothing HTTP/1.1\r\nHost: a\r\n\r\n", id="of unknown paths"),
        pytest.param(2, b"FOO /health HTTP/1.1\r\nHost: a\r\n\r\n", id="of unknown methods"),
        pytest.param(3, b"GET /api/devices HTTP/1.1\r\nHost: a\r\n\r\n", id="without a token"),
        pytest.param(
            4,
            b"GET /api/devices HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer made.up.token\r\n\r\n",
            id="with a made-up token",
        ),
        pytest.param(
            5,
            b"GET /api/devices HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer nat_made_up\r\n\r\n",
            id="with a made-up API token",
        ),
        pytest.param(6, b"NONSENSE\r\n\r\n", id="that are malformed"),
        pytest.param(7, b"GET /health HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n", id="with odd expectations"),
        pytest.param(
            8, b"POST /api/auth/refresh HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", id="of refreshes"
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


async def test_a_flood_does_not_keep_a_valid_token_at_the_same_address_out(small: Service) -> None:
    token = (await small.client()).token
    for _ in range(BURST + 5):
        await ask(small.url, b"GET /api/nothing HTTP/1.1\r\nHost: a\r\n\r\n", source="127.0.3.1")
    sent = b"GET /api/auth/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + str(token).encode()
    assert (await ask(small.url, sent + b"\r\n\r\n", source="127.0.3.1")).status == 200
