"""Routes of plugins in the whole service: who may call them, what they take and answer, how they fail."""

import logging
import re
from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema_rs import meta

from netautod.activity.events.publishing import EventPublisher
from tests.plugins.additions import lab
from tests.plugins.additions.conftest import Running
from tests.support.client import ApiClient, assert_error
from tests.support.execution import eventually

BASE = "/api/plugins/lab"
DEVICE = {"host": "192.0.2.1", "device_type": "linux"}


@pytest.fixture(scope="module")
async def clients(running: Running) -> Mapping[str, ApiClient]:
    """Return clients by name: `reader` holds lab.read, `maker` lab.*, `keeper` lab.read and
    devices.access.
    """
    admin, stranger = await running.logged_in("admin"), await running.logged_in("stranger")
    (await admin.post("/api/devices", {"name": "ours", **DEVICE})).expect(201)
    (await stranger.post("/api/devices", {"name": "theirs", **DEVICE})).expect(201)
    return {
        "nobody": running.client,
        "reader": await running.user("reader", "lab.read"),
        "maker": await running.user("maker", "lab.*"),
        "keeper": await running.user("keeper", "lab.read", "devices.access"),
        "viewer": await running.user("looker", "devices.access"),
        "admin": admin,
        "stranger": stranger,
    }


@pytest.mark.parametrize(
    ("who", "method", "path", "body", "status", "text"),
    [
        pytest.param("nobody", "GET", "/things", None, 401, "authentication required", id="no token"),
        pytest.param("viewer", "GET", "/things", None, 403, "insufficient", id="without the permission"),
        pytest.param("reader", "POST", "/things", {"name": "a"}, 403, "insufficient", id="with another one"),
        pytest.param("reader", "GET", "/devices", None, 403, "insufficient", id="what acting asks for"),
        pytest.param("nobody", "GET", "/open/devices", None, 403, "insufficient", id="acting for nobody"),
        pytest.param("maker", "POST", "/things", {}, 400, "name: missing", id="a field is missing"),
        pytest.param("maker", "POST", "/things", {"name": 7}, 400, "name: not a valid", id="a wrong type"),
        pytest.param("maker", "POST", "/things", {"name": "a", "x": 1}, 400, "x: unknown", id="unknown"),
        pytest.param("maker", "POST", "/things", {"name": "a" * 21}, 400, "name: longer", id="too long"),
        pytest.param("maker", "POST", "/things", [], 400, "must be a json object", id="no object"),
        pytest.param(
            "maker", "POST", "/things", {"name": "a", "size": {}}, 400, "size.unit: missing", id="within"
        ),
        pytest.param("reader", "GET", "/things?color=pink", None, 400, "color: must be one of", id="query"),
        pytest.param("maker", "PUT", "/things", {}, 405, "not allowed", id="a method that it has not"),
        pytest.param("maker", "GET", "/nothing", None, 404, "not found", id="a path that it has not"),
        pytest.param("maker", "GET", "/records/7", None, 404, "not found", id="an id that is none"),
        pytest.param("maker", "POST", "/refusals/missing", {"a": 1}, 400, "a: Unknown field", id="no body"),
        pytest.param("maker", "POST", "/refusals/invalid", None, 400, "it does not fit", id="InvalidInput"),
        pytest.param("maker", "POST", "/refusals/forbidden", None, 403, "on sundays", id="Forbidden"),
        pytest.param("maker", "POST", "/refusals/missing", None, 404, "thing not found", id="NotFound"),
        pytest.param("maker", "POST", "/refusals/conflict", None, 409, "in the way", id="Conflict"),
        pytest.param("maker", "POST", "/refusals/device", None, 502, "no answer", id="DeviceFailed"),
        pytest.param("maker", "POST", "/refusals/unavailable", None, 503, "later", id="Unavailable"),
    ],
)
async def test_refusals(
    clients: Mapping[str, ApiClient], who: str, method: str, path: str, body: Any, status: int, text: str
) -> None:
    answer = await clients[who].request(method, BASE + path, body)
    assert_error(answer, status, text)
    if status == 405:
        assert answer.headers["Allow"] == "GET, POST"


@pytest.mark.parametrize(
    ("who", "method", "path", "body", "status", "wanted"),
    [
        ("reader", "GET", "/things", None, 200, {"name": "all", "by": "reader"}),
        ("maker", "POST", "/things", {"name": "a", "size": None}, 201, {"seen": {"body": {"name": "a"}}}),
        ("maker", "PUT", "/things/a", {"name": "b"}, 200, {"name": "b"}),
        ("viewer", "GET", "/things/a%2Fb", None, 200, {"name": "a/b", "by": "looker"}),
        ("nobody", "GET", "/open", None, 200, {"name": "open", "by": None}),
        ("keeper", "GET", "/devices", None, 200, [{"name": "ours"}]),
        ("stranger", "GET", "/devices", None, 200, [{"name": "theirs"}]),
    ],
)
async def test_answers(
    clients: Mapping[str, ApiClient],
    who: str,
    method: str,
    path: str,
    body: Any,
    status: int,
    wanted: Any,
) -> None:
    """Compare each answer with the description; only devices of the own organization are in it."""
    found = (await clients[who].request(method, BASE + path, body)).expect(status)
    assert found == wanted if isinstance(wanted, list) else wanted.items() <= found.items()


