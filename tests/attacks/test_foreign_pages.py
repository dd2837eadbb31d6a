"""Requests that a page of another site has its reader's browser send: they do nothing and cost nothing."""

from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio

from netautod.console.base.pages import UnknownPageHandler
from netautod.console.routes import PAGES
from netautod.core.net.host_names import HostNames
from netautod.core.schema.bases import JsonObject, Request
from netautod.http.access import public
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.http.status.health import ROUTES as HEALTH
from tests.attacks.attackers.raw import Answer, ask, raw
from tests.identity.auth.support import ServeNode, start_node
from tests.support.installation import PASSWORD, Installation
from tests.support.mocked_services import served

PROXY = "127.0.0.1"  # the address of the tests
LISTED = "https://desk.example"
TEXT = "text/plain"
NAMES = HostNames(names=frozenset({"netautod.example", "localhost"}))
FOREIGN: Mapping[str, Mapping[str, str]] = {
    "another site": {"Origin": "https://attacker.example"},
    "a sandboxed frame": {"Origin": "null"},
    "another port": {"Origin": "http://netautod.example:1"},
    "another scheme": {"Origin": "https://netautod.example:8080"},
    "our name as a prefix": {"Origin": "http://netautod.example:8080.attacker.example"},
    "our name as user information": {"Origin": "http://netautod.example:8080@attacker.example"},
    "an origin with a path": {"Origin": "http://netautod.example:8080/"},
    "an empty origin": {"Origin": ""},
    "no origin, from another site": {"Sec-Fetch-Site": "cross-site"},
    "no origin, from a sibling": {"Sec-Fetch-Site": "same-site"},
    "no origin, and a site that nobody knows": {"Sec-Fetch-Site": "other"},
}
OWN: Mapping[str, Mapping[str, str]] = {
    "our own page": {"Origin": "http://netautod.example:8080", "Sec-Fetch-Site": "same-origin"},
    "in capitals": {"Origin": "HTTP://NETAUTOD.EXAMPLE:8080"},
    "no browser": {},
    "no origin, from ourselves": {"Sec-Fetch-Site": "same-origin"},
    "no origin, typed by the user": {"Sec-Fetch-Site": "none"},
}
THROUGH_TLS = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "console.example:443"}
PAGE_OF_PROXY = {"Origin": "https://console.example"}


class Note(Request):
    said = JsonObject()


class Api(JsonHandler):
    @public()
    async def get(self) -> None:
        """Read."""
        self.answer({})

    @public(body=Note)
    async def post(self) -> None:
        """Make."""
        self.answer({})

    @public()
    async def put(self) -> None:
        """Change."""
        self.answer({})

    @public()
    async def delete(self) -> None:
        """Delete."""
        self.answer({})


ROUTES = [Route(path="/api/thing", handler=Api), *PAGES]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site() -> AsyncIterator[str]:
    async with served(ROUTES, unknown=UnknownPageHandler) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def named() -> AsyncIterator[str]:
    """A site with names."""
    async with served([*ROUTES, *HEALTH], hosts=NAMES, unknown=UnknownPageHandler) as url:
        yield url


def message(method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    sent = {"Host": "netautod.example:8080", "Accept": "text/html", **headers}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def told(answer: Answer) -> tuple[int, bool]:
    """The status, and whether the text says that it was for the page that sent it."""
    return answer.status, b"A page of another origin" in answer.body


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/thing"),
        ("PUT", "/api/thing"),
        ("DELETE", "/api/thing"),
        ("PATCH", "/api/thing"),
        ("POST", "/api/nothing"),
        ("POST", "/login"),
        ("POST", "/login/oidc"),
        ("POST", "/logout"),
        ("POST", "/nothing"),
    ],
)
async def test_a_change_that_a_foreign_page_sends(method: str, path: str, headers: Mapping[str, str]) -> None:
    async with served(ROUTES, unknown=UnknownPageHandler) as url:
        assert told(await ask(url, message(method, path, headers))) == (403, True)


@pytest.mark.parametrize("headers", OWN.values(), ids=OWN)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_a_change_that_our_own_page_sends(site: str, method: str, headers: Mapping[str, str]) -> None:
    assert (await ask(site, message(method, "/api/thing", headers))).status == 200


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
async def test_what_is_only_read_is_refused_to_no_page(site: str, headers: Mapping[str, str]) -> None:
    """Without a header of CORS the page does not get to see it."""
    answer = await ask(site, message("GET", "/api/thing", headers))
    assert (answer.status, "access-control-allow-origin" in answer.headers) == (200, False)


