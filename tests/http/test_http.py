"""The HTTP base: authentication, strict bodies, JSON errors, body limits, request ids."""

import asyncio
import io
import json
import logging

import pytest
from marshmallow import fields

from netautod.core.logs.folding import FoldingHandler
from netautod.core.schema.bases import Answer, Id, Integer, JsonObject, Name, PageQuery, Query, Request, Text
from netautod.http.access import any_token, public, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import MissingServiceError, Route, UndeclaredError
from tests.support.client import assert_error
from tests.support.serving import Serve


class ThingAnswer(Answer):
    name = fields.String()
    port = fields.Integer(allow_none=True)


class ThingRequest(Request):
    read_only = frozenset({"id"})
    name = Name(required=True)
    port = Integer(allow_none=True)
    description = Text()
    other_id = Id()
    metadata = JsonObject()


class Things(JsonHandler):
    @requires("things.read", query=PageQuery)
    async def get(self) -> None:
        """List the things."""
        self.answer(self.query)

    @requires("things.write", body=ThingRequest, answer=ThingAnswer, status=201, body_limit=2000)
    async def post(self) -> None:
        """Create a thing."""
        self.answer({"name": self.body["name"], "port": self.body.get("port")})

    @any_token(body=ThingRequest, partial=True)
    async def put(self) -> None:
        """Change a thing."""
        self.answer(self.body)


class Crash(JsonHandler):
    @public()
    async def get(self) -> None:
        """Fail at once."""
        raise RuntimeError("a secret detail")


class Exit(JsonHandler):
    @public()
    async def get(self) -> None:
        """Fail as a plugin may that was written as a script."""
        raise SystemExit("a secret detail")


class Cancel(JsonHandler):
    @public()
    async def get(self) -> None:
        """End as cancelled without a request for that: what it waits for was cancelled by another."""
        answer = asyncio.get_running_loop().create_future()
        answer.cancel("a secret detail")
        await answer


class OneThing(JsonHandler):
    @public()
    async def get(self, text: str) -> None:
        """Return a thing."""
        self.answer({"id": self.path_id(text, "Thing")})


ROUTES = [
    Route(path="/api/things/:id", handler=OneThing),
    Route(path="/api/things/crash", handler=Crash),
    Route(path="/api/things/exit", handler=Exit),
    Route(path="/api/things/cancel", handler=Cancel),
    Route(path="/api/things", handler=Things),
]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param(b"{", "not valid JSON", id="broken"),
        pytest.param(b'{"name":"a","port":NaN}', "not valid JSON", id="NaN"),
        pytest.param(b'{"name":"a","port":1e999}', "out of range", id="infinite"),
        pytest.param(b'{"name":"a","port":99999999999999999999}', "64 bits", id="over int64"),
        pytest.param(b'{"name":"a\\u0000"}', "name: NUL", id="NUL"),
        pytest.param(b'{"name":"\\ud800"}', "not valid Unicode", id="lone surrogate"),
        pytest.param(b"[" * 100 + b"]" * 100, "nested", id="100 levels"),
        pytest.param(b"[" * 900 + b"1" + b"]" * 900, "nested", id="900 levels"),
        pytest.param(b"[1]", "must be a JSON object", id="an array"),
        pytest.param(b"", "name: Missing data", id="nothing where a field is required"),
        pytest.param(b'{"name":"a","port":"7"}', "port: Not a valid integer", id="text for a number"),
        pytest.param(
            b'{"name":"a","metadata":[1]}', "metadata: Not a JSON object", id="a list for an object"
        ),
        pytest.param(b'{"name":"a","port":1.0}', "port: Not a valid integer", id="fraction for a number"),
        pytest.param(b'{"name":"a","port":true}', "port: Not a valid integer", id="true for a number"),
        pytest.param(b'{"name":{"$ne":1}}', "name: Not a valid string", id="operator object"),
        pytest.param(b'{"name":"  "}', "name: Length", id="blank name"),
        pytest.param(b'{"name":"a","bananas":1}', "bananas: Unknown field", id="unknown field"),
        pytest.param(b'{"name":"a","other_id":"12345678123456781234567812345678"}', "UUID", id="bare hex"),
        pytest.param(b"\xff\xfe", "not valid JSON", id="not UTF-8"),
    ],
)
async def test_a_bad_body_is_a_400_that_names_the_field(serve: Serve, raw: bytes, text: str) -> None:
    client, _ = (await serve(routes=ROUTES)).client("things.write")
    assert_error(await client.post("/api/things", raw=raw), 400, text)


async def test_read_only_fields_are_ignored_and_null_is_absent_on_create(serve: Serve) -> None:
    client, _ = (await serve(routes=ROUTES)).client("things.write")
    response = await client.post("/api/things", {"id": "x", "name": " a ", "port": None})
    assert (response.status, response.json) == (201, {"name": "a", "port": None})


