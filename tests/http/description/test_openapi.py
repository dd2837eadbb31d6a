"""The description is complete: names, examples, shapes, permissions, and what can go wrong, as declared."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from netautod.assembly.routes import ROUTES, description
from netautod.http.access import Operation
from netautod.http.description.names import group_of, operation_id
from netautod.http.description.openapi import openapi_path
from tests.support.tables import over

DESCRIPTION = description()
SCHEMAS = DESCRIPTION["components"]["schemas"]
OPERATIONS = [
    pytest.param(path, method, operation, id=f"{method} {path}")
    for path, methods in DESCRIPTION["paths"].items()
    for method, operation in methods.items()
    if method != "parameters"
]
DECLARED = [
    pytest.param(openapi_path(route.path), method, operation, id=f"{method} {route.path}")
    for route in ROUTES
    for method, operation in route.operations().items()
]
NO_BODY = {"204", "302", "304"}
RECORDED = Path(__file__).parents[2] / "data" / "operation_ids.txt"


def test_it_is_valid_openapi() -> None:
    assert [str(error) for error in OpenAPIV31SpecValidator(DESCRIPTION).iter_errors()] == []


@over(("path", "method", "operation"), OPERATIONS)
def test_every_route_lists_its_errors(path: str, method: str, operation: dict[str, Any]) -> None:
    listed = set(operation["responses"])
    wanted = {"400", "413", "415", "417", "421", "431", "500", "503"}
    wanted |= {"403"} if method != "get" else set()
    wanted |= {"404"} if "{" in path else set()
    if operation.get("security") != []:
        wanted |= {"401", "403", "429"}
        wanted |= {"409"} if method != "get" else set()
    assert wanted <= listed
    assert "default" not in listed, "a status that is not named would count as described"


@over(("path", "method", "operation"), OPERATIONS)
def test_every_operation_says_what_it_does(path: str, method: str, operation: dict[str, Any]) -> None:
    assert re.fullmatch(r"[A-Z].{8,}[.]", operation["summary"]), operation["summary"]
    assert re.fullmatch(r"[a-z][a-z0-9_]+", operation["operationId"])
    assert operation["tags"] == [group_of(path)]
    for parameter in operation.get("parameters", []):
        assert parameter["description"], parameter["name"]
        assert parameter["schema"]["type"] != "array"


@over(("path", "method", "operation"), OPERATIONS)
def test_every_body_has_a_shape_and_a_valid_example(
    path: str, method: str, operation: dict[str, Any]
) -> None:
    answers = {status: one for status, one in operation["responses"].items() if status < "400"}
    assert answers
    for status, answer in answers.items():
        assert ("content" in answer) == (status not in NO_BODY), f"{status} has no shape"
    for content in (operation.get("requestBody", {}), *answers.values()):
        for media, described in content.get("content", {}).items():
            assert described["schema"] != {}
            if media == "application/json":
                assert_valid(described["example"], described["schema"])
            assert described["example"] or operation["operationId"] in EMPTY, media


# They take a body, and need nothing in it.
EMPTY = {
    "logout",
    "poll_device",
    "sync_inventory_source",
    "test_device_credential",
    "test_device_credentials",
    "test_inventory_source",
}


def assert_valid(example: Any, schema: dict[str, Any]) -> None:
    whole = {**schema, "components": DESCRIPTION["components"]}
    jsonschema_rs.Draft202012Validator(whole, validate_formats=True).validate(example)


@over("name", SCHEMAS)
def test_every_field_of_an_answer_has_a_type(name: str) -> None:
    free = {(name, "output") for name in ("ExecutionAnswer", "HistoryAnswer", "StartedPullAnswer")}
    for field, schema in SCHEMAS[name].get("properties", {}).items():
        known = schema.keys() & {"type", "$ref", "anyOf", "enum"}
        assert known or (name, field) in free, field


@over(("path", "method", "declared"), DECLARED)
def test_who_may_call_it_is_what_the_route_declares(path: str, method: str, declared: Operation) -> None:
    operation = DESCRIPTION["paths"][path][method.lower()]
    assert operation.get("x-permission") == declared.permission
    assert (operation.get("security") == []) == declared.public
    if declared.permission is not None:
        assert f"`{declared.permission}`" in operation["description"]


def named() -> Iterator[tuple[str, str]]:
    for route in ROUTES:
        for method, operation in route.operations().items():
            yield operation_id(route.path, method, operation), f"{method} {route.path}"


def test_no_two_operations_have_one_name() -> None:
    names = [name for name, _ in named()]
    assert sorted(set(names)) == sorted(names)


def test_a_name_stays_once_it_is_released() -> None:
    """Compare the names with those before: clients call their functions by them, so a new operation only adds
    one.
    """
    recorded = dict(line.split(" ", 1) for line in RECORDED.read_text().splitlines())
    assert recorded == dict(named())


def test_a_pattern_is_one_of_ecma_262() -> None:
    r"""Convert patterns: ECMA-262 has no `\Z`, and JSON Schema searches where re.match begins at the
    beginning.
    """
    patterns = set(re.findall(r"'pattern': '((?:[^'\\]|\\.)*)'", repr(SCHEMAS)))
    assert len(patterns) > 3
    assert [pattern for pattern in patterns if "\\Z" in pattern] == []
    with pytest.raises(jsonschema_rs.ValidationError):
        assert_valid({"platform": "a!b cisco_ios", "command": "x"}, SCHEMAS["CheckRequest"])
