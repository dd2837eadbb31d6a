"""The provider `oidc`: the code flow with PKCE (OpenID Connect Core 3.1, RFC 7636, RFC 9207)."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from authlib.oauth2 import OAuth2Error

from netautod.plugin_api import (
    GuardedClient,
    Identity,
    KnownUser,
    LoginEnded,
    LoginRefused,
    Lookup,
    LookupOf,
    ProviderUnavailable,
    RedirectAttempt,
)
from netautod_oidc.claims import identity_of, wanted_claims
from netautod_oidc.discovery import Discovery, Metadata
from netautod_oidc.groups import claim_at, groups_of
from netautod_oidc.groups_endpoint import read_groups
from netautod_oidc.id_token import Expected, UnknownKey, verified_claims
from netautod_oidc.settings import OidcSettings
from netautod_oidc.token_endpoint import authorization_url, error_name, json_object, request_tokens

logger = logging.getLogger(__name__)
MAX_CODE = 4096
MAX_REFRESH_TOKEN = 16 * 1024


class OidcProvider:
    """The provider. Its name is that of the settings' section. `now` in seconds since 1970; tests set it."""

    looks_up: LookupOf | None = LookupOf.LOGIN

    def __init__(
        self, settings: OidcSettings, *, http: GuardedClient, now: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self.name = settings.NAME
        self.provisioning = settings.provisioning
        self.redirects = settings.redirects
        self._discovery = Discovery(settings, http=http)
        self._request_tokens = partial(request_tokens, settings, self._discovery)
        self._now = now

    async def authorize(self, attempt: RedirectAttempt) -> str:
        return authorization_url(self._settings, await self._discovery.metadata(), attempt)

    async def callback(self, attempt: RedirectAttempt, parameters: Mapping[str, str]) -> Identity:
        metadata = await self._discovery.metadata()
        code = self._code(metadata, parameters)
        try:
            grant = {"redirect_uri": attempt.callback_url, "code_verifier": attempt.code_verifier}
            tokens = await self._request_tokens("authorization_code", code=code, **grant)
        except OAuth2Error as error:
            raise LoginRefused(f"the token endpoint answered {error_name(error.error)}") from error
        claims = await self._verified(tokens.get("id_token"), self._expected(tokens, attempt.nonce))
        identity = await self._identity(claims, _access_token(tokens))
        return replace(identity, refresh_token=_refresh_token(tokens))

    async def look_up(self, user: KnownUser) -> Lookup:
        """Look a login up by its refresh token (RFC 6749 6, OpenID Connect Core 12); a new one takes its
        place.
        """
        if user.refresh_token is None:
            return Lookup()
        try:
            tokens = await self._request_tokens("refresh_token", refresh_token=user.refresh_token)
        except OAuth2Error as error:
            if 400 <= error.status_code < 500 and error.error == "invalid_grant":
                # RFC 6749 5.2: expired, revoked, or of a user who is gone. All else may be our own fault.
                raise LoginEnded("the provider has ended the login") from error
            raise ProviderUnavailable(f"the token endpoint answered {error_name(error.error)}") from error
        except LoginRefused as error:  # no JSON: the answer of another server, such as a proxy
            raise ProviderUnavailable(str(error)) from error
        try:
            identity = await self._renewed(tokens, user)
        except (LoginRefused, ProviderUnavailable) as error:
            # The token was good, and a new one may be the only good one now.
            logger.warning("the claims of a renewed login cannot be used: %s", error)
            identity = None
        return Lookup(identity=identity, refresh_token=_refresh_token(tokens))

    async def close(self) -> None:
        """Do nothing: the provider keeps no connection open."""

    def _code(self, metadata: Metadata, parameters: Mapping[str, str]) -> str:
        issuer = parameters.get("iss")
        # RFC 9207 2.4: else another provider's answer could be passed off as this one's.
        if issuer != self._settings.issuer and (issuer is not None or metadata.sends_issuer):
            raise LoginRefused("the answer is of another issuer")
        if "error" in parameters:
            raise LoginRefused(f"the provider answered {error_name(parameters['error'])}")
        code = parameters.get("code", "")
        if not 1 <= len(code) <= MAX_CODE:
            raise LoginRefused("the provider sent no code")
        return code

    async def _renewed(self, tokens: Mapping[str, Any], user: KnownUser) -> Identity | None:
        """Return the same user with the current claims; None if the provider sends none."""
        claims: dict[str, Any] = {"sub": user.external_id}
        if "id_token" in tokens:
            claims = await self._verified(tokens["id_token"], self._expected(tokens, None))
        if claims["sub"] != user.external_id:
            raise LoginRefused("the id_token is of another subject")
        elsewhere = self._settings.groups_endpoint or (await self._discovery.metadata()).userinfo_endpoint
        if "id_token" not in tokens and not elsewhere:
            return None
        return await self._identity(claims, _access_token(tokens), known_name=user.username)

    async def _identity(
        self, claims: dict[str, Any], access_token: str | None, *, known_name: str | None = None
    ) -> Identity:
        """Return the identity of the claims, with what userinfo and the endpoint of groups add to them.

        `known_name` counts if none of these names the user, as a renewed token need not (OpenID Connect Core
        12.2).
        """
        settings = self._settings
        completed = await self._completed(claims, access_token)
        groups = groups_of(completed, settings.roles_claim)
        if not groups.is_present and settings.groups_endpoint and access_token is not None:
            groups = await read_groups(settings, self._discovery, access_token)
        return identity_of(completed, settings, groups, known_name)

    def _expected(self, tokens: Mapping[str, Any], nonce: str | None) -> Expected:
        return Expected(
            issuer=self._settings.issuer,
            client_id=self._settings.client_id,
            nonce=nonce,
            algorithms=frozenset(self._settings.algorithms),
            access_token=_access_token(tokens),
        )

    async def _verified(self, token: Any, expected: Expected) -> dict[str, Any]:
        try:
            return verified_claims(token, await self._discovery.keys(), expected, self._now())
        except UnknownKey:  # the provider may have changed its keys
            keys = await self._discovery.keys(fresh=True)
            return verified_claims(token, keys, expected, self._now())

    async def _completed(self, claims: dict[str, Any], access_token: str | None) -> dict[str, Any]:
        """Add the claims of userinfo if the id_token lacks some that are needed."""
        endpoint = (await self._discovery.metadata()).userinfo_endpoint
        lacking = any(claim_at(claims, name) is None for name in wanted_claims(self._settings))
        if not lacking or endpoint is None or access_token is None:
            return claims
        headers = {"Authorization": f"Bearer {access_token}"}
        answer = await self._discovery.request(endpoint, headers=headers)
        if answer.status != 200:
            if claim_at(claims, self._settings.username_claim) is None:
                raise LoginRefused(f"userinfo answered with status {answer.status}")
            logger.warning("userinfo answered with status %d: the claims of the token count", answer.status)
            return claims
        more = json_object(answer)
        if more.get("sub") != claims["sub"]:
            # OpenID Connect Core 5.3.2: else another user's claims could be slipped in.
            raise LoginRefused("userinfo is about another user")
        return {**more, **claims}


def _access_token(tokens: Mapping[str, Any]) -> str | None:
    token = tokens.get("access_token")
    return token if isinstance(token, str) and token.isascii() else None


def _refresh_token(tokens: Mapping[str, Any]) -> str | None:
    token = tokens.get("refresh_token")
    if not isinstance(token, str) or not token.isascii() or not 1 <= len(token) <= MAX_REFRESH_TOKEN:
        return None
    return token