async def test_what_a_handler_gets_of_the_request(clients: Mapping[str, ApiClient]) -> None:
    answer = await clients["reader"].get(f"{BASE}/things?color=blue&other=1")
    seen = {"color": "blue", "may": ["lab.read"], "request_id": answer.headers["X-Request-Id"]}
    assert answer.json["seen"] == seen
    assert (await clients["maker"].get(f"{BASE}/things")).json["seen"]["may"] == ["lab.read", "lab.write"]


async def test_a_text_and_an_answer_of_nothing(clients: Mapping[str, ApiClient]) -> None:
    text = await clients["viewer"].get(f"{BASE}/text")
    assert (text.status, text.headers["Content-Type"], text.content) == (200, "text/csv", b"a,b\r\n")
    assert (await clients["viewer"].request("HEAD", f"{BASE}/text")).content == b""
    gone = await clients["maker"].delete(f"{BASE}/things/a")
    assert (gone.status, gone.content, "Content-Type" in gone.headers) == (204, b"", False)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/broken", "ValueError: canary-of-a-handler"),
        ("/leaving", "ExitRaised: SystemExit: 3"),
        ("/lying", "WrongAnswer: the answer lacks by"),
        ("/text/lying", "WrongAnswer: it answers a NoneType and declares a text"),
    ],
)
async def test_a_handler_that_fails_is_a_500_and_named_in_the_log(
    clients: Mapping[str, ApiClient], caplog: pytest.LogCaptureFixture, path: str, text: str
) -> None:
    answer = await clients["viewer"].get(BASE + path)
    request_id = answer.headers["X-Request-Id"]
    assert answer.json == {"error": f"Internal server error (request {request_id})"}
    assert answer.status == 500
    lines = [record.getMessage() for record in caplog.records]
    assert f"plugin lab failed in {BASE}{path}: {text}" in lines
    (await clients["viewer"].get(f"{BASE}/things/a")).expect()


async def test_a_handler_that_hangs_is_cut(
    clients: Mapping[str, ApiClient], caplog: pytest.LogCaptureFixture
) -> None:
    answer = await clients["viewer"].get(f"{BASE}/hanging")
    assert_error(answer, 503, "the plugin lab did not answer in 0.05 s")
    assert int(answer.headers["Retry-After"]) > 0
    text = f"plugin lab did not answer GET {BASE}/hanging in 0.05 s"
    assert text in [record.getMessage() for record in caplog.records]


async def test_a_handler_that_ignores_its_end_is_left_behind(
    clients: Mapping[str, ApiClient], caplog: pytest.LogCaptureFixture
) -> None:
    lab.released.clear()
    assert_error(await clients["viewer"].get(f"{BASE}/stubborn"), 503, "did not answer")
    assert lab.released == []  # it goes on
    assert any("is left behind" in record.getMessage() for record in caplog.records)
    (await clients["viewer"].get(f"{BASE}/things/a")).expect()

    async def over() -> bool:
        return lab.released == ["stubborn"]

    await eventually(over)


async def test_a_change_is_in_the_audit_log_and_a_refusal_too(clients: Mapping[str, ApiClient]) -> None:
    admin = clients["admin"]
    await clients["maker"].post(f"{BASE}/things", {"name": "audited"})
    await clients["viewer"].delete(f"{BASE}/things/audited")
    events = (await admin.get("/api/audit?limit=100")).json["events"]
    received = [(one["actor_name"], one["action"], one["resource_id"]) for one in events]
    assert ("maker", "request.done", f"POST {BASE}/things") in received
    assert ("looker", "request.denied", f"DELETE {BASE}/things/:name") in received
    assert not [one for one in received if "/refusals/" in one[2] and one[1] == "request.done"]


async def test_metrics_and_log_lines_go_by_the_template(
    running: Running, clients: Mapping[str, ApiClient], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        await clients["viewer"].get(f"{BASE}/things/unheard-of")
    metrics, route = running.installation.metrics, f"{BASE}/things/:name"
    assert metrics.value("http_requests", "GET", route, "200") > 0
    assert not any("unheard-of" in str(series) for series in metrics.series())
    received = [vars(record)["fields"] for record in caplog.records if "fields" in vars(record)]
    assert [one["route"] for one in received if one["path"].endswith("/unheard-of")] == [route]


async def test_events_are_published_under_the_name_of_the_plugin(
    clients: Mapping[str, ApiClient], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[Any] = []

    async def publish(self: object, **event: Any) -> None:
        received.append(event)

    monkeypatch.setattr(EventPublisher, "publish", publish)
    assert (await clients["keeper"].post(f"{BASE}/told", {"name": "a"})).status == 204
    [event] = received
    org_id = event.pop("org_id")
    assert event == {"name": "lab.made", "data": {"name": "a"}, "permission": "lab.read"}
    assert re.fullmatch(r"[0-9a-f-]{36}", org_id)


async def test_they_are_in_the_description(running: Running) -> None:
    found = (await running.client.get("/api/openapi.json")).json
    paths = {path: one for path, one in found["paths"].items() if path.startswith("/api/plugins/")}
    assert {f"{BASE}/things", f"{BASE}/things/{{name}}", "/api/plugins/reports/backups"} <= set(paths)
    posted = paths[f"{BASE}/things"]["post"]
    assert posted["summary"] == "Does what its name says."
    assert "`lab.write`" in posted["description"]
    assert {"201", "400", "401", "403", "404", "409", "502"} <= set(posted["responses"])
    assert paths[f"{BASE}/open"]["get"]["security"] == []
    body = posted["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    schema = found["components"]["schemas"][body]
    assert body.endswith("ThingBody")
    assert (schema["properties"]["name"]["maxLength"], schema["required"]) == (20, ["name"])
    meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
