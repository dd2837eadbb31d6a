"""The page of the routes of the API, from its OpenAPI description."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from netautod.assembly.routes import description
from tests.repository.generated.markdown import code, page, prose, table

PARAMETER = re.compile(r"{(\w+)}")
HEAD = ("Route", "What it does", "Permission", "Statuses")


def routes() -> str:
    document = description()
    found = list(_operations(document["paths"]))
    everywhere = frozenset.intersection(*(_statuses(operation) for _, operation in found))
    by_tag: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for route, operation in found:
        by_tag[operation["tags"][0]].append(_row(route, operation, everywhere))
    parts = [_part(tag, by_tag[tag["name"]]) for tag in document["tags"]]
    return page(
        "Routes",
        "Look up a route of the API here, the permission that it needs and the statuses of its answers. "
        '"any token" is any login or API token, "public" needs none. Fields and schemas are in '
        "`GET /api/openapi.json`, and readable at `/api/docs-ui`. [API](api.md) says how to call one.",
        f"Every route may also answer {', '.join(sorted(everywhere))}; [API](api.md) says what they mean.",
        *parts,
    )


def _operations(paths: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield `GET /api/devices/:id` with its description, in the order of the document."""
    for path, operations in paths.items():
        for method, operation in operations.items():
            if method != "parameters":
                route = PARAMETER.sub(r":\1", path)
                yield f"{method.upper()} {route}", operation


def _part(tag: Mapping[str, str], rows: list[tuple[str, ...]]) -> str:
    text = [] if tag["description"] == tag["name"] else [tag["description"]]
    return "\n\n".join([f"## {tag['name']}", *text, table(HEAD, rows)])


def _statuses(operation: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(operation["responses"]) - {"default"}


def _row(route: str, operation: Mapping[str, Any], everywhere: frozenset[str]) -> tuple[str, ...]:
    needed = operation.get("x-permission")
    permission = code(needed) if needed else "public" if operation.get("security") == [] else "any token"
    statuses = ", ".join(sorted(_statuses(operation) - everywhere))
    return code(route), prose(operation["summary"]), permission, statuses
