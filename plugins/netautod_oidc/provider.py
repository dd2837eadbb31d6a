"""The provider `oidc`: the code flow with PKCE (OpenID Connect Core 3.1, RFC 7636, RFC 9207)."""

import base64
import hashlib
import re
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote_plus, urlencode

from netautod.plugin_api import (
    GuardedClient,
    Identity,
    LoginRefused,
    OutboundAnswer,
    RedirectAttempt,
    RequestFailed,
)
from netautod_oidc.claims import claim_at, identity_of, wanted_claims
from netautod_oidc.discovery import Discovery, Metadata
from netautod_oidc.id_token import Expected, UnknownKey, verified_claims
from netautod_oidc.settings import OidcSettings

FORM = "application/x-www-form-urlencoded"
ERROR_FORM = re.compile(r"[a-z_]{1,64}")
MAX_CODE = 4096


class OidcProvider:
    """`now` in seconds since 1970; tests set it."""

    name = "oidc"

    def __init__(
        self, settings: OidcSettings, *, http: GuardedClient, now: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self.provisioning = settings.provisioning
        self.redirects = settings.redirects
        self._discovery = Discovery(settings, http=http)
        self._now = now

    async def authorize(self, attempt: RedirectAttempt) -> str:
        metadata = await self._discovery.metadata()
        parameters = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": attempt.callback_url,
            "scope": " ".join(self._settings.scopes),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": _challenge(attempt.code_verifier),
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in metadata.authorization_endpoint else "?"
        return f"{metadata.authorization_endpoint}{joint}{urlencode(parameters)}"

    async def callback(self, attempt: RedirectAttempt, parameters: Mapping[str, str]) -> Identity:
        metadata = await self._discovery.metadata()
        code = self._code(metadata, parameters)
        tokens = await self._tokens(metadata, attempt, code)
        access_token = tokens.get("access_token")
        if not isinstance(access_token, str) or not access_token.isascii():
            access_token = None
        expected = Expected(
            issuer=self._settings.issuer,
            client_id=self._settings.client_id,
            nonce=attempt.nonce,
            algorithms=frozenset(self._settings.algorithms),
            access_token=access_token,
        )
        claims = await self._verified(tokens.get("id_token"), expected)
        return identity_of(await self._completed(metadata, claims, access_token), self._settings)

    async def close(self) -> None:
        """Holds nothing open."""

    def _code(self, metadata: Metadata, parameters: Mapping[str, str]) -> str:
        issuer = parameters.get("iss")
        # RFC 9207 2.4: else another provider's answer could be passed off as this one's.
        if issuer != self._settings.issuer and (issuer is not None or metadata.sends_issuer):
            raise LoginRefused("the answer is of another issuer")
        if "error" in parameters:
            raise LoginRefused(f"the provider answered {_error_name(parameters['error'])}")
        code = parameters.get("code", "")
        if not 1 <= len(code) <= MAX_CODE:
            raise LoginRefused("the provider sent no code")
        return code

    async def _tokens(self, metadata: Metadata, attempt: RedirectAttempt, code: str) -> Mapping[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.callback_url,
            "code_verifier": attempt.code_verifier,
        }
        headers = {"Content-Type": FORM}
        client_id, secret = self._settings.client_id, self._settings.client_secret
        if secret and "client_secret_basic" in metadata.client_authentication:
            # RFC 6749 2.3.1: both are form-encoded before they are joined.
            pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        else:
            form["client_id"] = client_id
            if secret:
                form["client_secret"] = secret
        answer = await self._discovery.request(
            metadata.token_endpoint, headers=headers, body=urlencode(form).encode()
        )
        tokens = _object(answer)
        if answer.status != 200:
            raise LoginRefused(f"the token endpoint answered {_error_name(tokens.get('error'))}")
        return tokens

    async def _verified(self, token: Any, expected: Expected) -> dict[str, Any]:
        try:
            return verified_claims(token, await self._discovery.keys(), expected, self._now())
        except UnknownKey:  # the provider may have changed its keys
            keys = await self._discovery.keys(fresh=True)
            return verified_claims(token, keys, expected, self._now())

    async def _completed(
        self, metadata: Metadata, claims: dict[str, Any], access_token: str | None
    ) -> dict[str, Any]:
        """With the claims of userinfo, where the id_token lacks some of those that are wanted."""
        lacking = any(claim_at(claims, name) is None for name in wanted_claims(self._settings))
        if not lacking or metadata.userinfo_endpoint is None or access_token is None:
            return claims
        headers = {"Authorization": f"Bearer {access_token}"}
        answer = await self._discovery.request(metadata.userinfo_endpoint, headers=headers)
        if answer.status != 200:
            raise LoginRefused(f"userinfo answered with status {answer.status}")
        more = _object(answer)
        if more.get("sub") != claims["sub"]:
            # OpenID Connect Core 5.3.2: else another user's claims could be slipped in.
            raise LoginRefused("userinfo is about another user")
        return {**more, **claims}


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")


def _object(answer: OutboundAnswer) -> Mapping[str, Any]:
    try:
        document = answer.json()
    except RequestFailed as error:
        raise LoginRefused("the provider did not answer in JSON") from error
    if not isinstance(document, dict):
        raise LoginRefused("the provider did not answer with a JSON object")
    return document


def _error_name(value: Any) -> str:
    """Only what has the form of an error code goes to the log."""
    return value if isinstance(value, str) and ERROR_FORM.fullmatch(value) else "an error"
