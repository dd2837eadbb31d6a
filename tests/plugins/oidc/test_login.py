"""GET /api/auth/oidc/authorize and /callback: bound to one browser, used once, ending at listed addresses."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod_oidc import OidcSettings
from netautod_oidc.provider import OidcProvider
from tests.identity.auth.redirect.uris import UNLISTED
from tests.identity.auth.support import ServeNode, start_node
from tests.plugins.oidc.login import LISTED, Setup, tokens_of
from tests.support.client import Response, assert_error
from tests.support.clock import MovableClock
from tests.support.installation import Installation
from tests.support.servers.identity_provider import CLIENT_ID, CLIENT_SECRET, ScriptedProvider

LOOPBACK = "http://127.0.0.1/cli"
LOOPBACK6 = "http://[::1]:8400/cli"
Rules = dict[str, Any]
CALLBACK = "https://netautod.example/api/auth/oidc/callback"
OPEN: Rules = {"auto_provision": True, "default_roles": ("viewer",)}


Start = Callable[..., Awaitable[Setup]]


@pytest.fixture
async def start(installation: Installation, http: ServeNode) -> AsyncIterator[Start]:
    """Return a function: `setup = await start(settings)` starts a node with a scripted provider."""
    scripted: list[ScriptedProvider] = []

    async def started(rules: Rules | None = None, *, seats: int = 0, callback: str = CALLBACK) -> Setup:
        provider = ScriptedProvider()
        provider.userinfo = {"sub": "subject-1"}
        scripted.append(provider)
        settings = OidcSettings(
            issuer=provider.issuer,
            client_id=CLIENT_ID,
            client_secret=CLIENT_SECRET,
            callback_url=callback,
            redirect_uris=(LISTED, LOOPBACK, LOOPBACK6),
            **(rules or {}),
        )
        plugin = OidcProvider(settings, http=GuardedClient(AddressRules.allowing(["127.0.0.1"])))
        node = await start_node(installation, plugins=[plugin], seats=seats)
        client = http(node)
        return Setup(node=node, client=client, provider=provider)

    yield started
    for provider in scripted:
        provider.server.stop()
        await provider.server.close_all_connections()


async def test_a_login_ends_at_the_listed_address_with_the_tokens_in_the_fragment(start: Start) -> None:
    setup = await start()
    user_id = await setup.add("ada", "operator")
    login = await setup.begin()
    assert login.parameters["redirect_uri"] == CALLBACK
    answer = await setup.finish(login)
    tokens = tokens_of(answer)
    assert sorted(tokens) == ["access_token", "expires_in", "refresh_token", "token_type"]
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", "3600")
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    me = await setup.client.with_token(tokens["access_token"]).get("/api/auth/me")
    assert (me.json["id"], me.json["auth_provider"]) == (user_id, "oidc")
    fresh = await setup.client.post("/api/auth/refresh", {"refresh_token": tokens["refresh_token"]})
    assert fresh.status == 200
    assert await setup.node.actions() == ["auth.login"]
    bound = await setup.node.users.by_username("ada")
    assert bound is not None
    assert bound.external_id == "subject-1"


@pytest.mark.parametrize(
    ("callback", "name", "path", "secure"),
    [
        pytest.param(CALLBACK, "__Host-netautod-login-", "/", True, id="over TLS"),
        pytest.param(
            "http://127.0.0.1:8080/api/auth/oidc/callback",
            "netautod-login-",
            "/api/auth",
            "",
            id="on this machine",
        ),
    ],
)
async def test_the_cookie(start: Start, callback: str, name: str, path: str, secure: bool) -> None:
    cookie = (await (await start(callback=callback)).begin()).cookie
    assert cookie.key.startswith(name)
    assert (cookie["path"], cookie["secure"], cookie["httponly"]) == (path, secure, True)
    assert (cookie["samesite"], cookie["max-age"], cookie["domain"]) == ("Lax", "600", "")


async def refused(setup: Setup, answer: Response, text: str) -> None:
    assert_error(answer, 401, text)
    assert "Location" not in answer.headers
    assert await setup.node.documents("sessions") == []


@pytest.mark.parametrize(
    ("parameters", "cookie"),
    [
        pytest.param({"state": "x" * 43}, None, id="a wrong state"),
        pytest.param({"state": ""}, None, id="an empty state"),
        pytest.param({"state": "\U0001f600\u00e4"}, None, id="a state that is no such text"),
        pytest.param({}, {}, id="no cookie"),
        pytest.param({}, {"Cookie": "{name}="}, id="an empty cookie"),
        pytest.param({}, {"Cookie": "{name}=" + "x" * 43}, id="another browser's cookie"),
        pytest.param({}, {"Cookie": "other={value}"}, id="the cookie under another name"),
    ],
)
async def test_what_does_not_belong_to_a_login_of_this_browser(
    start: Start, parameters: dict[str, str], cookie: dict[str, str] | None
) -> None:
    setup = await start(OPEN)
    login = await setup.begin()
    headers = None
    if cookie is not None:
        names = {"name": login.cookie.key, "value": login.cookie.value}
        headers = {key: text.format(**names) for key, text in cookie.items()}
    await refused(setup, await setup.finish(login, headers, **parameters), "begin again")
    assert setup.provider.requests_to("/token") == []
    # The real browser is not disturbed by it.
    assert tokens_of(await setup.finish(login))


async def test_a_victim_is_not_logged_in_by_an_attackers_callback(start: Start) -> None:
    setup = await start(OPEN)
    attacker, victim = await setup.begin(), await setup.begin()
    await refused(setup, await setup.finish(attacker, victim.cookies), "begin again")


async def test_a_state_is_used_once(start: Start) -> None:
    setup = await start(OPEN)
    login = await setup.begin()
    tokens_of(await setup.finish(login))
    assert_error(await setup.finish(login), 401, "begin again")
    assert len(await setup.node.documents("sessions")) == 1


async def test_a_login_that_failed_cannot_be_tried_again(start: Start) -> None:
    setup = await start(OPEN)
    login = await setup.begin()
    setup.provider.token_answer = 400, {"error": "invalid_grant"}
    await refused(setup, await setup.finish(login), "failed")
    setup.provider.token_answer = None
    await refused(setup, await setup.finish(login), "begin again")


async def test_a_state_expires(start: Start, clock: MovableClock) -> None:
    setup = await start(OPEN)
    late, in_time = await setup.begin(), await setup.begin()
    clock.move(601)
    await refused(setup, await setup.finish(late), "begin again")
    clock.move(-2)
    setup.provider.nonce = in_time.parameters["nonce"]
    assert tokens_of(await setup.finish(in_time))


async def test_a_parameter_twice_is_refused(start: Start) -> None:
    setup = await start(OPEN)
    login = await setup.begin()
    state = login.parameters["state"]
    path = f"/api/auth/oidc/callback?code=a&code=b&state={state}"
    await refused(setup, await setup.client.get(path, headers=login.cookies), "begin again")


async def test_a_provider_that_refuses(start: Start) -> None:
    setup = await start(OPEN)
    path = "/api/auth/oidc/callback?error=access_denied&error_description=%3Cscript%3E&state={}"
    login = await setup.begin()
    answer = await setup.client.get(path.format(login.parameters["state"]), headers=login.cookies)
    await refused(setup, answer, "failed")
    assert "script" not in answer.json["error"]
    assert await setup.node.actions() == ["auth.login_failed"]


async def test_the_nonce_of_another_login(start: Start) -> None:
    setup = await start(OPEN)
    first = await setup.begin()
    await setup.begin()  # the provider answers with the second one's nonce
    await refused(setup, await setup.finish(first), "failed")


async def test_unlisted_redirect_uris(start: Start) -> None:
    setup = await start(OPEN)
    for case in UNLISTED:
        (uri,) = case.values
        answer = await setup.client.get(f"/api/auth/oidc/authorize?redirect_uri={quote(str(uri), safe='')}")
        assert answer.status in (400, 414), case.id
        assert "redirect_uri" in answer.json["error"], case.id
        assert "Location" not in answer.headers
        assert "Set-Cookie" not in answer.headers


async def test_a_redirect_uri_is_needed(start: Start) -> None:
    setup = await start(OPEN)
    assert_error(await setup.client.get("/api/auth/oidc/authorize"), 400, "redirect_uri")


async def test_loopback_entries_match_any_port(start: Start) -> None:
    setup = await start(OPEN)
    for uri in (LOOPBACK, "http://127.0.0.1:65535/cli", LOOPBACK6, "http://[::1]:51000/cli"):
        assert tokens_of(await setup.finish(await setup.begin(uri)), uri)


async def test_the_callback_cannot_choose_where_the_login_ends(start: Start) -> None:
    setup = await start(OPEN)
    answer = await setup.finish(await setup.begin(), redirect_uri="https://evil.example/")
    assert tokens_of(answer)


async def test_a_first_login_makes_a_user_only_with_auto_provisioning(start: Start) -> None:
    closed = await start()
    await refused(closed, await closed.log_in(), "may not log in")
    assert await closed.node.users.by_username("ada") is None
    open_ = await start({"auto_provision": True, "role_map": ("operator = net", "admin = cn=x,dc=y")})
    await refused(open_, await open_.log_in(), "may not log in")
    open_.provider.claims["groups"] = ["net", "admins"]
    tokens_of(await open_.log_in())
    user = await open_.node.users.by_username("ada")
    assert user is not None
    assert (user.role_names, user.external_id, user.email) == (["operator"], "subject-1", "a@b.example")
    open_.provider.claims["groups"] = []
    tokens_of(await open_.log_in())
    user = await open_.node.users.by_username("ada")
    assert user is not None
    assert user.role_names == []


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"auth_provider": "local", "password": "a long enough secret"}, id="a local user"),
        pytest.param({"auth_provider": "ldap"}, id="a user of LDAP"),
        pytest.param({"external_id": "subject-2"}, id="another person of the same provider"),
        pytest.param({"external_id": "subject-1", "is_active": False}, id="a user who is disabled"),
    ],
)
async def test_names_that_are_refused(start: Start, options: dict[str, Any]) -> None:
    setup = await start(OPEN)
    user_id = await setup.add("ada", "admin", **options)
    await refused(setup, await setup.log_in(), "may not log in")
    user = await setup.node.users.find(user_id)
    assert user is not None
    assert user.external_id == options.get("external_id")


async def test_a_user_is_known_by_his_subject_and_not_by_his_name(start: Start) -> None:
    setup = await start(OPEN)
    user_id = await setup.add("countess", "viewer", external_id="subject-1")
    tokens = tokens_of(await setup.log_in())
    me = await setup.client.with_token(tokens["access_token"]).get("/api/auth/me")
    assert (me.json["id"], me.json["username"]) == (user_id, "ada")  # the name follows the provider


async def test_a_terminal_needs_a_seat(start: Start) -> None:
    setup = await start(OPEN, seats=1)
    tokens_of(await setup.finish(await setup.begin(client_type="terminal")))
    assert_error(await setup.finish(await setup.begin(client_type="terminal")), 409, "seat_limit_reached")
    tokens_of(await setup.log_in())
    query = urlencode({"redirect_uri": LISTED, "client_type": "kiosk"})
    assert_error(await setup.client.get(f"/api/auth/oidc/authorize?{query}"), 400, "client_type")


async def test_a_provider_that_is_away(start: Start) -> None:
    setup = await start(OPEN)
    login = await setup.begin()
    setup.provider.token_answer = 503, {}
    assert_error(await setup.finish(login), 502, "not available")
    away = await start(OPEN)
    away.provider.server.stop()
    query = urlencode({"redirect_uri": LISTED})
    assert_error(await away.client.get(f"/api/auth/oidc/authorize?{query}"), 502, "not available")


async def test_a_provider_that_is_off(installation: Installation, http: ServeNode) -> None:
    node = await start_node(installation)
    client = http(node)
    for path in (f"authorize?redirect_uri={quote(LISTED)}", "callback?state=x&code=y"):
        assert_error(await client.get(f"/api/auth/oidc/{path}"), 400, "OIDC login is not enabled")


async def test_no_secret_of_a_login_is_kept_or_logged(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    setup = await start(OPEN)
    login = await setup.begin()
    failing = await setup.begin()
    failed = await setup.finish(failing, code="canary-code-2")
    setup.provider.nonce = login.parameters["nonce"]
    tokens = tokens_of(await setup.finish(login, code="canary-code-1"))
    verifier = setup.provider.requests_to("/token")[-1][1]["code_verifier"]
    secrets = [
        login.cookie.value,
        login.parameters["state"],
        login.parameters["nonce"],
        verifier,
        "canary-code",
        "provider-access-token",
        CLIENT_SECRET,
        tokens["access_token"],
        tokens["refresh_token"],
    ]
    kept = "".join(
        [
            str(await setup.node.documents(name))
            for name in ("redirect_logins", "sessions", "refresh_tokens", "audit_events", "users")
        ]
    )
    logged = "".join(record.getMessage() for record in caplog.records)
    for secret in secrets:
        assert secret not in kept
        assert secret not in logged
        assert secret not in failed.content.decode()
