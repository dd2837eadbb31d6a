"""Every error body is exactly `{"error": ...}`; a 429 alone has `retry_after_secs` beside it."""

import json
from collections.abc import Iterator
from http import HTTPStatus

import pytest
from tornado.web import HTTPError, MissingArgumentError

from netautod.core import errors
from netautod.core.metrics import Metrics
from netautod.http.access import any_token, public
from netautod.http.connections.refusal import Refusal
from netautod.http.errors import STATUS
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.http.settings import ServerSettings
from netautod.http.status.health import Health
from netautod.http.status.unavailable import refusing_application
from tests.attacks.attackers.raw import Answer, ask
from tests.support.mocked_services import served
from tests.support.serving import serve_application

NEXT: list[BaseException] = []


def kinds(of: type[errors.NetautodError] = errors.NetautodError) -> Iterator[type[errors.NetautodError]]:
    yield of
    for kind in of.__subclasses__():
        yield from kinds(kind)


def raised() -> list[BaseException]:
    """Return one of each of our errors, and what else a handler may fail with."""
    found: list[BaseException] = []
    for kind in sorted({*kinds(), *STATUS}, key=lambda one: one.__name__):
        if issubclass(kind, errors.TooManyRequests | errors.Overloaded):
            found.append(kind("Later", retry_after=7))
        elif issubclass(kind, errors.Duplicate):
            found.append(kind(("name",)))
        elif kind.__init__ is errors.NetautodError.__init__:
            found.append(kind("No"))
    tornado = [HTTPError(status) for status in (400, 404, 418, 429, 500)]
    return [*found, *tornado, MissingArgumentError("a"), RuntimeError("a secret"), OSError(28, "full")]


class Failing(JsonHandler):
    @public()
    async def get(self) -> None:
        """Fail with the error of the test."""
        raise NEXT.pop()

    @any_token()
    async def post(self) -> None:
        """Take nothing."""
        self.answer({})


def assert_exact(answer: Answer, status: int | None = None) -> None:
    assert status is None or answer.status == status
    assert answer.status >= 400
    assert answer.headers["content-type"] == "application/json"
    body = json.loads(answer.body)
    more = {"retry_after_secs"} if answer.status == 429 else set()
    assert body.keys() == {"error"} | more, body
    assert body["error"]
    assert ("retry-after" in answer.headers) == (answer.status in (429, 503))
    if more:
        assert str(body["retry_after_secs"]) == answer.headers["retry-after"]


@pytest.mark.parametrize("error", raised(), ids=lambda one: f"{type(one).__name__} {one}")
async def test_whatever_a_handler_raises(error: BaseException) -> None:
    NEXT.append(error)
    async with served([Route(path="/failing", handler=Failing)]) as url:
        assert_exact(await ask(url, b"GET /failing HTTP/1.1\r\nHost: a\r\n\r\n"))


AUTHORIZED = b"Host: a\r\nAuthorization: Bearer a\r\n"
POST = b"POST /failing HTTP/1.1\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(b"NONSENSE\r\n\r\n", 400, id="a malformed request"),
        pytest.param(POST + b"Host: a\r\n\r\n", 401, id="no token"),
        pytest.param(POST + AUTHORIZED + b"Origin: null\r\n\r\n", 403, id="a foreign page"),
        pytest.param(b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", 404, id="an unknown path"),
        pytest.param(b"BREW /failing HTTP/1.1\r\nHost: a\r\n\r\n", 405, id="an unknown method"),
        pytest.param(POST + AUTHORIZED + b"Content-Length: 2\r\n\r\n[]", 400, id="no object"),
        pytest.param(POST + AUTHORIZED + b"Content-Length: 1\r\n\r\n{", 400, id="malformed JSON"),
        pytest.param(
            POST + AUTHORIZED + b"Expect: 100-continue\r\nContent-Length: 9999999\r\n\r\n",
            413,
            id="too large",
        ),
        pytest.param(b"GET /" + b"a" * 70_000, 414, id="too long a target"),
        pytest.param(
            POST + AUTHORIZED + b"Content-Type: a/b\r\nContent-Length: 2\r\n\r\n{}", 415, id="another type"
        ),
        pytest.param(POST + AUTHORIZED + b"Content-Encoding: br\r\n\r\n", 415, id="an encoding"),
        pytest.param(POST + AUTHORIZED + b"Expect: more\r\n\r\n", 417, id="an expectation"),
        pytest.param(b"GET / HTTP/1.1\r\nA: " + b"a" * 70_000, 431, id="too long headers"),
    ],
)
async def test_what_is_refused_before_a_handler_works(sent: bytes, status: int) -> None:
    async with served([Route(path="/failing", handler=Failing)]) as url:
        assert_exact(await ask(url, sent), status)


@pytest.mark.parametrize("sent", [b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n", b"NONSENSE\r\n\r\n"])
async def test_a_limit(sent: bytes) -> None:
    async with served([], anonymous_burst=1) as url:
        assert_exact(await ask(url, sent))
        assert_exact(await ask(url, sent), 429)


@pytest.mark.parametrize("phase", ["starting", "draining"])
@pytest.mark.parametrize(("host", "status"), [("localhost", 503), ("attacker.example", 421)])
async def test_a_node_that_does_not_serve(phase: Health, host: str, status: int) -> None:
    server, url = serve_application(refusing_application(ServerSettings(), phase, Metrics()))
    try:
        assert_exact(await ask(url, f"GET /health HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()), status)
    finally:
        server.stop()
        await server.close_all_connections()


@pytest.mark.parametrize("status", [status for status in HTTPStatus if status >= 400])
@pytest.mark.parametrize("seconds", [None, 7])
def test_a_refusal_of_what_is_no_request(status: int, seconds: int | None) -> None:
    if seconds is not None and status not in (429, 503):
        return
    head, _, body = Refusal(status, "No", retry_after=seconds).answer("1").partition(b"\r\n\r\n")
    names = {"error", "retry_after_secs"} if status == 429 else {"error"}
    assert json.loads(body).keys() == names
    assert (b"\r\nRetry-After: " in head) == (status in (429, 503))
