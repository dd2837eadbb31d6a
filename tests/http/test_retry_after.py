"""Every 429 and 503 has Retry-After, wherever it is written."""

import asyncio
from collections.abc import Iterator
from http import HTTPStatus

import pytest
from tornado.web import HTTPError

from netautod.core import errors
from netautod.core.metrics import Metrics
from netautod.http.access import public
from netautod.http.connections.refusal import Refusal
from netautod.http.errors import RETRIED, RETRY_SECONDS, STATUS, status_of
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.http.settings import ServerSettings
from netautod.http.status.health import Health, HealthCheck
from netautod.http.status.unavailable import RETRY_AFTER, refusing_application
from tests.support.client import ApiClient
from tests.support.serving import Serve, serve_application

NEXT: list[BaseException | int] = []


def kinds(of: type[errors.NetautodError] = errors.NetautodError) -> Iterator[type[errors.NetautodError]]:
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


def passing() -> list[errors.NetautodError]:
    """Return one of each of our errors that pass by themselves."""
    found: list[errors.NetautodError] = []
    for kind in {*kinds(), *STATUS}:
        status = next((STATUS[each] for each in kind.__mro__ if each in STATUS), 500)
        if status in RETRIED:
            waits = issubclass(kind, errors.TooManyRequests | errors.Overloaded)
            found.append(kind("Later", retry_after=7) if waits else kind("Later"))  # type: ignore[call-arg]
    return sorted(found, key=lambda error: type(error).__name__)


class Failing(JsonHandler):
    @public()
    async def get(self) -> None:
        """Fail with the error of the test."""
        wanted = NEXT.pop()
        if isinstance(wanted, int):
            self.set_status(wanted)
            self.set_header("Content-Type", "application/json")
            self.finish(b'{"error":"Later"}' if wanted == 503 else b'{"error":"Later","retry_after_secs":2}')
        else:
            raise wanted


def test_there_are_such_errors() -> None:
    assert {type(error) for error in passing()} >= {
        errors.TooManyRequests,
        errors.DiskFull,
        errors.UnknownOutcome,
    }


@pytest.mark.parametrize(
    "failure",
    [*passing(), HTTPError(429), HTTPError(503), *RETRIED],
    ids=lambda one: one if isinstance(one, int) else type(one).__name__,
)
async def test_whatever_a_handler_fails_with(serve: Serve, failure: Exception | int) -> None:
    served = await serve(routes=[Route(path="/failing", handler=Failing)])
    NEXT.append(failure)
    undescribed = {"paths": {}, "components": served.description["components"]}
    answer = await ApiClient(base_url=served.base_url, description=undescribed).get("/failing")
    if isinstance(failure, HTTPError) and failure.status_code == 503:
        assert answer.status == 500  # nothing of ours raises it
        return
    if isinstance(failure, int):
        assert answer.status == failure
    elif isinstance(failure, errors.NetautodError):
        assert answer.status == status_of(failure)
    else:
        assert answer.status == 429
    seconds = getattr(failure, "retry_after", RETRY_SECONDS)
    assert answer.headers["Retry-After"] == str(seconds)
    assert answer.json.get("retry_after_secs") == (seconds if answer.status == 429 else None)


async def test_a_limit_that_is_over_at_once_waits_for_a_second(serve: Serve) -> None:
    served = await serve(routes=[Route(path="/failing", handler=Failing)])
    NEXT.append(errors.TooManyRequests("Later", retry_after=0))
    answer = await served.client()[0].get("/failing")
    assert (answer.headers["Retry-After"], answer.json["retry_after_secs"]) == ("1", 1)


@pytest.mark.parametrize("state", ["starting", "draining", "unavailable"])
async def test_the_health_of_a_node_that_is_not_well(serve: Serve, state: Health) -> None:
    async def state_now() -> Health:
        return state

    answer = await (await serve(HealthCheck(state_now))).client()[0].get("/health")
    assert (answer.status, answer.json) == (503, {"error": state})
    assert answer.headers["Retry-After"] == str(RETRY_SECONDS)


@pytest.mark.parametrize("phase", ["starting", "draining"])
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "OPTIONS", "BREW"])
async def test_a_node_that_does_not_serve(phase: Health, method: str) -> None:
    server, url = serve_application(refusing_application(ServerSettings(), phase, Metrics()))
    try:
        head = await exchange(url, f"{method} /api/devices HTTP/1.1\r\nHost: localhost\r\n\r\n")
    finally:
        server.stop()
        await server.close_all_connections()
    assert head.startswith("HTTP/1.1 503 ")
    assert f"Retry-After: {RETRY_AFTER}\r\n" in head


async def test_a_server_without_room_for_a_connection() -> None:
    server, url = serve_application(
        refusing_application(ServerSettings(), "starting", Metrics()), connections=0
    )
    try:
        head = await exchange(url, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    finally:
        server.stop()
        await server.close_all_connections()
    assert head.startswith("HTTP/1.1 503 ")
    assert f"Retry-After: {RETRY_SECONDS}\r\n" in head


async def exchange(url: str, sent: str) -> str:
    """Return the head of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    writer.write(sent.encode())
    received = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    return received.decode()


@pytest.mark.parametrize("status", [status for status in HTTPStatus if status >= 400])
def test_a_refusal_of_what_is_no_request(status: int) -> None:
    answer = Refusal(status, "No").answer("1").decode()
    assert ("retry_after_secs" in answer) == (status == 429)
    assert (f"\r\nRetry-After: {RETRY_SECONDS}\r\n" in answer) == (status in RETRIED)
