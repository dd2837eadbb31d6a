"""What auth-provider plugins implement and are given; they import it from `netautod.plugin_api`.

A provider only says who somebody is. The service decides the rest: lockout, whether the user exists or may be
made, his roles, state and browser of a redirect login, seats, the session and its tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from netautod.plugin_api.host import PluginHost


class LoginRefused(Exception):
    """A redirect login failed at the identity provider or in its answers. The text goes to the log only."""


class ProviderUnavailable(Exception):
    """The directory or identity provider cannot be asked now. The text goes to the log only."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Whom a provider has recognised.

    `external_ids` are the provider's own names for him, the most lasting one first: that one is stored, any
    of them finds the user again. `groups` are what the setting `role_map` speaks of.
    """

    username: str
    external_ids: tuple[str, ...] = ()
    email: str | None = None
    display_name: str | None = None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """What POST /api/auth/ldap/test answers; `message` is for administrators and holds no secret."""

    success: bool
    message: str


@dataclass(frozen=True, kw_only=True)
class RedirectAttempt:
    """One login by redirect, the same in `authorize` and `callback`; made and bound to the browser by us.

    `callback_url` is where the identity provider sends the browser back to.
    """

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    code_verifier: str = field(repr=False)
    callback_url: str


class AuthProvider(Protocol):
    """`name` is `ldap` or `oidc`: the service lists these two beside `local`."""

    @property
    def name(self) -> str: ...

    async def close(self) -> None:
        """At the stop of the service; nothing is called after it."""
        ...


@runtime_checkable
class PasswordProvider(AuthProvider, Protocol):
    """A provider that a name and a password can be shown to."""

    async def authenticate(self, username: str, password: str) -> Identity | None:
        """None for anything but the right password. Raises ProviderUnavailable.

        Never blocks the event loop, and ends in bounded time whatever the directory does.
        """
        ...

    async def probe(self, username: str | None, password: str | None) -> ProbeResult:
        """Tries the configuration, and with a username the look-up of that user. Raises nothing."""
        ...


@runtime_checkable
class RedirectProvider(AuthProvider, Protocol):
    """A provider that the browser is sent to."""

    async def authorize(self, attempt: RedirectAttempt) -> str:
        """The URL to send the browser to. Raises ProviderUnavailable."""
        ...

    async def callback(self, attempt: RedirectAttempt, parameters: Mapping[str, str]) -> Identity:
        """Who came back with these query parameters. Raises LoginRefused or ProviderUnavailable."""
        ...


AuthHost = PluginHost  # what a provider is built from
