"""The table of pages (tests/data/pages.csv) and the pages that the console really has are the same.

The permission of a line is `public`, `any` (any session) or the key that is needed.
"""

import csv
from pathlib import Path

from tornado.web import RequestHandler

from netautod.console.base.forms import FORM
from netautod.console.base.static import StaticHandler
from netautod.console.routes import PAGES
from netautod.http.routing.routes import Route
from tests.assembly.route_table import normalised

# Of classes between Tornado's handler and a page: who reads a page can hold them in mind.
DEEPEST = 5
TABLE = Path(__file__).parent.parent / "data" / "pages.csv"


def _lines(route: Route) -> set[tuple[str, str, str]]:
    return {
        (method, normalised(route.path), "public" if one.public else one.permission or "any")
        for method, one in route.operations().items()
    }


def test_every_page_has_the_permission_that_the_table_names() -> None:
    with TABLE.open() as file:
        rows = {(row["method"], row["path"], row["permission"]) for row in csv.DictReader(file)}
    assert {line for route in PAGES for line in _lines(route)} == rows


def test_pages_take_forms_and_nothing_else() -> None:
    for route in PAGES:
        for method, operation in route.operations().items():
            assert method in ("GET", "POST"), route.path
            assert (operation.consumes == FORM) == (method == "POST"), route.path
            if route.handler is not StaticHandler:
                assert operation.answer is None, route.path


def test_no_page_is_built_of_many_classes() -> None:
    depths = {route.path: route.handler.__mro__.index(RequestHandler) for route in PAGES}
    assert {path: depth for path, depth in depths.items() if depth > DEEPEST} == {}