async def test_a_partial_body_keeps_null_for_optional_fields_only(serve: Serve) -> None:
    client, _ = (await serve(routes=ROUTES)).client()
    assert (await client.put("/api/things", {"description": ""})).json == {"description": None}
    assert (await client.put("/api/things", {"port": None})).json == {"port": None}
    assert_error(await client.put("/api/things", {"name": None}), 400, "name: Field may not be null")


async def test_no_token_is_401_with_challenge_and_a_wrong_permission_403(serve: Serve) -> None:
    served = await serve(routes=ROUTES)
    client, _ = served.client("things.read")
    anonymous = await client.with_token(None).get("/api/things")
    assert_error(anonymous, 401, "Authentication required")
    assert anonymous.headers["WWW-Authenticate"] == "Bearer"
    assert_error(await client.with_token("nonsense").get("/api/things"), 401, "Invalid or expired token")
    assert_error(await client.post("/api/things", {"name": "a"}), 403, "Insufficient permissions")


@pytest.mark.parametrize(
    ("query", "status"),
    [
        pytest.param("limit=1&offset=3&bananas=1", 200, id="unknown keys are ignored"),
        pytest.param("limit=0", 400, id="limit 0"),
        pytest.param("limit=abc", 400, id="limit abc"),
        pytest.param("offset=-1", 400, id="offset -1"),
        pytest.param("limit=1000", 200, id="over the cap"),
        pytest.param("bananas=%FF", 200, id="unknown keys are ignored, whatever is in them"),
    ],
)
async def test_query_parameters(serve: Serve, query: str, status: int) -> None:
    client, _ = (await serve(routes=ROUTES)).client("things.read")
    response = await client.get(f"/api/things?{query}")
    assert response.status == status
    if "1000" in query:
        assert response.json["limit"] == 100


class SearchQuery(Query):
    q = fields.String()


class Search(JsonHandler):
    @public(query=SearchQuery)
    async def get(self) -> None:
        """Search the things."""
        self.answer(self.query)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("q=%20ip%20address%20", " ip address ", id="spaces at the ends are part of it"),
        pytest.param("q=a%07b", "a\x07b", id="control characters are not turned into spaces"),
        pytest.param("q=M%C3%BCnchen+1", "M\u00fcnchen 1", id="UTF-8 and a plus"),
        pytest.param("q=a&q=b", "b", id="of two the last"),
    ],
)
async def test_a_query_text_arrives_as_it_was_sent(serve: Serve, query: str, found: str) -> None:
    client, _ = (await serve(routes=[Route(path="/api/search", handler=Search)])).client()
    assert (await client.get(f"/api/search?{query}")).json == {"q": found}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param("q=a%00b", "q: NUL is not allowed", id="NUL"),
        pytest.param("q=%FF%FE", "q: Not valid UTF-8", id="another encoding"),
    ],
)
async def test_a_query_text_that_cannot_be_kept_is_a_400_that_names_it(
    serve: Serve, query: str, text: str
) -> None:
    client, _ = (await serve(routes=[Route(path="/api/search", handler=Search)])).client()
    assert_error(await client.get(f"/api/search?{query}"), 400, text)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("1", id="an unknown field"),
        pytest.param('"\\u0000"', id="with a NUL"),
        pytest.param('{"a": 99999999999999999999}', id="with a number that is too large"),
    ],
)
async def test_a_very_long_field_name_is_not_repeated_whole(serve: Serve, value: str) -> None:
    client, _ = (await serve(routes=ROUTES)).client("things.write")
    response = await client.post("/api/things", raw=f'{{"name":"a","{"x" * 1500}":{value}}}'.encode())
    assert_error(response, 400, "x" * 200 + "...: ")
    assert len(response.content) < 300


@pytest.mark.parametrize("length", ["abc", "-5", "+5", "5, 6", "1" * 30])
async def test_a_content_length_that_is_no_number_is_400(serve: Serve, length: str) -> None:
    served = await serve(routes=ROUTES)
    reader, writer = await asyncio.open_connection(*served.base_url.removeprefix("http://").split(":"))
    writer.write(f"GET /api/things/x HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n".encode())
    async with asyncio.timeout(10):
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readuntil(b"}")
    writer.close()
    await writer.wait_closed()
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body) == {"error": "Content-Length: Not a valid number"}


async def test_an_oversized_body_is_413_and_the_connection_answers(serve: Serve) -> None:
    client, _ = (await serve(routes=ROUTES)).client("things.write")
    for size in (3_000, 3_000_000, 150_000_000):
        body = b'{"name":"' + b"a" * size + b'"}'
        assert_error(await client.post("/api/things", raw=body), 413, "larger than 2000 bytes")


