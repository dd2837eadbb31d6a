"""The table of routes (tests/data/routes.csv) and the routes that the service really has, in one form.

The permission of a line is `public`, `any` (any valid token) or the key that is needed.
"""

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netautod.assembly import routes


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of the table; parameters of its path are all called `:`."""

    method: str
    path: str
    success: str
    permission: str

    @property
    def key(self) -> str:
        return f"{self.method} {self.path}"


def normalised(path: str) -> str:
    return re.sub(r":\w+|\{\w+\}", ":", path)


def table() -> dict[str, Line]:
    with (Path(__file__).parent.parent / "data" / "routes.csv").open() as file:
        rows = [Line(**{**row, "path": normalised(row["path"])}) for row in csv.DictReader(file)]
    return {row.key: row for row in rows}


def built() -> dict[str, Line]:
    """Return the routes of the service from its own description."""
    found = {}
    for path, operations in routes.description()["paths"].items():
        for method, operation in operations.items():
            if method != "parameters":
                line = _described(method.upper(), normalised(path), operation)
                found[line.key] = line
    return found


def _described(method: str, path: str, operation: dict[str, Any]) -> Line:
    needed = re.search(r"Needs the permission `(.+)`", operation.get("description", ""))
    permission = "public" if operation.get("security") == [] else needed[1] if needed else "any"
    success = next(status for status in operation["responses"] if status != "default")
    return Line(method=method, path=path, success=success, permission=permission)
