"""The whole flow against real providers: the certified npm package oidc-provider, and oidc-provider-mock."""

import asyncio
import json
import re
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urljoin

import pytest

from netautod.identity.users.models import NewUser
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod_oidc import OidcSettings
from netautod_oidc.provider import OidcProvider
from tests.identity.auth.support import Node, serve_node, start_node
from tests.plugins.oidc.browser import Browser
from tests.support.client import ApiClient
from tests.support.installation import Installation
from tests.support.programs.npm import NODE, installed, node_release
from tests.support.programs.started import free_port
from tests.support.serving import Servers

SECRET = "a client's secret: %/+ "
CONSOLE = "https://console.example/done"
SCRIPT = Path(__file__).parents[2] / "support" / "oidc_provider.mjs"


@dataclass(frozen=True, kw_only=True)
class Site:
    """The service on loopback, as its browser reaches it."""

    node: Node
    client: ApiClient
    start: str

    async def me(self, address: str) -> dict[str, object]:
        """Return the user whose tokens stand in the fragment of the address at which the login ended."""
        tokens = {name: values[0] for name, values in parse_qs(address.partition("#")[2]).items()}
        found: dict[str, object] = (
            await self.client.with_token(tokens["access_token"]).get("/api/auth/me")
        ).expect()
        return found


Open = Callable[[OidcSettings], Awaitable[Site]]


@pytest.fixture
async def site(installation: Installation) -> AsyncIterator[tuple[str, Open]]:
    """Yield the callback address to register at the provider, and the function that opens the site."""
    port = free_port()
    callback = f"http://127.0.0.1:{port}/api/auth/oidc/callback"
    async with Servers() as servers:

        async def opened(settings: OidcSettings) -> Site:
            client = GuardedClient(AddressRules.allowing(["127.0.0.1", "::1"]))
            ours = replace(
                settings,
                callback_url=callback,
                redirect_uris=(CONSOLE,),
                auto_provision=True,
                default_roles=("viewer",),
                role_map=("operator = net-admins",),
            )
            node = await start_node(installation, plugins=[OidcProvider(ours, http=client)])
            api = serve_node(servers, node, port=port)
            query = urlencode({"redirect_uri": CONSOLE})
            begin = f"http://127.0.0.1:{port}/api/auth/oidc/authorize?{query}"
            return Site(node=node, client=api, start=begin)

        yield callback, opened


@asynccontextmanager
async def running(*command: str, ready: str) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=STDOUT)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30):
            seen = ""
            while ready not in seen:
                line = await process.stdout.readline()
                assert line, seen
                seen += line.decode()
        reading = asyncio.create_task(process.stdout.read())
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    await reading


@pytest.fixture(scope="session")
async def certified() -> str:
    """Return the main file of the npm package; skip if there is no Node."""
    if NODE is None:
        pytest.skip("node is not installed")
    release = 9 if await node_release() >= 20 else 8  # 9 needs globalThis.crypto
    return str(await installed("oidc-provider", str(release)) / "lib" / "index.js")


async def signed_in(site: Site, username: str, issuer: str) -> str:
    """Pass the login and consent pages of oidc-provider; return the address at which the login ended."""
    browser = Browser()
    page = await browser.follow(site.start, until=f"{issuer}/interaction/")
    return await answered(browser, page, username, issuer, until=CONSOLE)


async def answered(browser: Browser, page: str, username: str, issuer: str, *, until: str) -> str:
    for form in (
        {"prompt": "login", "login": username, "password": "any"},
        {"prompt": "consent"},
    ):
        content = (await browser.open(page)).body.decode()
        action = re.search(r'action="([^"]+)"', content)
        assert action is not None, content
        end = until if form["prompt"] == "consent" else f"{issuer}/interaction/"
        page = await browser.follow(urljoin(page, action[1]), form, until=end)
    return page