async def test_two_origins_are_none_of_ours(site: str) -> None:
    sent = message("POST", "/api/thing", OWN["our own page"])
    twice = sent.replace(b"Origin:", b"Origin: http://netautod.example:8080\r\nOrigin:")
    assert told(await ask(site, twice)) == (403, True)


@pytest.mark.parametrize(
    ("path", "origins", "sent", "status"),
    [
        pytest.param("/api/thing", [LISTED], LISTED, 200, id="the API to a listed origin"),
        pytest.param("/api/thing", ["*"], "https://any.example", 200, id="the API to all, if that is set"),
        pytest.param("/api/thing", [LISTED], "https://desk.example.attacker.example", 403, id="a longer one"),
        pytest.param("/login", [LISTED], LISTED, 403, id="a form to no listed origin"),
        pytest.param("/login", ["*"], "https://any.example", 403, id="a form to nobody else"),
    ],
)
async def test_origins_that_may_call_the_api(path: str, origins: list[str], sent: str, status: int) -> None:
    async with served(ROUTES, cors_origins=origins) as url:
        assert told(await ask(url, message("POST", path, {"Origin": sent}))) == (status, status == 403)


@pytest.mark.parametrize(
    ("proxies", "headers", "status"),
    [
        pytest.param(
            [PROXY], {**PAGE_OF_PROXY, **THROUGH_TLS}, 200, id="ours, through a proxy that ends TLS"
        ),
        pytest.param([], {**PAGE_OF_PROXY, **THROUGH_TLS}, 403, id="whoever says to be a proxy is none"),
        pytest.param([PROXY], {**OWN["our own page"], **THROUGH_TLS}, 403, id="not as the proxy calls us"),
    ],
)
async def test_our_origin_behind_a_proxy(proxies: list[str], headers: dict[str, str], status: int) -> None:
    async with served(ROUTES, trusted_proxies=proxies) as url:
        assert (await ask(url, message("POST", "/api/thing", headers))).status == status


async def test_it_counts_for_no_limit_of_its_reader() -> None:
    async with served(ROUTES, anonymous_burst=2) as url:
        for path in ("/api/thing", "/api/nothing", "/login") * 3:
            assert (await ask(url, message("POST", path, FOREIGN["another site"]))).status == 403
        statuses = [(await ask(url, message("GET", "/api/thing", {}))).status for _ in range(3)]
        assert statuses == [200, 200, 429]


async def test_its_body_is_not_waited_for(site: str) -> None:
    async with raw(site) as client:
        waits = {**FOREIGN["another site"], "Expect": "100-continue"}
        client.send(message("POST", "/api/thing", waits, b"x" * 100)[:-100])
        assert told(await client.answer()) == (403, True)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({**FOREIGN["another site"], "Content-Type": TEXT}, 403, id="of a browser"),
        pytest.param({"Content-Type": TEXT}, 415, id="of a browser that sends no Origin"),
    ],
)
async def test_ten_logins_of_a_foreign_page_lock_nobody_out(
    installation: Installation, http: ServeNode, headers: dict[str, str], status: int
) -> None:
    node = await start_node(installation)
    client = http(node)
    body = {"username": "admin", "password": "wrong"}
    for _ in range(11):
        assert (await client.post("/api/auth/login", body, headers=headers)).status == status
    (await client.post("/api/auth/login", {"username": "admin", "password": PASSWORD})).expect()
    assert await node.actions() == ["auth.login"]


# --- A name of the attacker that leads to us (DNS rebinding) ---

EVIL = "attacker.example"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        pytest.param("netautod.example", 200, id="our name"),
        pytest.param("NetAutod.Example:8080", 200, id="in capitals, with a port"),
        pytest.param("netautod.example.", 200, id="with the dot of a complete name"),
        pytest.param("localhost:8080", 200, id="localhost"),
        pytest.param("192.0.2.1", 200, id="an address"),
        pytest.param("127.0.0.1:8080", 200, id="an address with a port"),
        pytest.param("[::1]", 200, id="an address of IPv6"),
        pytest.param("[2001:db8::1]:8080", 200, id="an address of IPv6 with a port"),
        pytest.param(EVIL, 421, id="another name"),
        pytest.param(f"{EVIL}:8080", 421, id="another name with our port"),
        pytest.param("netautod.example.attacker.example", 421, id="a longer name"),
        pytest.param("a.netautod.example", 421, id="a name below ours"),
        pytest.param("127.0.0.1.attacker.example", 421, id="a name that begins as an address"),
        pytest.param("127.1", 421, id="half an address"),
        pytest.param("2130706433", 421, id="an address as one number"),
        pytest.param("", 421, id="nothing"),
    ],
)
async def test_the_names_of_the_service(named: str, host: str, status: int) -> None:
    assert (await ask(named, message("GET", "/api/thing", {"Host": host}))).status == status


