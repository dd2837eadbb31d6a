"""The login at the console through an OpenID Connect provider: it ends on the server, with a cookie."""

from collections.abc import AsyncIterator
from http.cookies import Morsel
from typing import Any
from urllib.parse import urlencode

import pytest

from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod_oidc import OidcSettings
from netautod_oidc.provider import OidcProvider
from tests.console.login.targets import HOSTILE
from tests.identity.auth.support import ServeNode, start_node
from tests.plugins.oidc.login import LISTED, LoginStart, Setup, tokens_of
from tests.support.client import assert_error
from tests.support.installation import Installation
from tests.support.servers.identity_provider import CLIENT_ID, CLIENT_SECRET, ScriptedProvider
from tests.support.visitor import Visitor

CALLBACK = "http://127.0.0.1:8080/api/auth/oidc/callback"
BOUND = "netautod-login-"
BUTTON = "Log in with OIDC"


@pytest.fixture
async def setup(installation: Installation, http: ServeNode) -> AsyncIterator[Setup]:
    """Return a node whose users come from a scripted provider; ada is known there and here."""
    provider = ScriptedProvider()
    provider.userinfo = {"sub": "subject-1"}
    settings = OidcSettings(
        issuer=provider.issuer,
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        callback_url=CALLBACK,
        redirect_uris=(LISTED,),
    )
    plugin = OidcProvider(settings, http=GuardedClient(AddressRules.allowing(["127.0.0.1"])))
    node = await start_node(installation, plugins=[plugin])
    made = Setup(node=node, client=http(node), provider=provider)
    await made.add("ada", "operator")
    yield made
    provider.server.stop()
    await provider.server.close_all_connections()


@pytest.fixture
async def visitor(setup: Setup) -> Visitor:
    return Visitor(base_url=setup.client.base_url)


async def press(visitor: Visitor, page: str) -> str:
    """Return the provider's address, to which the browser goes on after the button of the login page."""
    await visitor.get(f"/login?{urlencode({'next': page})}")
    assert visitor.page.controls >= {BUTTON}
    given = {"next": visitor.page.all("input", name="next")[0].attributes["value"]}
    shown = await visitor.post("/login/oidc", given, status=200)
    (refresh,) = shown.all("meta", http_equiv="refresh")
    return refresh.attributes["content"].removeprefix("0;url=")


async def begin_login(setup: Setup, visitor: Visitor, page: str = "/devices?q=core") -> dict[str, str]:
    """Return the parameters sent to the provider after the person has pressed the button."""
    return setup.provider.see(await press(visitor, page))


def bound(visitor: Visitor) -> Morsel[str]:
    (cookie,) = (one for name, one in visitor.cookies.items() if name.startswith(BOUND))
    return cookie


async def back(visitor: Visitor, sent: dict[str, str], *, status: int = 302, **changes: str) -> Any:
    query = urlencode({"code": "code-1", "state": sent["state"], **changes})
    return await visitor.get(f"/api/auth/oidc/callback?{query}", status=status)


async def test_it_ends_at_the_wanted_page_with_a_cookie_and_no_token(setup: Setup, visitor: Visitor) -> None:
    sent = await begin_login(setup, visitor)
    assert sent["redirect_uri"] == CALLBACK
    assert (bound(visitor)["httponly"], bound(visitor)["samesite"]) == (True, "Lax")
    answer = await back(visitor, sent)
    assert answer.headers["Location"] == "/devices?q=core"
    cookie = visitor.cookies["netautod"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == ("/", True, "Lax")
    page = await visitor.get("/account")
    assert "ada" in page.text
    (session,) = await setup.node.documents("sessions")
    assert (session["auth_provider"], session["client_type"]) == ("oidc", "admin_ui")
    assert await setup.node.documents("refresh_tokens") == []
    assert not any(name.startswith(BOUND) for name in visitor.cookies)


async def test_the_cookie_behind_a_proxy_that_ends_tls(setup: Setup, visitor: Visitor) -> None:
    visitor.headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "netautod.example"}
    await back(visitor, await begin_login(setup, visitor))
    assert visitor.cookies["__Host-netautod"]["secure"] is True
    await visitor.get("/account")


async def test_each_login_makes_a_new_cookie(setup: Setup, visitor: Visitor) -> None:
    await back(visitor, await begin_login(setup, visitor))
    first = visitor.cookie()
    await back(visitor, await begin_login(setup, visitor))
    assert visitor.cookie() not in ("", first)
    await visitor.get("/account")
    assert [one["ended_at"] is None for one in await setup.node.documents("sessions")] == [False, True]


async def test_an_answer_that_is_not_of_this_browser_or_was_used(setup: Setup, visitor: Visitor) -> None:
    sent = await begin_login(setup, visitor)
    stranger = Visitor(base_url=visitor.base_url)
    answer = await back(stranger, sent, status=401)
    assert "begun in this browser" in answer.html
    stranger.cookies = {bound(visitor).key: Morsel()}
    stranger.cookies[bound(visitor).key].set(bound(visitor).key, "x" * 43, "x" * 43)
    await back(stranger, sent, status=401)
    await back(visitor, {**sent, "state": "x" * 43}, status=401)
    kept = dict(visitor.cookies)
    await back(visitor, sent)
    visitor.cookies = kept
    await back(visitor, sent, status=401)
    assert "netautod" not in stranger.cookies
    assert len(await setup.node.documents("sessions")) == 1


