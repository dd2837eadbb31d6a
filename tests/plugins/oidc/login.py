"""A login by redirect step by step, as the browser makes it, at a node whose provider is scripted."""

from dataclasses import dataclass
from http.cookies import Morsel, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode

from netautod.identity.users.models import NewUser
from tests.identity.auth.support import Node
from tests.support.client import ApiClient, Response
from tests.support.servers.identity_provider import ScriptedProvider

LISTED = "https://console.example/signed-in?from=oidc"


@dataclass(frozen=True, kw_only=True)
class LoginStart:
    """A login that waits for the provider: the parameters sent there, and the cookie received here."""

    parameters: dict[str, str]
    cookie: Morsel[str]

    @property
    def cookies(self) -> dict[str, str]:
        return {"Cookie": f"{self.cookie.key}={self.cookie.value}"}


@dataclass(frozen=True, kw_only=True)
class Setup:
    node: Node
    client: ApiClient
    provider: ScriptedProvider

    async def begin(self, redirect_uri: str = LISTED, **more: str) -> LoginStart:
        query = urlencode({"redirect_uri": redirect_uri, **more})
        answer = await self.client.get(f"/api/auth/oidc/authorize?{query}")
        assert answer.status == 302, answer.content
        cookies = SimpleCookie(answer.headers["Set-Cookie"])
        return LoginStart(
            parameters=self.provider.see(answer.headers["Location"]), cookie=next(iter(cookies.values()))
        )

    async def finish(
        self, login: LoginStart, headers: dict[str, str] | None = None, **parameters: str
    ) -> Response:
        sent = {"code": "code-1", "state": login.parameters["state"], **parameters}
        given = login.cookies if headers is None else headers
        return await self.client.get(f"/api/auth/oidc/callback?{urlencode(sent)}", headers=given)

    async def log_in(self) -> Response:
        return await self.finish(await self.begin())

    async def add(self, username: str, *roles: str, **options: Any) -> str:
        new = NewUser(username=username, roles=roles, **{"auth_provider": "oidc", **options})
        return (await self.node.users.create(await self.node.installation.system(), new)).id


def tokens_of(answer: Response, redirect_uri: str = LISTED) -> dict[str, str]:
    assert answer.status == 302, answer.content
    address, _, fragment = answer.headers["Location"].partition("#")
    assert address == redirect_uri
    return {name: values[0] for name, values in parse_qs(fragment).items()}
