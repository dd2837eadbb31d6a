"""The provider's metadata (OpenID Connect Discovery): its endpoints and keys, kept for an hour."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from netautod.plugin_api import (
    AddressRefused,
    GuardedClient,
    OutboundAnswer,
    OutboundRequest,
    ProviderUnavailable,
    RequestFailed,
    TlsPolicy,
)
from netautod_oidc.keys import KeySet
from netautod_oidc.settings import OidcSettings

WELL_KNOWN = "/.well-known/openid-configuration"
MAX_AGE = 3600.0
FAILURE_AGE = 2.0
MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """The members of these names; None for those that the provider does not send."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    client_authentication: tuple[str, ...]
    sends_issuer: bool


class Discovery:
    """A reader of the metadata. Every request to the provider goes through `request`."""

    def __init__(
        self,
        settings: OidcSettings,
        *,
        http: GuardedClient,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._http = http
        self._monotonic = monotonic
        self._reading = asyncio.Lock()
        self._metadata: tuple[float, Metadata] | None = None
        self._keys: tuple[float, KeySet] | None = None
        self._failed: tuple[float, str] | None = None

    async def request(
        self, url: str, *, headers: Mapping[str, str], body: bytes | None = None
    ) -> OutboundAnswer:
        """Send a GET, or a POST with a body. Raises ProviderUnavailable, also for the statuses from 500
        on."""
        outgoing = OutboundRequest(
            url=url,
            method="GET" if body is None else "POST",
            headers={"Accept": "application/json", **headers},
            body=body,
            timeout_seconds=self._settings.timeout_seconds,
            max_bytes=MAX_BYTES,
            tls=TlsPolicy(ca_file=self._settings.ca_file),
        )
        try:
            answer = await self._http.fetch(outgoing)
        except (AddressRefused, RequestFailed) as error:
            raise ProviderUnavailable(error.text) from error
        if answer.status >= 500:
            raise ProviderUnavailable(f"{urlsplit(url).netloc} answered with status {answer.status}")
        return answer

    async def metadata(self) -> Metadata:
        """Return the metadata. Raises ProviderUnavailable if it cannot be read, or is that of another
        issuer."""
        async with self._reading:
            if self._metadata is None or self._old(self._metadata[0]):
                self._metadata = self._monotonic(), await self._read()
            return self._metadata[1]

    async def keys(self, *, fresh: bool = False) -> KeySet:
        """Return the keys. `fresh`: read them anew, because a token is signed with an unknown one."""
        uri = (await self.metadata()).jwks_uri
        async with self._reading:
            if fresh or self._keys is None or self._old(self._keys[0]):
                self._keys = self._monotonic(), KeySet.parse(await self._document(uri))
            return self._keys[1]

    async def _read(self) -> Metadata:
        if self._failed is not None and self._monotonic() - self._failed[0] < FAILURE_AGE:
            # Callers that waited for the same request fail with it, not one time-out after the other.
            raise ProviderUnavailable(self._failed[1])
        try:
            return self._parsed(await self._document(self._settings.issuer.rstrip("/") + WELL_KNOWN))
        except ProviderUnavailable as error:
            self._failed = self._monotonic(), str(error)
            raise

    def _old(self, read_at: float) -> bool:
        return self._monotonic() - read_at >= MAX_AGE

    async def _document(self, url: str) -> Mapping[str, Any]:
        answer = await self.request(url, headers={})
        try:
            document = answer.json() if answer.status == 200 else None
        except RequestFailed as error:
            raise ProviderUnavailable(error.text) from error
        if not isinstance(document, dict):
            raise ProviderUnavailable(f"{url} answered with status {answer.status} and no JSON object")
        return document

    def _parsed(self, document: Mapping[str, Any]) -> Metadata:
        if document.get("issuer") != self._settings.issuer:
            # OpenID Connect Discovery 4.3: it must be identical, or another server may be answering.
            raise ProviderUnavailable("the provider's issuer differs from oidc.issuer")
        methods = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return Metadata(
            authorization_endpoint=self._endpoint(document, "authorization_endpoint"),
            token_endpoint=self._endpoint(document, "token_endpoint"),
            jwks_uri=self._endpoint(document, "jwks_uri"),
            userinfo_endpoint=(
                self._endpoint(document, "userinfo_endpoint") if "userinfo_endpoint" in document else None
            ),
            client_authentication=tuple(methods) if isinstance(methods, list) else (),
            sends_issuer=document.get("authorization_response_iss_parameter_supported") is True,
        )

    def _endpoint(self, document: Mapping[str, Any], name: str) -> str:
        url = document.get(name)
        # In clear only where the issuer is: the settings allow that on this machine alone.
        schemes = ("https://", "http://") if self._settings.issuer.startswith("http://") else ("https://",)
        if not isinstance(url, str) or not url.startswith(schemes) or not url.isprintable() or "#" in url:
            raise ProviderUnavailable(f"the provider has no valid {name}")
        return url