async def test_a_login_of_the_api_and_one_of_the_console_are_not_taken_for_each_other(
    setup: Setup, visitor: Visitor
) -> None:
    sent = await begin_login(setup, visitor)
    as_api = LoginStart(parameters=sent, cookie=bound(visitor))
    ended = await setup.finish(as_api)
    assert ended.headers["Location"] == "/devices?q=core"
    assert "access_token" not in ended.headers["Location"]
    ended = await setup.log_in()
    assert set(tokens_of(ended)) >= {"access_token", "refresh_token"}
    assert "Set-Cookie" not in ended.headers or "netautod=" not in ended.headers["Set-Cookie"]
    refused = await setup.client.get("/api/auth/oidc/authorize?redirect_uri=")
    assert_error(refused, 400, "redirect_uri")


async def test_wishes_that_lead_elsewhere_lead_to_the_start_page(setup: Setup, visitor: Visitor) -> None:
    for wish in ("//evil.example", "/\\evil.example", "https://evil.example", "/api/auth/me"):
        await visitor.get("/login")
        shown = await visitor.post("/login/oidc", {"next": wish}, status=200)
        ended = await back(visitor, setup.provider.see(shown.links["Go on to the identity provider"]))
        assert ended.headers["Location"] == "/"
    for one in HOSTILE:
        page = await visitor.get(f"/login?{urlencode({'next': one.values[0]})}")
        assert {each.attributes["value"] for each in page.all("input", name="next")} == {"/"}
        answer = await visitor.get(f"/login/oidc?{urlencode({'next': one.values[0]})}", status=303)
        assert answer.headers["Location"] == "/login"


@pytest.mark.parametrize("provider", ["oidc", "ldap", "nobody"])
async def test_a_link_of_another_site_begins_no_login_and_ends_no_session(
    setup: Setup, visitor: Visitor, provider: str
) -> None:
    await back(visitor, await begin_login(setup, visitor))
    cookie = visitor.cookie()
    answer = await visitor.get(f"/login/{provider}?next=/devices", status=303)
    assert answer.headers["Location"] == "/login?next=%2Fdevices"
    assert not any(name.startswith(BOUND) for name in visitor.cookies)
    assert visitor.cookie() == cookie
    await visitor.get("/account")


@pytest.mark.parametrize(
    ("fields", "headers"),
    [
        pytest.param({}, {"Origin": "https://attacker.example"}, id="the page of another site"),
        pytest.param({}, {"Origin": "null"}, id="a sandboxed frame"),
        pytest.param({"_xsrf": ""}, {}, id="a form without a token"),
        pytest.param({"_xsrf": "00" * 64}, {}, id="a form with another token"),
    ],
)
async def test_a_form_of_another_site_begins_no_login(
    setup: Setup, visitor: Visitor, fields: dict[str, str], headers: dict[str, str]
) -> None:
    await visitor.get("/login")
    await visitor.post("/login/oidc", fields, status=403, headers=headers)
    assert not any(name.startswith(BOUND) for name in visitor.cookies)
    assert await setup.node.documents("redirect_logins") == []


async def test_a_login_of_the_api_leaves_the_session_of_the_console(setup: Setup, visitor: Visitor) -> None:
    await back(visitor, await begin_login(setup, visitor))
    cookie = visitor.cookie()
    address = f"/api/auth/oidc/authorize?{urlencode({'redirect_uri': LISTED})}"
    started = await visitor.get(address, status=302)
    await back(visitor, setup.provider.see(started.headers["Location"]))
    assert visitor.cookie() == cookie
    await visitor.get("/account")


async def test_a_failure_leads_back_to_the_login(setup: Setup, visitor: Visitor) -> None:
    eve = {"sub": "2", "preferred_username": "eve"}
    failures: list[tuple[Any, dict[str, str], str, str]] = [
        ((400, {"error": "invalid_grant"}), {}, "failed", "The login at the identity provider failed"),
        (None, eve, "refused", "This account may not log in here"),
        ((503, "{}"), {}, "unavailable", "The identity provider is not available at the moment"),
    ]
    known = setup.provider.claims
    for answer, claims, word, text in failures:
        sent = await begin_login(setup, visitor)
        setup.provider.token_answer, setup.provider.claims = answer, {**known, **claims}
        setup.provider.userinfo = {"sub": claims.get("sub", "subject-1")}
        ended = await back(visitor, sent)
        assert ended.headers["Location"] == f"/login?next=%2Fdevices%3Fq%3Dcore&failed={word}"
        page = await visitor.get(ended.headers["Location"])
        assert text in page.text
        assert visitor.hidden("next") == "/devices?q=core"
        assert visitor.cookie() == ""
    assert await setup.node.documents("sessions") == []
    actions = await setup.node.actions()
    assert actions == ["auth.login_failed", "auth.login_failed"]  # none for a provider that is away


async def test_an_unknown_failure_is_no_text_of_the_page(visitor: Visitor) -> None:
    page = await visitor.get("/login?failed=Your+account+is+locked,+call+0900")
    assert "0900" not in page.html
    assert page.all("p", class_="error") == []


async def test_a_provider_that_is_away(setup: Setup, visitor: Visitor) -> None:
    setup.provider.server.stop()
    await visitor.get("/login?next=/account")
    answer = await visitor.post("/login/oidc", {"next": "/account"})
    assert answer.headers["Location"] == "/login?next=%2Faccount&failed=unavailable"
