"""The pages of the console, full, empty and in error, and by whom they are opened.

Pages beyond them are found by a crawl (test_every_page.py).
"""

from dataclasses import dataclass
from uuid import UUID

from netautod.console.routes import PAGES
from netautod.manual.library import Manual
from tests.assembly.route_table import normalised
from tests.browser.world import ADMINISTRATOR, APPROVER, EMPTY, OPERATOR, VIEWER

NOBODY = ""
UNKNOWN = "/nowhere"
NO_ID = str(UUID(int=0))


@dataclass(frozen=True, kw_only=True)
class Visit:
    """`path` has the names of what it shows in braces (World.ids); `status` is that of its answer."""

    path: str
    who: str = ADMINISTRATOR
    status: int = 200
    state: str = "full"

    @property
    def id(self) -> str:
        return f"{self.path} {self.state} {self.who or 'nobody'}"

    @property
    def file_name(self) -> str:
        """Of its pictures."""
        path = "".join(letter if letter.isalnum() else "-" for letter in self.path).strip("-") or "overview"
        return f"{path}.{self.state}"


SHORT_PAGE, LONG_PAGE = "/help/develop/style", "/help/use/routes"
FULL = (
    Visit(path="/login", who=NOBODY),
    *(
        Visit(path=path, who=who)
        for path in ("/help", "/help?q=restore", SHORT_PAGE)
        for who in (NOBODY, ADMINISTRATOR)
    ),
    Visit(path=LONG_PAGE, who=NOBODY),
    *(
        Visit(path=path)
        for path in (
            "/",
            "/devices",
            "/devices?offset=50",
            "/devices/{core-1}",
            "/devices/{lab-2}",
            "/configs/{core-1}",
            "/configs/{core-1}/2",
            "/configs/{core-1}/diff?old_version=1&new_version=2",
            "/configs/{core-1}/diff?old_version=1&new_version=2&format=side_by_side",
            "/search?q=switchport",
            "/find?q=0200.0000.0032",
            "/find?q=core",
            "/topology",
            "/tasks",
            "/tasks/new",
            "/tasks/{nightly}",
            "/tasks/{nightly}/edit",
            "/executions",
            "/executions/{completed}",
            "/executions/{failed}",
            "/executions/{waiting}",
            "/approvals",
            "/inventory",
            "/documents",
            "/documents/{document}",
            "/credentials",
            "/sites",
            "/users",
            "/roles",
            "/audit",
            "/nodes",
            "/plugins",
            "/webhooks",
            "/account",
        )
    ),
    Visit(path="/", who=VIEWER),
    Visit(path="/devices/{core-1}", who=VIEWER),
    Visit(path="/", who=OPERATOR),
    Visit(path="/approvals", who=APPROVER),
)
NOTHING = tuple(
    Visit(path=path, who=EMPTY, state="empty")
    for path in (
        "/",
        "/devices",
        "/search",
        "/search?q=nothing",
        "/find",
        "/find?q=nothing",
        "/topology",
        "/tasks",
        "/executions",
        "/approvals",
        "/inventory",
        "/documents",
        "/credentials",
        "/sites",
        "/webhooks",
    )
)
ERRORS = (
    Visit(path="/devices?limit=none", status=400, state="error"),
    Visit(path="/executions?state=odd", status=400, state="error"),
    Visit(path=f"/devices/{NO_ID}", status=404, state="error"),
    Visit(path=UNKNOWN, status=404, state="error"),
    Visit(path=UNKNOWN, who=NOBODY, status=404, state="error"),
    Visit(path="/users", who=VIEWER, status=403, state="error"),
)
VISITS = (*FULL, *NOTHING, *ERRORS)
# All further pages of the manual: the same in form, so only the slow tests look at each.
OF_THE_MANUAL = tuple(
    Visit(path=f"/help/{name}", who=NOBODY)
    for name in Manual.installed().pages
    if name != "index" and f"/help/{name}" not in (SHORT_PAGE, LONG_PAGE)
)


def pages_of_the_console() -> dict[str, object]:
    """What answers each path that is a page: paths that are there for a form share that of another page."""
    found: dict[str, object] = {}
    for route in PAGES:
        operation = route.operations().get("GET")
        if operation is not None and operation.produces is None:
            found[normalised(route.path)] = route.handler.get
    return found


def form_of(path: str) -> str:
    """Of an address that of its route: without the query, with `:` for what differs."""
    bare = path.partition("?")[0]
    known = {normalised(route.path) for route in PAGES}
    if bare in known:
        return bare
    parts = bare.split("/")
    fits = [form for form in known if _fits(form.split("/"), parts)]
    return max(fits, key=lambda form: form.count("/") - form.count(":"), default=bare)


def _fits(form: list[str], parts: list[str]) -> bool:
    return len(form) == len(parts) and all(one in (":", part) for one, part in zip(form, parts, strict=True))
