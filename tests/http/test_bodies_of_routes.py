"""A body is read on every POST and PUT, whatever the route: JSON, an object, of known fields."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from netautod.assembly.routes import ROUTES
from netautod.core.schema.bases import Request, Text
from netautod.http.access import JSON, READ_METHODS, public
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from tests.attacks.attackers.raw import Answer, ask
from tests.support.mocked_services import TOKEN, served

SENTENCE = f"send JSON with the header `Content-Type: {JSON}`"
READING = [
    (name, route.path, operation)
    for route in ROUTES
    for name, operation in route.operations().items()
    if name in READ_METHODS and operation.takes_json
]
ID = "0b9e4b1e-62f2-4c0f-8f0c-0d6f0f3f7a11"


def message(method: str, path: str, body: bytes, *headers: str) -> bytes:
    segments = [ID if part.startswith(":") and part != ":version" else part for part in path.split("/")]
    target = "/".join("1" if part == ":version" else part for part in segments)
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {TOKEN}", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def every_route() -> AsyncIterator[str]:
    async with served(ROUTES) as url:
        yield url


BAD = [
    pytest.param(b'{"nope": 1}', [f"Content-Type: {JSON}"], 400, "nope: Unknown field", id="unknown field"),
    pytest.param(b'{"nope": 1}', [f"Content-Type: {JSON}; charset=utf-8"], 400, "nope", id="with a charset"),
    pytest.param(b'{"nope": 1}', [], 400, "nope: Unknown field", id="without the header"),
    pytest.param(b'{"nope": 1}', ["Content-Type: "], 400, "nope: Unknown field", id="an empty header"),
    pytest.param(b'{"nope": ', [f"Content-Type: {JSON}"], 400, "not valid JSON", id="malformed JSON"),
    pytest.param(b"\xff", [f"Content-Type: {JSON}"], 400, "not valid JSON", id="not UTF-8"),
    pytest.param(b"[]", [f"Content-Type: {JSON}"], 400, "must be a JSON object", id="an array"),
    pytest.param(b"null", [f"Content-Type: {JSON}"], 400, "must be a JSON object", id="null"),
    *(
        pytest.param(b"{}", [f"Content-Type: {kind}"], 415, SENTENCE, id=kind)
        for kind in (
            *("text/plain", "TEXT/PLAIN;charset=UTF-8", "application/x-www-form-urlencoded", "text/json"),
            *("multipart/form-data; boundary=a", "text/plain; application/json", "application/jsonp"),
            *("application/octet-stream", "application/json, text/plain", "json", ";"),
        )
    ),
]


@pytest.mark.parametrize(("body", "headers", "status", "text"), BAD)
async def test_no_route_overlooks(
    every_route: str, body: bytes, headers: list[str], status: int, text: str
) -> None:
    wrong = {}
    for method, path, operation in READING:
        if status == 400 and operation.consumes is not None:
            continue  # an array of rows, which its own reader checks
        answer = await ask(every_route, message(method, path, body, *headers))
        if (answer.status, set(answer.json)) != (status, {"error"}) or text not in answer.json["error"]:
            wrong[f"{method} {path}"] = (answer.status, answer.body)
    assert wrong == {}


def test_the_walk_has_the_routes_without_a_schema() -> None:
    without = {path.rpartition("/")[2] for _, path, operation in READING if operation.body is None}
    assert without >= {"run", ":version_id", "cancel", "pull", "retry-failed", "resume", "lock", "reset"}


class OptionalBody(Request):
    text = Text()


class Declared(JsonHandler):
    @public(body=OptionalBody)
    async def post(self) -> None:
        """Take a text, or none."""
        self.answer(self.body)

    @public()
    async def put(self) -> None:
        """Take nothing."""
        self.answer({})

    @public()
    async def delete(self) -> None:
        """Take nothing either."""
        self.answer({})


DECLARED = Route(path="/declared", handler=Declared)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
@pytest.mark.parametrize("kind", ["", JSON, "text/plain", "application/x-www-form-urlencoded", "nonsense"])
@pytest.mark.parametrize("body", [b"", b" \r\n", b"{}"], ids=["nothing", "white space", "an empty object"])
async def test_an_empty_body_is_fine_where_nothing_is_needed(method: str, kind: str, body: bytes) -> None:
    if body == b"{}" and kind not in ("", JSON):
        return
    headers = [f"Content-Type: {kind}"] if kind else []
    async with served([DECLARED]) as url:
        assert answered(await ask(url, message(method, "/declared", body, *headers))) == (200, {})


async def test_chunks_without_a_byte_are_an_empty_body() -> None:
    head = (
        b"PUT /declared HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    async with served([DECLARED]) as url:
        assert answered(await ask(url, head + b"0\r\n\r\n")) == (200, {})


async def test_json_is_taken_with_parameters_and_in_capitals() -> None:
    async with served([DECLARED]) as url:
        for kind in ("application/json;charset=UTF-8", "Application/JSON", "application/json ; v=1"):
            sent = message("POST", "/declared", b'{"text":"a"}', f"Content-Type: {kind}")
            assert answered(await ask(url, sent)) == (200, {"text": "a"})


def answered(answer: Answer) -> tuple[int, object]:
    return answer.status, answer.json
