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


async def follow_login_link(setup: Setup, visitor: Visitor, page: str = "/devices?q=core") -> dict[str, str]:
    """Return the parameters sent to the provider after the person has followed the link of the login page."""
    shown = await visitor.get(f"/login?{urlencode({'next': page})}")
    answer = await visitor.get(shown.links["Log in with OIDC"], status=303)
    return setup.provider.see(answer.headers["Location"])


def bound(visitor: Visitor) -> Morsel[str]:
    (cookie,) = (one for name, one in visitor.cookies.items() if name.startswith(BOUND))
    return cookie


async def back(visitor: Visitor, sent: dict[str, str], *, status: int = 302, **changes: str) -> Any:
    query = urlencode({"code": "code-1", "state": sent["state"], **changes})
    return await visitor.get(f"/api/auth/oidc/callback?{query}", status=status)


async def test_it_ends_at_the_wanted_page_with_a_cookie_and_no_token(setup: Setup, visitor: Visitor) -> None:
    sent = await follow_login_link(setup, visitor)
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
    await back(visitor, await follow_login_link(setup, visitor))
    assert visitor.cookies["__Host-netautod"]["secure"] is True
    await visitor.get("/account")


async def test_each_login_makes_a_new_cookie(setup: Setup, visitor: Visitor) -> None:
    await back(visitor, await follow_login_link(setup, visitor))
    first = visitor.cookie()
    await back(visitor, await follow_login_link(setup, visitor))
    assert visitor.cookie() not in ("", first)
    await visitor.get("/account")
    assert [one["ended_at"] is None for one in await setup.node.documents("sessions")] == [False, True]


async def test_an_answer_that_is_not_of_this_browser_or_was_used(setup: Setup, visitor: Visitor) -> None:
    sent = await follow_login_link(setup, visitor)
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
    sent = await follow_login_link(setup, visitor)
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
        answer = await visitor.get(f"/login/oidc?{urlencode({'next': wish})}", status=303)
        ended = await back(visitor, setup.provider.see(answer.headers["Location"]))
        assert ended.headers["Location"] == "/"
    for one in HOSTILE:
        page = await visitor.get(f"/login?{urlencode({'next': one.values[0]})}")
        assert page.links["Log in with OIDC"] == "/login/oidc"


async def test_a_failure_leads_back_to_the_login(setup: Setup, visitor: Visitor) -> None:
    eve = {"sub": "2", "preferred_username": "eve"}
    failures: list[tuple[Any, dict[str, str], str, str]] = [
        ((400, {"error": "invalid_grant"}), {}, "failed", "The login at the identity provider failed"),
        (None, eve, "refused", "This account may not log in here"),
        ((503, "{}"), {}, "unavailable", "The identity provider is not available at the moment"),
    ]
    known = setup.provider.claims
    for answer, claims, word, text in failures:
        sent = await follow_login_link(setup, visitor)
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
    answer = await visitor.get("/login/oidc?next=/account", status=303)
    assert answer.headers["Location"] == "/login?next=%2Faccount&failed=unavailable"
