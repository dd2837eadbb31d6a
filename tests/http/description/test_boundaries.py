"""What the description allows is taken: its own examples, every choice, both ends of every range.

The schemas of the requests are asked, not the services behind them: whether an id or a permission exists is
not the description's to say.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from netautod.assembly.routes import ROUTES, description
from netautod.core.errors import InvalidInput
from netautod.core.schema.bases import load
from netautod.http.access import Operation
from netautod.http.conditions.tags import listed_tags
from netautod.http.description import examples
from netautod.http.description.openapi import openapi_path
from tests.support.programs.started import ROOT
from tests.support.tables import over

DESCRIPTION = description()
SCHEMAS = DESCRIPTION["components"]["schemas"]
DECLARED = [
    (openapi_path(route.path), method, operation)
    for route in ROUTES
    for method, operation in route.operations().items()
]
BODIES = [
    pytest.param(path, method, operation, id=f"{method} {path}")
    for path, method, operation in DECLARED
    if operation.body
]
QUERIES = [
    pytest.param(path, method, operation, id=f"{method} {path}")
    for path, method, operation in DECLARED
    if operation.query
]
DEEPEST = 4
FORMATS = {
    "uuid": ("6f1f4a86-6f0b-4f0e-9a51-0d9d0b7c2f11", "6F1F4A86-6F0B-4F0E-9A51-0D9D0B7C2F11"),
    "date-time": ("2026-11-21T06:44:12.345Z", "2026-11-21T06:44:12+05:30"),
    "email": ("ada@example.com",),
    "ipv4": ("192.0.2.10", "0.0.0.0"),
    "ipv6": ("2001:db8::10", "::"),
}
# One of several that match, for patterns that none of the texts below matches.
TEXTS = (
    "core-1",
    "192.0.2.0/24",
    "0 3 * * *",
    "UTC",
    "Europe/Berlin",
    "https://inventory.example.com/path",
    "00:00:5e:00:53:01",
    "0000.5e00.5301",
    "cisco_ios",
)
# Fields of which one alone is needed: a query cannot say so.
EITHER = {
    ("GET", "/api/config/search"): {"q": "hostname"},
    ("GET", "/api/devices/find"): {"mac": "00:00:5e:00:53:01"},
}


def resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
    return schema


def boundaries(schema: Mapping[str, Any], depth: int = 0) -> Iterator[Any]:
    """Yield every choice, both ends of every range, and null where it is allowed."""
    schema = resolved(schema)
    for one in schema.get("anyOf", ()):
        yield from boundaries(one, depth)
    if "anyOf" in schema or "not" in schema:
        return
    if "enum" in schema:
        yield from schema["enum"]
        return
    kinds = schema.get("type", ())
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        yield from OF_KIND[kind](schema, depth)


def numbers(schema: Mapping[str, Any], depth: int) -> Iterator[Any]:
    yield from (schema[end] for end in ("minimum", "maximum") if end in schema)


def texts(schema: Mapping[str, Any], depth: int) -> Iterator[str]:
    if "format" in schema:
        yield from FORMATS[schema["format"]]
        return
    least, most = schema.get("minLength", 0), schema.get("maxLength", 100)
    for text in ("a" * least, "a" * most, "7" * most, " a\u00e9", *TEXTS):
        if least <= len(text) <= most and re.search(schema.get("pattern", ""), text):
            yield text


def arrays(schema: Mapping[str, Any], depth: int) -> Iterator[list[Any]]:
    if not schema.get("minItems"):
        yield []
    if depth < DEEPEST:
        for each in boundaries(schema["items"], depth + 1):
            yield [each]
            yield [each] * schema.get("maxItems", 1)


def objects(schema: Mapping[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    inner = schema.get("properties", {})
    needed = {name: next(boundaries(inner[name], depth + 1)) for name in schema.get("required", ())}
    yield needed
    if depth < DEEPEST:
        for name, one in inner.items():
            yield from ({**needed, name: each} for each in boundaries(one, depth + 1))


OF_KIND = {
    "null": lambda schema, depth: iter((None,)),
    "boolean": lambda schema, depth: iter((True, False)),
    "integer": numbers,
    "number": numbers,
    "string": texts,
    "array": arrays,
    "object": objects,
}


@over(("path", "method", "operation"), BODIES)
def test_a_body_at_the_bounds_of_a_field_is_taken(path: str, method: str, operation: Operation) -> None:
    described = DESCRIPTION["paths"][path][method.lower()]["requestBody"]["content"]["application/json"]
    assert operation.body is not None
    load(operation.body(), described["example"], partial=operation.partial)
    for name, field in resolved(described["schema"]).get("properties", {}).items():
        values = list(boundaries(field))
        assert values or "additionalProperties" in field, f"no value for {name}"
        for value in values:
            load(operation.body(), {**described["example"], name: value}, partial=operation.partial)


@over(("path", "method", "operation"), QUERIES)
def test_a_query_at_the_bounds_of_a_parameter_is_taken(path: str, method: str, operation: Operation) -> None:
    parameters = [
        one for one in DESCRIPTION["paths"][path][method.lower()]["parameters"] if one["in"] == "query"
    ]
    needed = {
        one["name"]: str(next(boundaries(one["schema"]))) for one in parameters if one.get("required")
    } | EITHER.get((method, path), {})
    for one in parameters:
        others = {} if one["name"] in ("regex", "ip") else needed
        for value in boundaries(one["schema"]):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            operation.load_query(
                {key: [sent.encode()] for key, sent in {**others, one["name"]: text}.items()}
            )


@pytest.mark.parametrize(
    ("path", "method", "name", "some"),
    [
        pytest.param(
            "/api/tasks/schedules", "post", "task_type", {"backup", "agent_task"}, id="a type of task"
        ),
        pytest.param("/api/docs", "post", "content_type", {"jinja", "markdown"}, id="a content type"),
        pytest.param("/api/docs", "post", "category", {"notes", "mops"}, id="a category"),
    ],
)
def test_what_may_be_chosen_is_listed(path: str, method: str, name: str, some: set[str]) -> None:
    body = DESCRIPTION["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"]
    assert some <= set(resolved(body)["properties"][name]["enum"])


def test_the_events_of_a_webhook_are_listed() -> None:
    assert "config_changed" in SCHEMAS["WebhookRequest"]["properties"]["events"]["items"]["enum"]


@over("field", ("state", "triggered_by"))
def test_answers_list_their_words(field: str) -> None:
    for name in ("ExecutionAnswer", "ExecutionListItem", "HistoryItem", "PollAnswer"):
        assert SCHEMAS[name]["properties"][field]["enum"], name


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        pytest.param("*", True, id="any"),
        pytest.param('"abc"', True, id="one"),
        pytest.param('W/"a", "b" ,"c"', True, id="several"),
        pytest.param("abc", False, id="no quotes"),
        pytest.param('"a" "b"', False, id="no comma"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_entity_tags_are_described_as_they_are_read(text: str, allowed: bool) -> None:
    headers = [
        one for one in DESCRIPTION["paths"]["/api/devices/{id}"]["put"]["parameters"] if one["in"] == "header"
    ]
    [described] = [one["schema"]["pattern"] for one in headers if one["name"] == "If-Match"]
    assert (re.search(described, text) is not None) == allowed
    with nullcontext() if allowed else pytest.raises(InvalidInput):
        listed_tags("If-Match", text)


@pytest.mark.parametrize(
    ("schema", "field", "value"),
    [
        pytest.param("CredentialRequest", "allowed_hosts", ["192.0.2.0/24"], id="a network"),
        pytest.param("CredentialRequest", "allowed_hosts", ["172.16.0.0/12"], id="a large network"),
        pytest.param("CredentialRequest", "allowed_hosts", ["2001:db8::/32", "::/0"], id="networks of IPv6"),
        pytest.param("CredentialRequest", "allowed_hosts", ["*.lab.example"], id="names"),
        pytest.param("SourceRequest", "url", "https://netbox.example.net:18443/x", id="a high port"),
        pytest.param("SourceRequest", "url", "https://[2001:db8::1]", id="a host of IPv6"),
        pytest.param("DeviceRequest", "host", "core-1.example.net.", id="a name with a final dot"),
        pytest.param("DeviceRequest", "host", "2001:db8::1", id="an address of IPv6"),
        pytest.param("DeviceRequest", "connect_commands", ["terminal length 0"], id="a command"),
        pytest.param("TaskCreate", "cron_expression", "*/5 1-3,7 * JAN SUN", id="a cron expression"),
        pytest.param("TaskCreate", "timezone", "America/Argentina/Ushuaia", id="a time zone"),
        pytest.param("RoleRequest", "permissions", ["*", "docs.*", "notes.read"], id="permissions"),
    ],
)
def test_what_is_taken_is_described(schema: str, field: str, value: Any) -> None:
    described = {**SCHEMAS[schema]["properties"][field], "components": DESCRIPTION["components"]}
    jsonschema_rs.Draft202012Validator(described, validate_formats=True).validate(value)


SOURCES = "\n".join(
    path.read_text() for path in (ROOT / "netautod").rglob("*.py") if path != Path(examples.__file__)
)
# What an error fills in, or marshmallow says.
SENTENCE = re.compile(r"[0-9a-f]{32}|\d{4,}|port: .*|SSH|'[^']*'|`[^`]*`")


@over("status", [status for status in examples.MESSAGES if status not in (400, 404, 503)])
def test_the_example_of_an_error_is_what_the_service_says(status: int) -> None:
    for part in SENTENCE.split(examples.MESSAGES[status]):
        assert part in SOURCES, part


def test_every_listed_error_is_one_that_something_answers() -> None:
    written = str(DESCRIPTION["paths"])
    for name in DESCRIPTION["components"]["responses"]:
        assert f"#/components/responses/{name}'" in written
