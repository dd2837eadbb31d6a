"""The client of the tests finds an answer that is not as it is described."""

import json
from typing import Any

import jsonschema_rs
import pytest

from netautod.assembly.routes import description
from tests.support.client import Response
from tests.support.promises import promises_of

DESCRIPTION = description()
JSON = {"X-Request-Id": "1", "Content-Type": "application/json"}
SITE = DESCRIPTION["paths"]["/api/sites/{id}"]["get"]["responses"]["200"]["content"]["application/json"][
    "example"
]
PATH = "/api/sites/6f1f4a86-6f0b-4f0e-9a51-0d9d0b7c2f11"


def answered(status: int, body: Any, headers: dict[str, str]) -> Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(status=status, headers=headers, content=content)


@pytest.mark.parametrize(
    ("method", "status", "body", "headers"),
    [
        pytest.param("GET", 200, SITE, JSON, id="a success"),
        pytest.param("HEAD", 200, b"", JSON, id="without its body"),
        pytest.param("DELETE", 204, b"", {"X-Request-Id": "1"}, id="nothing"),
        pytest.param("GET", 404, {"error": "Site not found"}, JSON, id="an error"),
        pytest.param("PATCH", 405, {"error": "Method not allowed"}, JSON, id="an error of no operation"),
    ],
)
def test_what_is_described_passes(method: str, status: int, body: Any, headers: dict[str, str]) -> None:
    promises_of(DESCRIPTION).hold(method, PATH, answered(status, body, headers))


@pytest.mark.parametrize(
    ("method", "status", "body", "headers"),
    [
        pytest.param("GET", 418, {"error": "a"}, JSON, id="a status that is not named"),
        pytest.param("GET", 502, {"error": "a"}, JSON, id="one of a server that is not named"),
        pytest.param("GET", 201, SITE, JSON, id="another success"),
        pytest.param("GET", 200, {**SITE, "id": 7}, JSON, id="a field of another type"),
        pytest.param("GET", 200, {**SITE, "id": "7"}, JSON, id="an id that is none"),
        pytest.param("GET", 200, {**SITE, "more": 1}, JSON, id="a field that is not described"),
        pytest.param("GET", 200, {"id": SITE["id"]}, JSON, id="fields that are missing"),
        pytest.param("GET", 200, SITE, {**JSON, "Content-Type": "text/html"}, id="another media type"),
        pytest.param("GET", 404, {"error": "a", "detail": 1}, JSON, id="an error of another shape"),
        pytest.param("GET", 503, {"error": "a"}, JSON, id="no Retry-After"),
        pytest.param("GET", 200, SITE, {"Content-Type": "application/json"}, id="no request id"),
        pytest.param("DELETE", 204, b"{}", JSON, id="a body where there is none"),
        pytest.param("PATCH", 405, {"message": "a"}, JSON, id="of no operation, and of another shape"),
    ],
)
def test_what_is_not_does_not(method: str, status: int, body: Any, headers: dict[str, str]) -> None:
    with pytest.raises((AssertionError, jsonschema_rs.ValidationError)):
        promises_of(DESCRIPTION).hold(method, PATH, answered(status, body, headers))