async def test_unknown_routes_and_methods_answer_json(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    client, _ = (await serve(routes=ROUTES)).client("things.write")
    assert_error(await client.get("/api/bananas"), 404, "Not found")
    refused = await client.request("PATCH", "/api/things", {})
    assert_error(refused, 405, "Method not allowed")
    assert refused.headers["Allow"] == "GET, POST, PUT"
    assert_error(await client.request("OPTIONS", "/api/things"), 405)
    assert_error(await client.get("/api/things/not-a-uuid"), 404, "Thing not found")
    assert_error(await client.get("/api/things/%FF"), 404, "Thing not found")
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("path", ["/api/things/crash", "/api/things/exit", "/api/things/cancel"])
async def test_a_literal_route_wins_and_an_unexpected_error_hides_its_text(
    serve: Serve, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    client, _ = (await serve(routes=ROUTES)).client()
    response = await client.get(path, headers={"X-Request-Id": "my-request-1"})
    assert_error(response, 500, "Internal server error (request my-request-1)")
    assert b"secret" not in response.content
    assert "a secret detail" in caplog.text


@pytest.mark.parametrize(
    "origin",
    [
        pytest.param("https://console.example", id="a page"),
        pytest.param("tauri://localhost", id="a Tauri application"),
        pytest.param("app://netautod", id="an application with a scheme of its own"),
    ],
)
async def test_cors_is_answered_for_listed_origins_only(serve: Serve, origin: str) -> None:
    client, _ = (await serve(routes=ROUTES)).client()
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    listed = await client.with_token(None).request("OPTIONS", "/api/things", headers=headers)
    assert listed.status == 204
    assert listed.headers["Access-Control-Allow-Origin"] == origin
    assert "Authorization" in listed.headers["Access-Control-Allow-Headers"]
    refused = await client.with_token(None).post("/api/things", {}, headers={"Origin": origin})
    assert_error(refused, 401)
    assert refused.headers["Access-Control-Allow-Origin"] == origin
    other = await client.request("OPTIONS", "/api/things", headers={"Origin": "https://evil.example"})
    assert_error(other, 405)
    assert "Access-Control-Allow-Origin" not in other.headers


async def test_an_undeclared_method_refuses_to_start(serve: Serve) -> None:
    class Careless(JsonHandler):
        async def get(self) -> None:
            self.answer({})

    with pytest.raises(UndeclaredError, match="does not declare who may call it"):
        await serve(routes=[Route(path="/api/careless", handler=Careless)])


class Counter:
    """A service."""


class Special(Counter):
    """A service that is a counter as well."""


class CounterHandler(JsonHandler):
    counter: Counter


class Counting(CounterHandler):
    @public()
    async def get(self) -> None:
        """Return which service it has."""
        self.answer({"is": type(self.counter).__name__})


COUNTING = [Route(path="/api/counting", handler=Counting)]


async def test_a_handler_gets_the_service_that_its_base_annotates(serve: Serve) -> None:
    client, _ = (await serve(Special(), object(), routes=COUNTING)).client()
    assert (await client.get("/api/counting")).json == {"is": "Special"}


@pytest.mark.parametrize(
    "services",
    [pytest.param((object(),), id="none"), pytest.param((Counter(), Special()), id="two that fit")],
)
async def test_a_service_that_is_not_there_once_refuses_to_start(
    serve: Serve, services: tuple[object, ...]
) -> None:
    with pytest.raises(MissingServiceError, match=r"Counting\.counter needs one Counter"):
        await serve(*services, routes=COUNTING)


async def test_an_unknown_route_is_logged_once_for_a_client_and_counted(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stream, now = io.StringIO(), 1000.0
    handler = FoldingHandler(stream, clock=lambda: now)
    monkeypatch.setattr(logging.getLogger("netautod.http"), "handlers", [handler])
    caplog.set_level(logging.INFO, "netautod.http")
    client, _ = (await serve(routes=ROUTES)).client()
    other = {"X-Forwarded-For": "192.0.2.7"}
    for path, headers in (*[("/api/nodes", {})] * 3, ("/api/nodes", other), ("/api/edges?x=1", {})):
        assert_error(await client.get(path, headers=headers), 404, "Not found")
    first = [
        "GET /api/nodes from 127.0.0.1: unknown route",
        "GET /api/nodes from 192.0.2.7: unknown route",
        "GET /api/edges from 127.0.0.1: unknown route",
    ]
    assert stream.getvalue().splitlines() == first
    now += 60
    handler.report_counts()
    assert stream.getvalue().splitlines() == [*first, f"{first[0]} (2 more times)"]
