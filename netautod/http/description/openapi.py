"""The OpenAPI 3.1 description, generated from the same routes and schemas that serve the requests."""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema, fields

from netautod import __version__
from netautod.core.schema.bases import Answer
from netautod.http.access import Operation, public
from netautod.http.admission import SAFE
from netautod.http.description import answers
from netautod.http.description.examples import Examples
from netautod.http.description.fields import described
from netautod.http.description.headers import conditional_failures, not_modified, request_headers
from netautod.http.description.names import GROUPS, group_of, operation_id
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route

ABOUT = """The HTTP API of netautod.

* Bodies are JSON objects in UTF-8, sent with `Content-Type: application/json`. Unknown fields are refused,
  read-only ones are ignored. A POST or PUT without a described body takes no field.
* A change with an Origin that is neither this service's nor in `server.cors_origins` is refused (403).
* Ids are UUIDs in lower case, timestamps ISO 8601 in UTC with milliseconds.
* A text holds neither NUL nor lone surrogates, a body nests no deeper than 64 levels.
* Everything belongs to an organization; what belongs to another one is answered as if there were none.
* An operation names the permission that it needs as `x-permission`; without one any valid token will do.
"""
OWN_PACKAGE = __name__.partition(".")[0]
TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "The `access_token` of POST /api/auth/login, or an API token of POST /api/auth/tokens.",
}
ANYWHERE = (400, 408, 413, 414, 415, 417, 421, 431, 500, 503)
"""What is no request, too long, too slow, encoded or for another host is refused whatever the route; and any
may fail.
"""