@pytest.mark.parametrize(
    "conform",
    [
        pytest.param(True, id="the id_token carries the subject only"),
        pytest.param(False, id="the id_token carries all claims"),
    ],
)
async def test_the_certified_provider(site: tuple[str, Open], certified: str, conform: bool) -> None:
    callback, opened = site
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    options = {
        "issuer": issuer,
        "port": port,
        "callback": callback,
        "secret": SECRET,
        "conform": conform,
        "library": certified,
    }
    assert NODE is not None
    async with running(NODE, str(SCRIPT), json.dumps(options), ready="ready\n"):
        here = await opened(OidcSettings(issuer=issuer, client_id="netautod-tests", client_secret=SECRET))
        me = await here.me(await signed_in(here, "ada", issuer))
        assert (me["username"], me["email"], me["display_name"]) == (
            "ada",
            "ada@example.net",
            "Ada Lovelace",
        )
        assert me["roles"] == ["operator", "viewer"]
        again = await here.me(await signed_in(here, "ada", issuer))
        assert again["id"] == me["id"]
        other = await here.me(await signed_in(here, "grace", issuer))
        assert other["roles"] == ["viewer"]
        user = await here.node.users.by_username("grace")
        assert user is not None
        assert user.external_id == "grace"
        await unclear_groups(here, issuer)
        await at_the_console(here, issuer)


async def unclear_groups(here: Site, issuer: str) -> None:
    """Log in with a claim of groups that is missing, or a text: held roles stay, and none is given."""
    for username, held, reason in (
        ("alan", "operator", "the provider sends no claim groups"),
        ("edsger", "operator", "the groups came as one text"),
        ("edsger", "viewer", "the groups came as one text"),
    ):
        system = await here.node.installation.system()
        user = await here.node.users.by_username(username)
        if user is None:
            new = NewUser(username=username, roles=(held,), auth_provider="oidc")
            user = await here.node.users.create(system, new)
        else:
            user = await here.node.users.change(system, user, {"roles": [held]})
        me = await here.me(await signed_in(here, username, issuer))
        found = await here.node.users.find(user.id)
        assert found is not None
        assert (me["id"], me["roles"]) == (user.id, [held])
        assert reason in (found.group_warning or "")


async def at_the_console(here: Site, issuer: str) -> None:
    """Log in the same way with a cookie at the end, at the requested page."""
    own = here.client.base_url
    browser = Browser()
    wanted = await browser.follow(f"{own}/account?x=1", until=f"{own}/login")
    content = (await browser.open(wanted)).body.decode()
    token = re.search(r'name="_xsrf" value="([0-9a-f]+)"', content)
    assert token is not None, content
    begun = await browser.open(f"{own}/login/oidc", {"_xsrf": token[1], "next": "/account?x=1"})
    link = re.search(r'content="0;url=([^"]+)"', begun.body.decode())
    assert link is not None, begun.body
    page = await browser.follow(unescape(link[1]), until=f"{issuer}/interaction/")
    page = await answered(browser, page, "ada", issuer, until=f"{own}/account")
    assert page == f"{own}/account?x=1"
    shown = await browser.open(page)
    assert (shown.code, "Ada Lovelace" in shown.body.decode()) == (200, True)


async def test_the_mock_provider(site: tuple[str, Open]) -> None:
    _, opened = site
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    claims = json.dumps({"sub": "subject-7", "preferred_username": "ada", "groups": ["net-admins"]})
    command = (sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "--user-claims", claims)
    async with running(*command, ready="running on"):
        plain = OidcSettings(issuer=issuer, client_id="netautod-tests", client_secret=SECRET)
        here = await opened(replace(plain, algorithms=("RS256",)))
        browser = Browser()
        page = await browser.follow(here.start, until=f"{issuer}/oauth2/authorize")
        await browser.open(page)
        me = await here.me(await browser.follow(page, {"sub": "subject-7"}, until=CONSOLE))
        assert (me["username"], me["roles"]) == ("ada", ["operator", "viewer"])