@pytest.mark.parametrize(
    ("method", "path", "html"),
    [
        pytest.param("GET", "/api/thing", False, id="the API"),
        pytest.param("POST", "/api/thing", False, id="a change"),
        pytest.param("OPTIONS", "/api/thing", False, id="a preflight"),
        pytest.param("BREW", "/api/thing", False, id="a method that nobody knows"),
        pytest.param("GET", "/api/nothing", False, id="an unknown path"),
        pytest.param("OPTIONS", "*", True, id="the whole server"),
        pytest.param("CONNECT", f"{EVIL}:443", True, id="a tunnel"),
        pytest.param("GET", "/health", False, id="the health"),
        pytest.param("GET", "/api/health", False, id="the health of the API"),
        pytest.param("GET", f"http://{EVIL}/api/thing", False, id="a target with its host"),
        pytest.param("GET", "/login", True, id="a page"),
        pytest.param("POST", "/login", True, id="a form"),
        pytest.param("GET", "/nothing", True, id="an unknown page"),
        pytest.param("GET", "/static/console.css", False, id="a file"),
    ],
)
async def test_another_name_is_served_nothing(named: str, method: str, path: str, html: bool) -> None:
    answer = await ask(named, message(method, path, {"Host": EVIL}))
    assert answer.status == 421
    assert answer.headers["content-type"].startswith("text/html" if html else "application/json")
    assert b"server.hosts" in answer.body
    assert html or set(answer.json) == {"error"}


async def test_http_1_0_needs_to_name_no_host(named: str) -> None:
    assert (await ask(named, b"GET /api/thing HTTP/1.0\r\n\r\n")).status == 200
    assert (await ask(named, b"GET /api/nothing HTTP/1.0\r\n\r\n")).status == 404
    assert (await ask(named, b"GET /api/thing HTTP/1.0\r\nHost: attacker.example\r\n\r\n")).status == 421


UNSET = HostNames(names=frozenset({"localhost"}), any_of_proxies=True)


@pytest.mark.parametrize(
    ("hosts", "proxies", "headers", "status"),
    [
        pytest.param(UNSET, [PROXY], {"Host": "any.example"}, 200, id="a proxy may say any name until set"),
        pytest.param(UNSET, [], {"Host": "any.example"}, 421, id="nobody else may"),
        pytest.param(
            UNSET, [], {"Host": EVIL, "X-Forwarded-Host": "localhost"}, 421, id="nor by a header of proxies"
        ),
        pytest.param(NAMES, [PROXY], {"Host": EVIL}, 421, id="what is set holds behind a proxy"),
        pytest.param(
            NAMES,
            [PROXY],
            {"Host": "node1.internal", "X-Forwarded-Host": "netautod.example"},
            200,
            id="the name that the client called",
        ),
        pytest.param(
            NAMES,
            [PROXY],
            {"Host": "netautod.example", "X-Forwarded-Host": EVIL},
            421,
            id="another name that the client called",
        ),
        pytest.param(
            NAMES,
            [PROXY],
            {"Host": EVIL, "X-Forwarded-Host": f"netautod.example, {EVIL}"},
            421,
            id="a name that the client has put before that of the proxy",
        ),
    ],
)
async def test_names_behind_a_proxy(
    hosts: HostNames, proxies: list[str], headers: dict[str, str], status: int
) -> None:
    async with served(ROUTES, hosts=hosts, trusted_proxies=proxies) as url:
        assert (await ask(url, message("GET", "/api/thing", headers))).status == status


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        pytest.param("https://netautod.example:8080", (200, False), id="our own page through TLS"),
        pytest.param("http://netautod.example:8080", (200, False), id="our own page without"),
        pytest.param("https://netautod.example", (403, True), id="another port"),
        pytest.param("https://attacker.example:8080", (403, True), id="another site"),
        pytest.param("ftp://netautod.example:8080", (403, True), id="no page"),
        pytest.param("null", (403, True), id="a sandboxed frame"),
        pytest.param("", (403, True), id="an empty origin"),
    ],
)
async def test_pages_behind_a_proxy_that_is_not_trusted_are_known_by_their_host(
    origin: str, expected: tuple[int, bool]
) -> None:
    """What it says of the scheme is not believed."""
    headers = {"Origin": origin, "X-Forwarded-Proto": "https"}
    async with served(ROUTES, unknown=UnknownPageHandler, behind_unknown_proxy=True) as url:
        assert told(await ask(url, message("POST", "/api/thing", headers))) == expected
