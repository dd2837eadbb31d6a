"""Logins by redirect, which bind the provider's answer to the browser that began the login.

The state is single-use, and of one provider: another provider's answer does not finish its login. Nonce and
PKCE verifier are derived from it and from a secret that only the browser's cookie holds, so that neither a
stolen callback URL nor a copy of the database can finish a login.
"""

import base64
import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlencode

from netautod.core.clock import Clock
from netautod.core.errors import InvalidInput, Unauthenticated, UpstreamFailed
from netautod.core.identity.caller import RequestInfo
from netautod.core.identity.refusals import TokenRefused
from netautod.core.work.answers import ANSWER_SECONDS
from netautod.identity.auth.models import ADMIN_UI, IssuedTokens
from netautod.identity.auth.pages.targets import login_page, page_to
from netautod.identity.auth.providers.calls import call_provider
from netautod.identity.auth.providers.provisioning import Provisioning
from netautod.identity.auth.redirect.store import PendingLogin, RedirectStore
from netautod.identity.auth.redirect.uris import is_listed
from netautod.identity.auth.service import AuthService
from netautod.identity.users.models import User
from netautod.plugin_api.auth import (
    AccountEnded,
    Identity,
    LoginEnded,
    LoginRefused,
    ProviderUnavailable,
    RedirectAttempt,
    RedirectProvider,
)

logger = logging.getLogger(__name__)
LIFETIME = timedelta(minutes=10)
WEB_ADDRESS = re.compile(r"https?://[\x21-\x7e]+")
NO_ANSWERS = (LoginRefused, AccountEnded, LoginEnded)
UNKNOWN = "This login has expired, was used already, or was not begun in this browser; begin again"
FAILED = "The login at the identity provider failed"
NOT_ADMITTED = "This account may not log in here"
UNAVAILABLE = "The identity provider is not available at the moment"
# The failure in the address of the login page.
FAILURES = {FAILED: "failed", NOT_ADMITTED: "refused", UNAVAILABLE: "unavailable"}


@dataclass(frozen=True, kw_only=True)
class BrowserCookie:
    """A cookie for each running login, so that two tabs do not disturb each other."""

    name: str
    value: str = field(repr=False)
    path: str
    secure: bool


@dataclass(frozen=True, kw_only=True)
class LoginStart:
    """The start of a login: where to send the browser, and which cookie it must send back."""

    url: str = field(repr=False)
    cookie: BrowserCookie


@dataclass(frozen=True, kw_only=True)
class LoginEnd:
    """The end of a login: where to send the browser; `cookie` is that of its session at the console."""

    url: str = field(repr=False)
    cookie: str | None = field(default=None, repr=False)


