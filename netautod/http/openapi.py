"""The OpenAPI 3.1 description, generated from the same routes and schemas that serve the requests."""

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema

from netautod import __version__
from netautod.core.bounds import MOST_ELEMENTS, MOST_TEXT
from netautod.core.schema import Answer, Request
from netautod.http.access import Operation, public
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route

ERROR_SCHEMA = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "retry_after_secs": {"type": "integer"}},
    "required": ["error"],
    "additionalProperties": False,
}


ANYWHERE = (400, 408, 413, 414, 415, 417, 431)
"""What is no request, too long, too slow or encoded is refused whatever the route."""


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """The whole description of the given routes, as JSON-able values."""
    plugin = MarshmallowPlugin(schema_name_resolver=_name)
    spec = APISpec(
        title="netautod",
        version=__version__,
        openapi_version="3.1.0",
        plugins=[plugin],
        security=[{"token": []}],
    )
    assert plugin.converter is not None
    plugin.converter.add_attribute_function(_bound)  # type: ignore[no-untyped-call]  # of apispec
    spec.components.security_scheme("token", {"type": "http", "scheme": "bearer"})
    spec.components.schema("Error", ERROR_SCHEMA)
    for status in HTTPStatus:
        if 400 <= status < 500:
            spec.components.response(_failure_name(status), _failure(status.phrase))
    answers: set[type[Answer]] = set()
    for route in routes:
        methods = route.operations()
        described = {name.lower(): _operation(route, name, found) for name, found in methods.items()}
        spec.path(
            path=openapi_path(route.path), parameters=_path_parameters(route.path), operations=described
        )
        answers.update(found.answer for found in methods.values() if found.answer)
        answers.update(other for found in methods.values() for other in found.other_answers.values())
    written = spec.to_dict()
    _require_all(written["components"]["schemas"], answers)
    return written


def _bound(converter: Any, field: Any, *, ret: dict[str, Any], **_: Any) -> dict[str, Any]:
    """The bound of a text or an array of a request, also of one that declares none by itself."""
    # Schemas are abstract classes: isinstance would ask all of them, and each would remember that for good.
    if Request not in type(field.root).__mro__ or "enum" in ret:
        return {}
    kinds = ret.get("type", ())
    for kind, name, otherwise in (("string", "maxLength", MOST_TEXT), ("array", "maxItems", MOST_ELEMENTS)):
        if kind in kinds and name not in ret:
            return {name: getattr(field, "most", otherwise)}
    return {}


def openapi_path(path: str) -> str:
    """`/api/devices/:id` as `/api/devices/{id}`."""
    return "/".join(f"{{{part[1:]}}}" if part.startswith(":") else part for part in path.split("/"))


def _name(schema: Any) -> str:
    if isinstance(schema, type):
        return schema.__name__
    return type(schema).__name__ + ("Change" if schema.partial else "")


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": part[1:], "in": "path", "required": True, "schema": {"type": "string"}}
        for part in path.split("/")
        if part.startswith(":")
    ]


def _operation(route: Route, name: str, operation: Operation) -> dict[str, Any]:
    summary = inspect.getdoc(getattr(route.handler, name.lower())) or ""
    written: dict[str, Any] = {
        "summary": summary.partition("\n")[0],
        "responses": {
            str(operation.status): _success(operation),
            **{str(status): _json_success(other) for status, other in operation.other_answers.items()},
            **{str(status): _failure_name(status) for status in failures(route.path, name, operation)},
            "default": _failure("Failure"),
        },
    }
    if operation.permission:
        written["description"] = f"Needs the permission `{operation.permission}`."
    if operation.public:
        written["security"] = []
    if operation.query:
        written["parameters"] = [{"in": "query", "schema": operation.query}]
    if operation.body:
        schema: Any = operation.body(partial=True) if operation.partial else operation.body
        written["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    if operation.consumes:
        # Copies: apispec puts its references into what it is given.
        kinds = {media: {"schema": dict(schema)} for media, schema in operation.consumes.items()}
        written["requestBody"] = {"required": True, "content": kinds}
    return written


def _json_success(answer: type[Answer]) -> dict[str, Any]:
    return {"description": "Success", "content": {"application/json": {"schema": answer}}}


def _success(operation: Operation) -> dict[str, Any]:
    if operation.answer:
        return _json_success(operation.answer)
    answer: dict[str, Any] = {"description": "Success"}
    if operation.produces:
        answer["content"] = {operation.produces: {"schema": {"type": "string"}}}
    return answer


def failures(path: str, method: str, operation: Operation) -> list[int]:
    """The 4xx statuses that the operation can answer, as they follow from what it declares."""
    found = {*ANYWHERE, *operation.errors}
    if not operation.public:
        found |= {401, 403, 429}
        found |= {409} if method != "GET" else set()
    elif operation.limited:
        found |= {429}
    if ":" in path:
        found |= {404}
    return sorted(found)


def _failure_name(status: int) -> str:
    return f"Failure{status:d}"


def _failure(description: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _require_all(schemas: dict[str, Any], answers: set[type[Answer]]) -> None:
    """Answers always carry all of their fields; marshmallow's `required` is about input."""
    for name in {nested for answer in answers for nested in _with_nested(answer)}:
        schema = schemas[name]
        properties = schema.get("properties", {}).items()
        # A field with metadata={"x-optional": True} is left out where it has no meaning.
        schema["required"] = sorted(key for key, field in properties if not field.get("x-optional"))


def _with_nested(kind: type[Schema]) -> set[str]:
    found = {kind.__name__}
    for field in kind().fields.values():
        for inner in (field, getattr(field, "inner", None)):
            nested = getattr(inner, "schema", None)
            if isinstance(nested, Schema):
                found |= _with_nested(type(nested))
    return found


@dataclass(frozen=True)
class Description:
    """What `document` made of all routes that are served, as it is sent, which is a fifth of its values."""

    content: bytes


class OpenApiHandler(JsonHandler):
    description: Description

    @public()
    async def get(self) -> None:
        """This description (OpenAPI 3.1)."""
        self.set_header("Content-Type", "application/json")
        self.finish(self.description.content)


ROUTES = (Route(path="/api/openapi.json", handler=OpenApiHandler),)
