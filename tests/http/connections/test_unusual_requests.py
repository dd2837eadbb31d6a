"""Requests that are right but rare are served; what is refused hides nothing."""

import asyncio

import pytest

from tests.attacks.attackers.echo import CHUNKED, ECHO, HOST, get, post
from tests.attacks.attackers.raw import ask, raw
from tests.support.serving import Serve


@pytest.fixture
async def url(serve: Serve) -> str:
    return (await serve(routes=[ECHO])).base_url


async def test_headers_up_to_the_limit_are_served(url: str) -> None:
    assert (await ask(url, get(headers=HOST + b"X-A: " + b"a" * 60_000 + b"\r\n"))).status == 200


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        pytest.param(get(b"/api/echo?u=http://b/c"), {"query": "u=http://b/c", "host": "a"}, id="in a query"),
        pytest.param(
            get(headers=b"", version=b"HTTP/1.0"), {"query": "", "host": "127.0.0.1"}, id="HTTP/1.0"
        ),
        pytest.param(get(version=b"HTTP/1.2"), {"query": "", "host": "a"}, id="a later HTTP/1"),
        pytest.param(b"\r\n" + get(), {"query": "", "host": "a"}, id="behind an empty line"),
        pytest.param(
            get(headers=HOST + b"X-A: \xc3\xa4\r\n"), {"query": "", "host": "a"}, id="a name in a header"
        ),
        pytest.param(
            get(headers=HOST + b"Content-Length: 5\r\n") + b"hello",
            {"query": "", "host": "a"},
            id="a body on a GET",
        ),
        pytest.param(
            get(headers=HOST + CHUNKED) + b"5\r\nhello\r\n0\r\n\r\n",
            {"query": "", "host": "a"},
            id="a chunked body on a GET",
        ),
        pytest.param(get(headers=HOST + b"Upgrade: h2c\r\n"), {"query": "", "host": "a"}, id="an upgrade"),
        pytest.param(
            get(headers=HOST + b"Expect: 100-Continue\r\n"), {"query": "", "host": "a"}, id="an expectation"
        ),
        pytest.param(
            get(headers=HOST + b"Content-Encoding: identity\r\n"), {"query": "", "host": "a"}, id="identity"
        ),
    ],
)
async def test_an_unusual_request_is_served(url: str, sent: bytes, answered: dict[str, str]) -> None:
    async with raw(url) as client:
        client.send(sent)
        answer = await client.answer()
        assert (answer.status, answer.json) == (200, answered)


async def test_a_client_that_waits_to_send_may_go_on(url: str) -> None:
    async with raw(url) as client:
        client.send(post(b"Expect: 100-continue\r\nContent-Length: 2\r\n", b""))
        assert await client.interim() == 100
        client.send(b"{}")
        assert (await client.answer()).status == 200


async def test_requests_in_a_row_are_answered_in_their_order(url: str) -> None:
    async with raw(url) as client:
        client.send(b"".join(get(b"/api/echo?%d" % number) for number in range(200)))
        answers = [(await client.answer()).json["query"] for _ in range(200)]
        assert answers == [str(number) for number in range(200)]


async def test_a_refused_body_hides_no_request(url: str) -> None:
    """Send what looks like a request behind a refused head: it is the head's body."""
    async with raw(url) as client:
        hidden = get(b"/api/echo?hidden")
        client.send(b"POST /api/nothing HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(hidden))
        client.send(hidden)
        assert (await client.answer()).status == 404
        assert await client.everything() == b""


async def test_many_queries_at_once_are_all_answered(url: str) -> None:
    answers = await asyncio.gather(*(ask(url, get()) for _ in range(50)))
    assert {answer.status for answer in answers} == {200}


@pytest.mark.parametrize(
    ("offered", "taken"),
    [
        pytest.param("a" * 64, True, id="sixty-four letters"),
        pytest.param("a" * 65, False, id="sixty-five letters"),
        pytest.param("", False, id="nothing"),
        pytest.param("a b", False, id="a space"),
        pytest.param("a:b", False, id="a colon"),
        pytest.param("a/b", False, id="a slash"),
        pytest.param("a%0a", False, id="an encoded line break"),
        pytest.param("\u00e4", False, id="a letter that is not ASCII"),
        pytest.param("\u00b2", False, id="a digit that is none"),
    ],
)
async def test_a_foreign_request_id_is_taken_if_it_looks_like_one(
    url: str, offered: str, taken: bool
) -> None:
    header = b"X-Request-Id: " + offered.encode("latin-1") + b"\r\n"
    answer = await ask(url, get(headers=HOST + header))
    assert (answer.headers["x-request-id"] == offered) is taken


async def test_the_size_of_a_chunk_may_have_zeros_and_capitals(url: str) -> None:
    answer = await ask(url, post(CHUNKED, b'000B\r\n{"said":{}}\r\n000\r\n\r\n'))
    assert (answer.status, answer.json) == (200, {"said": {}})


@pytest.mark.parametrize("method", ["PATCH", "OPTIONS"])
async def test_a_method_that_a_path_does_not_have(url: str, method: str) -> None:
    answer = await ask(url, f"{method} /api/echo HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    assert (answer.status, answer.headers["allow"]) == (405, "GET, POST")
