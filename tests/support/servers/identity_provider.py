"""An OpenID Connect provider that the test scripts word by word, on a random port of loopback."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jws
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

from tests.support.servers.http import serve

Key = RSAKey | ECKey | OKPKey | OctKey
CLIENT_ID, CLIENT_SECRET = "netautod-tests", "a client's secret: %/+ "


def new_key(kid: str = "key-1", kind: str = "EC") -> Key:
    if kind == "RSA":
        return RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})
    if kind == "OKP":
        return OKPKey.generate_key("Ed25519", {"kid": kid, "use": "sig"})
    return ECKey.generate_key("P-256", {"kid": kid, "use": "sig"})


@dataclass(kw_only=True)
class ScriptedProvider:
    """Good by default: `change_claims`, `change_header` and the other fields make it worse."""

    server: HTTPServer = field(init=False)
    issuer: str = field(init=False)
    key: Key = field(default_factory=new_key)
    published: list[Key] = field(default_factory=list)
    algorithm: str = "ES256"
    nonce: str = ""
    claims: dict[str, Any] = field(
        default_factory=lambda: {"preferred_username": "ada", "email": "a@b.example"}
    )
    userinfo: dict[str, Any] = field(default_factory=dict)
    userinfo_status: int = 200
    groups_answer: tuple[int, Any] = (404, {})
    metadata: dict[str, Any] = field(default_factory=dict)
    has_userinfo: bool = True
    change_claims: Callable[[dict[str, Any]], None] = lambda claims: None
    change_header: Callable[[dict[str, Any]], None] = lambda header: None
    change_token: Callable[[str], str] = lambda token: token
    key_set: Any = None
    token_answer: tuple[int, Any] | None = None
    requests: list[tuple[str, dict[str, str], dict[str, str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.published = [self.key]
        routes = [
            ("/.well-known/openid-configuration", self._document),
            ("/jwks", self._keys),
            ("/token", self._tokens),
            ("/userinfo", lambda: (self.userinfo_status, self.userinfo)),
            ("/groups", lambda: self.groups_answer),
        ]
        handlers = [(path, _Answer, {"provider": self, "answer": answer}) for path, answer in routes]
        self.server, self.issuer = serve(Application(handlers, log_function=lambda handler: None))

    def requests_to(self, path: str) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Headers and form of each request to the path."""
        return [(headers, form) for target, headers, form in self.requests if target == path]

    def see(self, location: str) -> dict[str, str]:
        """What the browser brings along; the nonce goes into the next id_token."""
        parameters = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        self.nonce = parameters["nonce"]
        return parameters

    def _document(self) -> dict[str, Any]:
        endpoints = {
            "authorization_endpoint": "/authorize",
            "token_endpoint": "/token",
            "jwks_uri": "/jwks",
            **({"userinfo_endpoint": "/userinfo"} if self.has_userinfo else {}),
        }
        found = {name: self.issuer + path for name, path in endpoints.items()}
        return {"issuer": self.issuer, **found, **self.metadata}

    def _keys(self) -> Any:
        if self.key_set is not None:
            return self.key_set
        return {"keys": [key.as_dict(private=False) for key in self.published]}

    def _tokens(self) -> Any:
        if self.token_answer is not None:
            return self.token_answer
        token = self.change_token(self.id_token())
        return {"access_token": "provider-access-token", "token_type": "Bearer", "id_token": token}

    def id_token(self) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": "subject-1",
            "exp": now + 300,
            "iat": now,
            "nonce": self.nonce,
            **self.claims,
        }
        self.change_claims(claims)
        header: dict[str, Any] = {"alg": self.algorithm, "kid": self.key.kid}
        self.change_header(header)
        registry = jws.JWSRegistry(algorithms=[header["alg"]], strict_check_header=False)
        return jws.serialize_compact(header, json.dumps(claims), self.key, [header["alg"]], registry)


class _Answer(RequestHandler):
    def initialize(self, provider: ScriptedProvider, answer: Callable[[], Any]) -> None:
        self._provider = provider
        self._answered = answer

    def get(self) -> None:
        form = {name: self.get_body_argument(name, strip=False) for name in self.request.body_arguments}
        self._provider.requests.append((self.request.path, dict(self.request.headers), form))
        answer = self._answered()
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        self.finish(body if isinstance(body, bytes | str) else json.dumps(body))

    post = get