class RedirectLogins:
    def __init__(
        self,
        *,
        store: RedirectStore,
        auth: AuthService,
        provisioning: Provisioning,
        clock: Clock,
    ) -> None:
        self._store = store
        self._auth = auth
        self._provisioning = provisioning
        self._clock = clock

    async def begin(self, name: str, redirect_uri: str, client_type: str) -> LoginStart:
        """Begin a login.

        Raises InvalidInput for an unlisted redirect_uri or a disabled provider, NotFound for an unknown
        provider name, UpstreamFailed.
        """
        provider = self._auth.providers.redirect(name)
        if not is_listed(redirect_uri, provider.redirects.redirect_uris):
            raise InvalidInput("redirect_uri: not one of the addresses that a login may end at")
        return await self._begin(provider, client_type, redirect_uri=redirect_uri)

    async def begin_page(self, name: str, page: str) -> LoginStart:
        """Begin a login at the console, which ends with its cookie at one of our own pages
        (pages/targets.py).

        Raises as `begin`.
        """
        return await self._begin(self._auth.providers.redirect(name), ADMIN_UI, page=page_to(page))

    async def _begin(
        self, provider: RedirectProvider, client_type: str, *, redirect_uri: str = "", page: str | None = None
    ) -> LoginStart:
        name = provider.name
        state, browser = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        try:
            authorizing = provider.authorize(_attempt(provider, state, browser))
            url = await call_provider(name, authorizing, str, seconds=ANSWER_SECONDS)
        except (ProviderUnavailable, *NO_ANSWERS) as error:
            raise _unavailable(name, error) from error
        if not WEB_ADDRESS.fullmatch(url):
            raise _unavailable(name, ProviderUnavailable("it sends browsers to no address of the web"))
        await self._store.insert(
            PendingLogin(
                state_hash=_hash(state),
                browser_hash=_hash(browser),
                provider=name,
                redirect_uri=redirect_uri,
                client_type=client_type,
                expires_at=self._clock.now() + LIFETIME,
                page=page,
            )
        )
        return LoginStart(url=url, cookie=self.cookie(name, state, browser))

    async def finish(
        self,
        name: str,
        parameters: Mapping[str, str],
        cookie_of: Callable[[str], str | None],
        info: RequestInfo,
    ) -> LoginEnd:
        """Finish a login: at the listed redirect_uri with the tokens in its fragment, or at a page of our own
        with a cookie.

        It never leads to another address. Raises Unauthenticated, UpstreamFailed, or Conflict for a terminal
        without a free seat; InvalidInput and NotFound as `begin`. A failed login at the console leads back to
        its login page.
        """
        provider = self._auth.providers.redirect(name)
        state = parameters.get("state", "")
        browser = cookie_of(self.cookie(name, state, "").name) or ""
        pending = await self._store.take(name, _hash(state), _hash(browser), self._clock.now())
        if pending is None:
            raise TokenRefused(UNKNOWN)
        attempt = _attempt(provider, state, browser)
        if pending.page is None:
            return await self._end_with_tokens(provider, attempt, parameters, pending, info)
        return await self._end_at_page(provider, attempt, parameters, pending.page, info)

    async def _end_with_tokens(
        self,
        provider: RedirectProvider,
        attempt: RedirectAttempt,
        parameters: Mapping[str, str],
        pending: PendingLogin,
        info: RequestInfo,
    ) -> LoginEnd:
        identity = await self._identified(provider, attempt, parameters, info)
        # Listed when the login began; the list may have been shortened by a restart since.
        if not is_listed(pending.redirect_uri, provider.redirects.redirect_uris):
            raise TokenRefused(UNKNOWN)
        tokens = await self._auth.begin(
            await self._admitted(provider.name, identity, info),
            provider=provider.name,
            client_type=pending.client_type,
            info=info,
            provider_token=identity.refresh_token,
        )
        return LoginEnd(url=f"{pending.redirect_uri}#{_fragment(tokens)}")

    async def _end_at_page(
        self,
        provider: RedirectProvider,
        attempt: RedirectAttempt,
        parameters: Mapping[str, str],
        page: str,
        info: RequestInfo,
    ) -> LoginEnd:
        try:
            identity = await self._identified(provider, attempt, parameters, info)
            user = await self._admitted(provider.name, identity, info)
        except (Unauthenticated, UpstreamFailed) as error:
            return LoginEnd(url=login_page(page, FAILURES[error.text]))
        cookie = await self._auth.begin_console(
            user, provider=provider.name, info=info, provider_token=identity.refresh_token
        )
        return LoginEnd(url=page_to(page), cookie=cookie)

    async def _identified(
        self,
        provider: RedirectProvider,
        attempt: RedirectAttempt,
        parameters: Mapping[str, str],
        info: RequestInfo,
    ) -> Identity:
        """Return the identity that the provider confirms."""
        name = provider.name
        try:
            call = provider.callback(attempt, parameters)
            return await call_provider(name, call, Identity)
        except ProviderUnavailable as error:
            raise _unavailable(name, error) from error
        except NO_ANSWERS as error:
            logger.warning("a login through %s failed: %s", name, error)
            await self._auth.events.record_failure(name, "auth.login_failed", None, info)
            raise Unauthenticated(FAILED) from error

    def cookie(self, name: str, state: str, browser: str) -> BrowserCookie:
        """Build the cookie of a login.

        The prefix __Host- stops a neighbouring site from planting the cookie (RFC 6265bis 4.1.3.2).
        """
        callback_url = self._auth.providers.redirect(name).redirects.callback_url
        secure = callback_url.startswith("https://")
        return BrowserCookie(
            name=f"{'__Host-' if secure else ''}netautod-login-{_hash(state)[:16]}",
            value=browser,
            path="/" if secure else "/api/auth",
            secure=secure,
        )

    async def _admitted(self, name: str, identity: Identity, info: RequestInfo) -> User:
        user = await self._provisioning.user_of(name, identity)
        if user is None:
            await self._auth.events.record_failure(name, "auth.login_failed", None, info)
            raise Unauthenticated(NOT_ADMITTED)
        return user


def _attempt(provider: RedirectProvider, state: str, browser: str) -> RedirectAttempt:
    return RedirectAttempt(
        state=state,
        nonce=_derived(browser, f"nonce {state}"),
        code_verifier=_derived(browser, f"verifier {state}"),
        callback_url=provider.redirects.callback_url,
    )


def _unavailable(name: str, error: Exception) -> UpstreamFailed:
    logger.error("%s is not available: %s", name, error)
    return UpstreamFailed(UNAVAILABLE)


def _derived(secret: str, purpose: str) -> str:
    """Derive 43 characters of [A-Za-z0-9_-]: the form of a PKCE verifier (RFC 7636 4.1)."""
    digest = hmac.new(_bytes(secret), _bytes(purpose), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")


def _hash(text: str) -> str:
    return hashlib.sha256(_bytes(text)).hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _fragment(tokens: IssuedTokens) -> str:
    return urlencode(
        {
            "access_token": tokens.access_token,
            "refresh_token": tokens.refresh_token,
            "token_type": "Bearer",
            "expires_in": tokens.expires_in,
        }
    )
