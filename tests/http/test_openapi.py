"""The description lists what can go wrong, as it follows from the declarations."""

from typing import Any

import pytest

from netautod.app.routes import description

OPERATIONS = [
    pytest.param(path, method, operation, id=f"{method} {path}")
    for path, methods in description()["paths"].items()
    for method, operation in methods.items()
    if method != "parameters"
]


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_every_route_lists_its_4xx(path: str, method: str, operation: dict[str, Any]) -> None:
    listed = set(operation["responses"])
    wanted = {"400", "413", "415", "417", "431"}
    wanted |= {"404"} if "{" in path else set()
    if operation.get("security") != []:
        wanted |= {"401", "403", "429"}
        wanted |= {"409"} if method != "get" else set()
    assert wanted <= listed
