"""Odd requests: each has its answer with the error body, and none hides another one."""

from collections.abc import AsyncIterator

import pytest

from netautod.core.metrics import Metrics
from netautod.http.access import public
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.http.settings import ServerSettings
from netautod.http.status.unavailable import refusing_application
from tests.attacks.attackers.echo import CHUNKED, ECHO, HOST, get, post
from tests.attacks.attackers.raw import Answer, ask, raw
from tests.support.serving import Serve, serve_application


class ThingHandler(JsonHandler):
    @public()
    async def get(self, text: str) -> None:
        """Reads."""
        self.answer({"text": text})

    @public(status=204)
    async def delete(self, text: str) -> None:
        """Deletes."""
        self.answer_nothing()


@pytest.fixture
async def url(serve: Serve) -> str:
    routes = [
        ECHO,
        Route(path="/api/things/:id", handler=ThingHandler),
    ]
    return (await serve(routes=routes)).base_url


def assert_refused(answer: Answer, status: int, text: str = "") -> None:
    assert answer.status == status, answer
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    assert set(answer.json) == {"error"}
    assert text.lower() in answer.json["error"].lower()


@pytest.mark.parametrize(
    ("method", "target", "allowed"),
    [
        pytest.param(method, target, allowed, id=f"{method} {target} says what is allowed")
        for target, allowed in (("/api/echo", "GET, POST"), ("/api/things/1", "GET, DELETE"))
        for method in (
            *("FOO", "TRACE", "CONNECT", "get", "Post", "PROPFIND", "INITIALIZE"),
            *("PREPARE", "_execute", "data_received", "M-SEARCH", "A" * 2000, "__class__"),
        )
    ],
)
async def test_methods_that_nobody_knows(url: str, method: str, target: str, allowed: str) -> None:
    answer = await ask(url, f"{method} {target} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    assert_refused(answer, 405, "method not allowed")
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize("method", ["FOO", "TRACE", "get", "CONNECT", "_execute"])
async def test_an_unknown_path_is_404_for_every_method(url: str, method: str) -> None:
    assert_refused(await ask(url, f"{method} /api/nothing HTTP/1.1\r\nHost: a\r\n\r\n".encode()), 404)


async def test_a_tunnel_through_the_service_is_no_route(url: str) -> None:
    answer = await ask(url, b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
    assert_refused(answer, 405)
    assert answer.headers["allow"] == "GET, POST, PUT, DELETE"


async def test_options_of_the_whole_server_say_its_methods(url: str) -> None:
    answer = await ask(url, b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
    assert (answer.status, answer.headers["allow"]) == (204, "GET, POST, PUT, DELETE")


MALFORMED = [
    pytest.param(b"GARBAGE\r\n\r\n", id="one word"),
    pytest.param(b"GET /api/echo\r\n\r\n", id="HTTP/0.9"),
    pytest.param(b"GET /api/echo HTTP/1.1 \r\n" + HOST + b"\r\n", id="a space behind the version"),
    pytest.param(b"GET  /api/echo HTTP/1.1\r\n" + HOST + b"\r\n", id="two spaces"),
    pytest.param(b"GET /api/echo x HTTP/1.1\r\n" + HOST + b"\r\n", id="a space in the path"),
    pytest.param(b"GET\t/api/echo\tHTTP/1.1\r\n" + HOST + b"\r\n", id="tabs for spaces"),
    pytest.param(b" GET /api/echo HTTP/1.1\r\n" + HOST + b"\r\n", id="a space before the method"),
    pytest.param(b"GET /api/echo http/1.1\r\n" + HOST + b"\r\n", id="the version in lower case"),
    pytest.param(b"GET /api/echo HTTP/1.10\r\n" + HOST + b"\r\n", id="a version of two digits"),
    pytest.param(b"GET /api/echo HTTP/2.0\r\n" + HOST + b"\r\n", id="HTTP/2 in words"),
    pytest.param(b"GET /api/echo HTTP/9.9\r\n" + HOST + b"\r\n", id="a version that does not exist"),
    pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="the preface of HTTP/2"),
    pytest.param(b"GET /api/e\xc3\xa4 HTTP/1.1\r\n" + HOST + b"\r\n", id="a path that is not ASCII"),
    pytest.param(b"GET /api/\x00 HTTP/1.1\r\n" + HOST + b"\r\n", id="NUL in the path"),
    pytest.param(b"GET /api/\x7f HTTP/1.1\r\n" + HOST + b"\r\n", id="DEL in the path"),
    pytest.param(b"G\x00T /api/echo HTTP/1.1\r\n" + HOST + b"\r\n", id="NUL in the method"),
    pytest.param(b"G(T) /api/echo HTTP/1.1\r\n" + HOST + b"\r\n", id="brackets in the method"),
    pytest.param(b"GET api/echo HTTP/1.1\r\n" + HOST + b"\r\n", id="a path without its slash"),
    pytest.param(b"GET * HTTP/1.1\r\n" + HOST + b"\r\n", id="an asterisk without OPTIONS"),
    pytest.param(b"GET a:80 HTTP/1.1\r\n" + HOST + b"\r\n", id="an authority without CONNECT"),
    pytest.param(b"GET ftp://a/api/echo HTTP/1.1\r\n" + HOST + b"\r\n", id="a URL of another scheme"),
    pytest.param(b"GET http:///api/echo HTTP/1.1\r\n" + HOST + b"\r\n", id="a URL without a host"),
    pytest.param(b"GET http://u:p@a/api/echo HTTP/1.1\r\n" + HOST + b"\r\n", id="a URL with a password"),
    pytest.param(b"GET http://a:x/api/echo HTTP/1.1\r\n" + HOST + b"\r\n", id="a URL with a bad port"),
    pytest.param(b"GET file:///etc/passwd HTTP/1.1\r\n" + HOST + b"\r\n", id="a URL of a file"),
    pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", id="a TLS handshake"),
    pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", id="an SSH client"),
    pytest.param(b"\r\n" * 40 + get(), id="twenty empty lines and more before the request"),
    pytest.param(get(headers=b""), id="no Host in HTTP/1.1"),
    pytest.param(get(headers=HOST + HOST), id="two Host headers"),
    pytest.param(get(headers=b"Host: a\r\nHost: b\r\n"), id="two different Host headers"),
    pytest.param(get(headers=b"Host: a b\r\n"), id="a space in the Host"),
    pytest.param(get(headers=b"Host: a/b\r\n"), id="a slash in the Host"),
    pytest.param(get(headers=b"Host: u@a\r\n"), id="a user in the Host"),
    pytest.param(get(headers=b"Host: a,b\r\n"), id="two hosts in the Host"),
    pytest.param(get(headers=b"Host: a:123456\r\n"), id="a Host with a port of six digits"),
    pytest.param(get(headers=b"Host: a:80:80\r\n"), id="a Host with two ports"),
    pytest.param(get(headers=HOST + b"X-A\r\n"), id="a header without a colon"),
    pytest.param(get(headers=HOST + b"X A: b\r\n"), id="a space in a header's name"),
    pytest.param(get(headers=HOST + b"X-A : b\r\n"), id="a space behind a header's name"),
    pytest.param(get(headers=HOST + b": b\r\n"), id="a header without a name"),
    pytest.param(get(headers=HOST + b"X-\xc3\xa4: b\r\n"), id="a header's name that is not ASCII"),
    pytest.param(get(headers=HOST + b"X-A: b\x00\r\n"), id="NUL in a header"),
    pytest.param(get(headers=HOST + b"X-A: b\x0bc\r\n"), id="a vertical tab in a header"),
    pytest.param(get(headers=HOST + b"X-A: b\x1b[2J\r\n"), id="an escape sequence in a header"),
    pytest.param(get(headers=HOST + b"X-A: b\r\n c\r\n"), id="a folded header"),
    pytest.param(get(headers=b" " + HOST), id="a folded first header"),
    pytest.param(get(headers=HOST + b"X-A: b\rX-B: c\r\n"), id="a bare CR in the headers"),
    pytest.param(get(headers=HOST + b"X-A: b\nX-B: c\r\n"), id="a bare LF in the headers"),
    pytest.param(get().replace(b"\r\n", b"\n"), id="lines that end with LF alone"),
    pytest.param(get(headers=HOST).replace(b"\r\n\r\n", b"\r\n\n"), id="an empty line of LF alone"),
    pytest.param(get(b"/api/echo?" + b"&".join([b"a=1"] * 3000)), id="three thousand query fields"),
]

FRAMING = [
    pytest.param(post(b"Content-Length: 2\r\nContent-Length: 2\r\n", b"{}"), id="two equal lengths"),
    pytest.param(post(b"Content-Length: 2\r\nContent-Length: 5\r\n", b"{}"), id="two lengths"),
    pytest.param(post(b"Content-Length: 2, 2\r\n", b"{}"), id="two equal lengths in one header"),
    pytest.param(post(b"Content-Length: 2, 5\r\n", b"{}"), id="two lengths in one header"),
    pytest.param(post(b"Content-Length: -2\r\n", b"{}"), id="a negative length"),
    pytest.param(post(b"Content-Length: +2\r\n", b"{}"), id="a length with a plus"),
    pytest.param(post(b"Content-Length: 0x2\r\n", b"{}"), id="a hexadecimal length"),
    pytest.param(post(b"Content-Length: 2.0\r\n", b"{}"), id="a length with a fraction"),
    pytest.param(post(b"Content-Length: 2_0\r\n", b"{}"), id="a length with an underscore"),
    pytest.param(post(b"Content-Length: \r\n", b"{}"), id="an empty length"),
    pytest.param(post(b"Content-Length: " + b"1" * 30 + b"\r\n", b"{}"), id="a length of thirty digits"),
    pytest.param(post("Content-Length: \u00b2\r\n".encode("latin-1"), b"{}"), id="a superscript length"),
    pytest.param(post(CHUNKED + b"Content-Length: 2\r\n", b"0\r\n\r\n"), id="chunks and a length"),
    pytest.param(post(b"Content-Length: 2\r\n" + CHUNKED, b"0\r\n\r\n"), id="a length and chunks"),
    pytest.param(post(CHUNKED + CHUNKED, b"0\r\n\r\n"), id="chunked twice"),
    pytest.param(post(b"Transfer-Encoding: chunked, chunked\r\n", b"0\r\n\r\n"), id="chunked of chunked"),
    pytest.param(post(b"Transfer-Encoding: identity\r\n", b"0\r\n\r\n"), id="the coding identity"),
    pytest.param(post(b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n"), id="chunks of gzip"),
    pytest.param(post(b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n"), id="a coding nobody knows"),
    pytest.param(post(b"Transfer-Encoding: \x0bchunked\r\n", b"0\r\n\r\n"), id="a hidden coding"),
    pytest.param(post(b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n"), id="a coding behind a space"),
    pytest.param(post(b"Transfer-Encoding:\r\n chunked\r\n", b"0\r\n\r\n"), id="a folded coding"),
    pytest.param(b"POST /api/echo HTTP/1.0\r\n" + CHUNKED + b"\r\n0\r\n\r\n", id="chunks in HTTP/1.0"),
    pytest.param(post(CHUNKED, b"x\r\n{}\r\n0\r\n\r\n"), id="a chunk size that is no number"),
    pytest.param(post(CHUNKED, b"0x2\r\n{}\r\n0\r\n\r\n"), id="a chunk size with 0x"),
    pytest.param(post(CHUNKED, b"-2\r\n{}\r\n0\r\n\r\n"), id="a negative chunk size"),
    pytest.param(post(CHUNKED, b"+2\r\n{}\r\n0\r\n\r\n"), id="a chunk size with a plus"),
    pytest.param(post(CHUNKED, b" 2\r\n{}\r\n0\r\n\r\n"), id="a space before a chunk size"),
    pytest.param(post(CHUNKED, b"2 \r\n{}\r\n0\r\n\r\n"), id="a space behind a chunk size"),
    pytest.param(post(CHUNKED, b"2_0\r\n{}\r\n0\r\n\r\n"), id="a chunk size with an underscore"),
    pytest.param(post(CHUNKED, b"\r\n{}\r\n0\r\n\r\n"), id="no chunk size"),
    pytest.param(post(CHUNKED, b";a=b\r\n{}\r\n0\r\n\r\n"), id="an extension without a size"),
    pytest.param(post(CHUNKED, b"f" * 17 + b"\r\n{}"), id="a chunk size over 64 bits"),
    pytest.param(post(CHUNKED, b"2\n{}\r\n0\r\n\r\n"), id="a chunk size that ends with LF alone"),
    pytest.param(post(CHUNKED, b"2;a\rb\r\n{}\r\n0\r\n\r\n"), id="a bare CR in an extension"),
    pytest.param(post(CHUNKED, b"2;a\x00\r\n{}\r\n0\r\n\r\n"), id="NUL in an extension"),
    pytest.param(post(CHUNKED, b"2;" + b"a" * 5000 + b"\r\n{}\r\n0\r\n\r\n"), id="an endless extension"),
    pytest.param(post(CHUNKED, b"2\r\n{}xx0\r\n\r\n"), id="a chunk longer than it says"),
    pytest.param(post(CHUNKED, b"2\r\n{}\n\n0\r\n\r\n"), id="a chunk that ends with LF alone"),
    pytest.param(post(CHUNKED, b"2\r\n{}\r\n0\r\nno trailer\r\n\r\n"), id="a trailer that is none"),
    pytest.param(post(CHUNKED, b"2\r\n{}\r\n0\r\n a: b\r\n\r\n"), id="a folded trailer"),
    pytest.param(post(CHUNKED, b"2\r\n{}\r\n0\r\n" + b"a: b\r\n" * 100), id="a hundred trailers"),
]


@pytest.mark.parametrize("sent", MALFORMED + FRAMING)
async def test_a_malformed_request_is_told_so_and_the_connection_ends(url: str, sent: bytes) -> None:
    async with raw(url) as client:
        client.send(sent + get(b"/api/echo?hidden"))
        answer = await client.answer()
        assert_refused(answer, 400)
        assert answer.ends
        assert await client.everything() == b""  # what comes behind it is not served


@pytest.mark.parametrize("sent", MALFORMED[:3] + FRAMING[:3])
async def test_it_is_the_same_while_the_service_starts(sent: bytes, starting: str) -> None:
    assert_refused(await ask(starting, sent), 400)
    assert_refused(await ask(starting, get(headers=b"Host: localhost\r\n")), 503, "starting")


@pytest.fixture
async def starting() -> AsyncIterator[str]:
    server, url = serve_application(refusing_application(ServerSettings(), "starting", Metrics()))
    yield url
    server.stop()
    await server.close_all_connections()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(get(b"/" + b"a" * 70_000), 414, id="a path of 70,000 characters"),
        pytest.param(b"A" * 70_000, 414, id="a line that never ends"),
        pytest.param(get(headers=HOST + b"X-A: " + b"a" * 70_000 + b"\r\n"), 431, id="a header of 70 KB"),
        pytest.param(get(headers=HOST + b"Cookie: a=b\r\n" * 6000), 431, id="six thousand cookies"),
        pytest.param(get(headers=HOST + b"a:\r\n" * 300), 431, id="three hundred small headers"),
        pytest.param(get(headers=HOST + b"X: " + b"a" * 70_000), 431, id="headers that never end"),
    ],
)
async def test_what_is_too_long_is_told_so(url: str, sent: bytes, status: int) -> None:
    answer = await ask(url, sent)
    assert_refused(answer, status)
    assert answer.ends


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        pytest.param(get(b"http://other/api/echo?a=1"), {"query": "a=1", "host": "other"}, id="a URL"),
        pytest.param(get(b"HTTPS://a:8443/api/echo"), {"query": "", "host": "a:8443"}, id="with a port"),
        pytest.param(get(b"http://[::1]:80/api/echo"), {"query": "", "host": "[::1]:80"}, id="of IPv6"),
    ],
)
async def test_a_target_in_absolute_form_is_served(url: str, sent: bytes, answered: dict[str, str]) -> None:
    async with raw(url) as client:
        client.send(sent)
        answer = await client.answer()
        assert (answer.status, answer.json) == (200, answered)


CHUNKS = [
    pytest.param(b"b;a=b\r\n", b"0\r\n\r\n", id="an extension"),
    pytest.param(b'b ; a="b;c"\r\n', b"0;last\r\n\r\n", id="quoted, with spaces, and on the last chunk"),
    pytest.param(b"b\r\n", b"0\r\nX-Trailer: a\r\nX-Other: b\r\n\r\n", id="trailers"),
]


@pytest.mark.parametrize(("first", "last"), CHUNKS)
async def test_extensions_and_trailers_of_chunks_are_ignored(url: str, first: bytes, last: bytes) -> None:
    async with raw(url) as client:
        client.send(post(CHUNKED, first + b'{"said":{}}' + b"\r\n" + last) + get(b"/api/echo?next"))
        answer = await client.answer()
        assert (answer.status, answer.json) == (200, {"said": {}})
        assert (await client.answer()).json["query"] == "next"


@pytest.mark.parametrize("value", ["banana", "200-ok", "100-continue, banana", "", "100-continue;q=1"])
async def test_another_expectation_cannot_be_met(url: str, value: str) -> None:
    assert_refused(await ask(url, get(headers=HOST + f"Expect: {value}\r\n".encode())), 417, "Expect")


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "deflate", "br", "zstd", "x-gzip", "identity, gzip", ""])
async def test_an_encoded_body_is_not_unpacked(url: str, coding: str) -> None:
    sent = post(f"Content-Encoding: {coding}\r\nContent-Length: 2\r\n".encode(), b"{}")
    assert_refused(await ask(url, sent), 415, "Content-Encoding")


async def test_a_client_that_waits_to_send_is_spared_what_would_be_refused(url: str) -> None:
    async with raw(url) as client:
        client.send(post(b"Expect: 100-continue\r\nContent-Length: 99999999\r\n", b""))
        assert_refused(await client.answer(), 413)


@pytest.mark.parametrize(
    ("offered", "taken"),
    [
        pytest.param("a", True, id="one letter"),
        pytest.param("A.b_c-9", True, id="every kind of character"),
    ],
)
async def test_a_foreign_request_id_is_taken_if_it_looks_like_one(
    url: str, offered: str, taken: bool
) -> None:
    header = b"X-Request-Id: " + offered.encode("latin-1") + b"\r\n"
    answer = await ask(url, get(headers=HOST + header))
    assert (answer.headers["x-request-id"] == offered) is taken
