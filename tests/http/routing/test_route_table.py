"""The route of a path: literal segments first, and back to a parameter where they lead to no route."""

import pytest

from netautod.http.routing.route_table import RouteTable

PATHS = (
    "/api/devices",
    "/api/devices/browse",
    "/api/devices/:id",
    "/api/devices/:id/status",
    "/api/devices/browse/more/:page",
    "/api/:kind/:id/log",
)


@pytest.fixture
def table() -> RouteTable[str]:
    made: RouteTable[str] = RouteTable()
    for path in PATHS:
        made.add(path, path)
    return made


@pytest.mark.parametrize(
    ("path", "route", "segments"),
    [
        pytest.param("/api/devices", "/api/devices", [], id="no parameter"),
        pytest.param("/api/devices/browse", "/api/devices/browse", [], id="a literal one goes first"),
        pytest.param("/api/devices/7", "/api/devices/:id", ["7"], id="a parameter"),
        pytest.param("/api/devices/:id", "/api/devices/:id", [":id"], id="what looks like one"),
        pytest.param(
            "/api/devices/browse/status",
            "/api/devices/:id/status",
            ["browse"],
            id="back from a literal one",
        ),
        pytest.param("/api/devices/browse/log", "/api/:kind/:id/log", ["devices", "browse"], id="twice back"),
        pytest.param(
            "/api/devices/browse/more/a%2Fb", "/api/devices/browse/more/:page", ["a%2Fb"], id="as it was sent"
        ),
    ],
)
def test_literal_segments_of_a_path_come_first(
    table: RouteTable[str], path: str, route: str, segments: list[str]
) -> None:
    assert table.find(path) == (route, segments)


@pytest.mark.parametrize(
    "path",
    ["", "*", "/", "/api", "/api/", "/api/devices/", "/api//devices", "/api/devices//status", "/API/devices"],
)
def test_nothing_else_has_one(table: RouteTable[str], path: str) -> None:
    assert table.find(path) is None
