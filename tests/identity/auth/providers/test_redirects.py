"""Several redirect providers at once, each under its name: no login of one is finished by another."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import ClassVar
from urllib.parse import urlencode

import pytest

from netautod.identity.users.store import USERS
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod_oidc import OidcSettings
from netautod_oidc.provider import OidcProvider
from tests.identity.auth.providers.staff import Staff
from tests.identity.auth.support import Node, ServeNode, start_node
from tests.plugins.oidc.login import LISTED, LoginStart, tokens_of
from tests.support.client import ApiClient, Response, assert_error
from tests.support.installation import Installation
from tests.support.servers.identity_provider import CLIENT_ID, CLIENT_SECRET, ScriptedProvider

UNKNOWN = "not begun in this browser"


class AcmeSettings(OidcSettings):
    NAME: ClassVar[str] = "acme-sso"


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A setup. `scripted`: the provider behind each of ours, by name."""

    node: Node
    client: ApiClient
    scripted: dict[str, ScriptedProvider]

    async def begin(self, name: str, path: str | None = None) -> LoginStart:
        way = path or f"/api/auth/providers/{name}/authorize"
        answer = await self.client.get(f"{way}?{urlencode({'redirect_uri': LISTED})}")
        assert answer.status == 302, answer.content
        [cookie] = SimpleCookie(answer.headers["Set-Cookie"]).values()
        return LoginStart(parameters=self.scripted[name].see(answer.headers["Location"]), cookie=cookie)

    async def end(self, name: str, login: LoginStart, path: str | None = None) -> Response:
        way = path or f"/api/auth/providers/{name}/callback"
        sent = {"code": "code-1", "state": login.parameters["state"]}
        return await self.client.get(f"{way}?{urlencode(sent)}", headers=login.cookies)

    async def me(self, answer: Response) -> dict[str, object]:
        client = self.client.with_token(tokens_of(answer)["access_token"])
        found: dict[str, object] = (await client.get("/api/auth/me")).json
        return found


@pytest.fixture
async def setup(installation: Installation, http: ServeNode) -> AsyncIterator[Setup]:
    scripted = {"oidc": ScriptedProvider(), "acme-sso": ScriptedProvider()}
    plugins = []
    for kind, subject in ((OidcSettings, "ada"), (AcmeSettings, "grace")):
        provider = scripted[kind.NAME]
        provider.claims["preferred_username"] = subject
        provider.userinfo = {"sub": "subject-1"}  # of both: an id counts for one provider
        settings = kind(
            issuer=provider.issuer,
            client_id=CLIENT_ID,
            client_secret=CLIENT_SECRET,
            callback_url=f"https://netautod.example/api/auth/providers/{kind.NAME}/callback",
            redirect_uris=(LISTED,),
            auto_provision=True,
            default_roles=("viewer",),
        )
        plugins.append(OidcProvider(settings, http=GuardedClient(AddressRules.allowing(["127.0.0.1"]))))
    node = await start_node(installation, plugins=[*plugins, Staff()])
    yield Setup(node=node, client=http(node), scripted=scripted)
    for provider in scripted.values():
        provider.server.stop()
        await provider.server.close_all_connections()


async def test_a_login_by_redirect_reads_a_known_user_once(setup: Setup, reads: list[str]) -> None:
    tokens_of(await setup.end("oidc", await setup.begin("oidc")))
    login = await setup.begin("oidc")
    reads.clear()
    tokens_of(await setup.end("oidc", login))
    assert reads.count(USERS) == 1


async def test_each_logs_in_its_own_users(setup: Setup) -> None:
    for name, username in (("oidc", "ada"), ("acme-sso", "grace")):
        login = await setup.begin(name)
        assert login.parameters["redirect_uri"].endswith(f"/api/auth/providers/{name}/callback")
        me = await setup.me(await setup.end(name, login))
        assert (me["username"], me["auth_provider"]) == (username, name)
    listed = (await setup.client.get("/api/auth/providers")).json["providers"]
    assert {entry["name"]: (entry["enabled"], entry["kinds"]) for entry in listed} == {
        "local": (True, ["password"]),
        "ldap": (False, ["password"]),
        "oidc": (True, ["redirect"]),
        "acme-sso": (True, ["redirect"]),
        "acme-staff": (True, ["password"]),
    }


async def test_no_login_is_finished_by_another_provider(setup: Setup) -> None:
    login = await setup.begin("oidc")
    setup.scripted["acme-sso"].nonce = login.parameters["nonce"]  # whatever that provider would say
    answer = await setup.end("acme-sso", login)
    assert_error(answer, 401, UNKNOWN)
    assert setup.scripted["acme-sso"].requests_to("/token") == []  # the code went to no other provider
    assert await setup.node.documents("sessions") == []
    assert (await setup.me(await setup.end("oidc", login)))["auth_provider"] == "oidc"  # not used up
    assert_error(await setup.end("oidc", login), 401, UNKNOWN)


async def test_the_older_addresses_are_those_of_oidc(setup: Setup) -> None:
    old = await setup.begin("oidc", "/api/auth/oidc/authorize")
    assert (await setup.me(await setup.end("oidc", old)))["username"] == "ada"
    new = await setup.begin("oidc")
    assert (await setup.me(await setup.end("oidc", new, "/api/auth/oidc/callback")))["username"] == "ada"
    other = await setup.begin("acme-sso")
    assert_error(await setup.end("acme-sso", other, "/api/auth/oidc/callback"), 401, UNKNOWN)


async def test_which_names_have_no_redirect(setup: Setup) -> None:
    query = urlencode({"redirect_uri": LISTED})
    for name, status, text in (
        ("no-such", 404, "There is no auth provider 'no-such'"),
        ("acme-sso%2f", 404, "There is no auth provider"),
        ("ldap", 400, "LDAP login is not enabled"),
        ("acme-staff", 400, "acme-staff takes a password"),
        ("local", 400, "Local login is not enabled"),
    ):
        for way in ("authorize", "callback"):
            answer = await setup.client.get(f"/api/auth/providers/{name}/{way}?{query}")
            assert_error(answer, status, text)
            assert "Location" not in answer.headers
    body = {"username": "ada", "password": "x", "provider": "acme-sso"}
    assert_error(
        await setup.client.post("/api/auth/login", body), 400, "provider: acme-sso takes no password"
    )


async def test_a_browser_is_sent_to_web_addresses_only(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    query = urlencode({"redirect_uri": LISTED})
    for url in ("javascript:alert(1)", "/relative", "https://x.example/\r\nSet-Cookie: a=b", "", 7):

        async def authorize(self: object, attempt: object, url: object = url) -> object:
            return url

        monkeypatch.setattr(OidcProvider, "authorize", authorize)
        answer = await setup.client.get(f"/api/auth/providers/acme-sso/authorize?{query}")
        assert_error(answer, 502, "The identity provider is not available")
    assert await setup.node.documents("redirect_logins") == []


async def test_a_provider_that_keeps_silent_is_not_waited_for(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def authorize(self: object, attempt: object) -> str:
        never: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        return await never

    monkeypatch.setattr(OidcProvider, "authorize", authorize)
    monkeypatch.setattr("netautod.identity.auth.redirect.service.ANSWER_SECONDS", 0.05)
    query = urlencode({"redirect_uri": LISTED})
    answer = await setup.client.get(f"/api/auth/providers/acme-sso/authorize?{query}")
    assert_error(answer, 502, "The identity provider is not available")