def document(routes: Iterable[Route], choices: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the whole description of the given routes, as JSON-able values.

    `choices`: what a field may hold that names one of them in its metadata (`x-choices`), because plugins
    add to them.
    """
    served = tuple(routes)
    spec = _empty({group_of(route.path) for route in served})
    shapes: set[type[Answer]] = set()
    for route in served:
        methods = route.operations()
        spec.path(
            path=openapi_path(route.path),
            parameters=[_path_parameter(part[1:]) for part in route.path.split("/") if part.startswith(":")],
            operations={name.lower(): _operation(route, name, found) for name, found in methods.items()},
        )
        shapes.update(found.answer for found in methods.values() if found.answer)
        shapes.update(other for found in methods.values() for other in found.other_answers.values())
    written = spec.to_dict()
    _offer(written, choices)
    _leave_used_answers(written)
    _require_all(written["components"]["schemas"], shapes)
    _require_in_changes(written["components"]["schemas"], served)
    _show_examples(written, served)
    return written


def _empty(groups: set[str]) -> APISpec:
    plugin = MarshmallowPlugin(schema_name_resolver=_name)
    spec = APISpec(
        title="netautod",
        version=__version__,
        openapi_version="3.1.0",
        plugins=[plugin],
        info={"description": ABOUT},
        servers=[{"url": "/"}],
        security=[{"token": []}],
        tags=[{"name": name, "description": GROUPS.get(name, name)} for name in sorted(groups)],
    )
    assert plugin.converter is not None
    plugin.converter.add_attribute_function(described)  # type: ignore[no-untyped-call]  # of apispec
    spec.components.security_scheme("token", TOKEN)
    for name, schema in answers.ERRORS.items():
        spec.components.schema(name, dict(schema))
    for name, header in answers.HEADERS.items():
        spec.components.header(name, dict(header))
    for name, failure in answers.failures().items():
        spec.components.response(name, failure)
    return spec


def openapi_path(path: str) -> str:
    """Return `/api/devices/{id}` for `/api/devices/:id`."""
    return "/".join(f"{{{part[1:]}}}" if part.startswith(":") else part for part in path.split("/"))


def _name(schema: Any) -> str:
    """Return the component's name: that of its class; schemas of a plugin have the name of its package before
    it.
    """
    kind = schema if isinstance(schema, type) else type(schema)
    package = kind.__module__.partition(".")[0]
    owner = "" if package == OWN_PACKAGE else package.title().replace("_", "")
    return owner + kind.__name__ + ("Change" if kind is not schema and schema.partial else "")


def _path_parameter(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string", "minLength": 1}
    if name == "version":
        schema = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
    elif name == "id" or name.endswith("_id"):
        schema = {"type": "string", "format": "uuid"}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _operation(route: Route, name: str, operation: Operation) -> dict[str, Any]:
    docstring = inspect.getdoc(getattr(route.handler, name.lower())) or ""
    summary, _, more = docstring.partition("\n")
    needed = f"Needs the permission `{operation.permission}`." if operation.permission else ""
    description = "\n\n".join(part for part in (needed, more.strip()) if part)
    listed = {str(status): answers.failure_name(status) for status in failures(route.path, name, operation)}
    written: dict[str, Any] = {
        "operationId": operation_id(route.path, name, operation),
        "tags": [group_of(route.path)],
        "summary": summary,
        **({"description": description} if description else {}),
        **({"x-permission": operation.permission} if operation.permission else {}),
        "responses": {
            str(operation.status): answers.success(name, operation),
            **answers.other_successes(operation),
            **not_modified(name, operation),
            **listed,
        },
    }
    if operation.public:
        written["security"] = []
    written["parameters"] = request_headers(name, operation)
    if operation.query:
        written["parameters"].append({"in": "query", "schema": operation.query})
    if operation.takes_body:
        written["requestBody"] = _body(operation)
    return written


def _body(operation: Operation) -> dict[str, Any]:
    if operation.body:
        schema: Any = operation.body(partial=True) if operation.partial else operation.body
        required = any(field.required for field in operation.body().fields.values())
        return {
            "required": required and not operation.partial,
            "content": {"application/json": {"schema": schema}},
        }
    # Copies: apispec puts its references into what it is given.
    kinds = {media: {"schema": dict(schema)} for media, schema in (operation.consumes or {}).items()}
    return {"required": True, "content": kinds}


def failures(path: str, method: str, operation: Operation) -> list[int]:
    """Return the statuses of errors that the operation can answer, as they follow from what it declares."""
    found = {*ANYWHERE, *operation.errors, *conditional_failures(method, operation)}
    if method not in SAFE:  # sent by a page of another origin
        found |= {403}
    if not operation.public:
        found |= {401, 403, 429}
        found |= {409} if method != "GET" else set()
    elif operation.limited:
        found |= {429}
    if ":" in path:
        found |= {404}
    return sorted(found)


def _offer(described: Any, choices: Mapping[str, Sequence[str]]) -> None:
    """Replace each `x-choices` by the choices of that name."""
    for inner in described.values() if isinstance(described, dict) else described:
        if isinstance(inner, dict | list):
            _offer(inner, choices)
    if isinstance(described, dict) and "x-choices" in described:
        described["enum"] = list(choices[described.pop("x-choices")])


def _leave_used_answers(written: dict[str, Any]) -> None:
    """Drop the errors that no operation can answer."""
    answered = {
        answer["$ref"].rpartition("/")[2]
        for methods in written["paths"].values()
        for name, operation in methods.items()
        if name != "parameters"
        for answer in operation["responses"].values()
        if "$ref" in answer
    }
    known = written["components"]["responses"]
    written["components"]["responses"] = {name: known[name] for name in known if name in answered}


def _show_examples(written: dict[str, Any], routes: Iterable[Route]) -> None:
    examples = Examples(written["components"]["schemas"])
    for route in routes:
        described = written["paths"][openapi_path(route.path)]
        for name, operation in route.operations().items():
            one = described[name.lower()]
            for status in (operation.status, *operation.other_answers):
                for media in one["responses"][str(status)].get("content", {}).values():
                    media.setdefault("example", examples.answer(media["schema"]))
            added = operation.body.example if operation.body else {}
            for media in one.get("requestBody", {}).get("content", {}).values():
                media.setdefault("example", examples.request(_whole(media["schema"], written), added))


def _whole(schema: dict[str, Any], written: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of what a change changes, if that is described; the change itself requires
    no field.
    """
    whole = str(schema.get("$ref", "")).removesuffix("Change")
    known = whole.rpartition("/")[2] in written["components"]["schemas"]
    return {"$ref": whole} if known else schema


def _require_all(schemas: dict[str, Any], shapes: set[type[Answer]]) -> None:
    """Mark all fields as required: answers always carry them all; marshmallow's `required` is about input."""
    for name in {nested for shape in shapes for nested in _with_nested(shape)}:
        schema = schemas[name]
        properties = schema.get("properties", {}).items()
        # A field with metadata={"x-optional": True} is left out where it has no meaning.
        schema["required"] = sorted(key for key, field in properties if not field.get("x-optional"))


def _require_in_changes(schemas: dict[str, Any], routes: Iterable[Route]) -> None:
    for operation in (found for route in routes for found in route.operations().values()):
        if operation.body is not None and operation.partial and operation.body.needed_in_change:
            schemas[_name(operation.body(partial=True))]["required"] = list(operation.body.needed_in_change)


def _with_nested(kind: type[Schema]) -> Iterator[str]:
    yield _name(kind)
    for field in kind().fields.values():
        for inner in (field, getattr(field, "inner", None)):
            nested = getattr(inner, "schema", None)
            if isinstance(nested, Schema):
                yield from _with_nested(type(nested))


class DescriptionAnswer(Answer):
    """The answer that is an OpenAPI document (specification 3.1, section 4.8.1)."""

    openapi = fields.String()
    info = fields.Dict()
    servers = fields.List(fields.Dict())
    paths = fields.Dict()
    components = fields.Dict()
    security = fields.List(fields.Dict())
    tags = fields.List(fields.Dict())


@dataclass(frozen=True)
class Description:
    """The description of all routes that are served, encoded, which takes a fifth of the memory of its
    values.
    """

    content: bytes


class OpenApiHandler(JsonHandler):
    description: Description

    @public(answer=DescriptionAnswer, name="get_description")
    async def get(self) -> None:
        """Return this description (OpenAPI 3.1)."""
        self.set_header("Content-Type", "application/json")
        self.finish(self.description.content)


ROUTES = (Route(path="/api/openapi.json", handler=OpenApiHandler),)
