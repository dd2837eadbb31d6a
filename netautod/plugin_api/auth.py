"""The contract of auth-provider plugins, and what they are given.

A provider says who a user is, and by which rules the users of its directory are admitted. The service does
the rest: lockout, the user and its roles, state and browser of a redirect login, seats, the session.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, Self, runtime_checkable

# What a browser runs or opens locally instead of going there.
_DANGEROUS = ("javascript:", "data:", "vbscript:", "file:", "blob:", "about:", "view-source:", "filesystem:")
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*://[\x21-\x7e]+")
_MAX_URI = 2048


class LoginRefused(Exception):
    """A redirect login failed at the identity provider or in its answers. The text goes to the log only."""


class ProviderUnavailable(Exception):
    """The directory or identity provider cannot be asked now. The text goes to the log only."""


class AccountEnded(Exception):
    """The directory answers, and the user is gone from it or disabled: all of the user's sessions end.

    The text says which; it goes to the audit and the log.
    """


class LoginEnded(Exception):
    """The provider has taken back one login: its session ends. The text goes to the audit and the log."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A user as the provider knows them.

    `external_ids` are the provider's own ids of the user, the most lasting one first: that one is stored, any
    of them finds the user again. `groups` are what `RoleMap` compares. `refresh_token` is what a
    `RedirectProvider` wants to be given when it looks this login up again; it is kept sealed. TypeError for
    a value of another type: a single text for `groups` would be its letters.

    `other_usernames` are further names of the same user here: one who has such a name keeps it.
    `groups_unknown` is the reason why `groups` may lack some, None if they are all: then the roles stay as
    they are, and administrators see the reason. `possible_groups` are what `groups` may mean if none of them
    is in the role map: they keep roles that the user has, and give no new ones.
    """

    username: str
    external_ids: tuple[str, ...] = ()
    email: str | None = None
    display_name: str | None = None
    groups: tuple[str, ...] = ()
    refresh_token: str | None = field(default=None, repr=False)
    other_usernames: tuple[str, ...] = ()
    groups_unknown: str | None = None
    possible_groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.username, str):
            raise TypeError("Identity.username is a text")
        for name in ("email", "display_name", "refresh_token", "groups_unknown"):
            if not isinstance(getattr(self, name), str | None):
                raise TypeError(f"Identity.{name} is a text or None")
        for name in ("external_ids", "groups", "other_usernames", "possible_groups"):
            values = getattr(self, name)
            if not isinstance(values, tuple) or not all(isinstance(value, str) for value in values):
                raise TypeError(f"Identity.{name} is a tuple of texts")


class LookupOf(Enum):
    """The kind of look-up: a user by name and id, or one login by the token that it left."""

    ACCOUNT = "account"
    LOGIN = "login"


@dataclass(frozen=True, kw_only=True)
class KnownUser:
    """A user who has logged in before. `refresh_token` is that of the login, of `LookupOf.LOGIN` alone."""

    username: str
    external_id: str | None
    refresh_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """The user is still there. Without an `identity` no more is known, and all stays as it is.

    `refresh_token` takes the place of the one that was used, if the provider gave a new one.
    """

    identity: Identity | None = None
    refresh_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class RoleMap:
    """A map of pairs: a role's name and a group that gives it.

    The roles that a map names come and go with the groups at every login; a user's other roles stay.
    """

    lines: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Parse texts `ROLE = GROUP`. ValueError for one that has another form."""
        lines = []
        for text in texts:
            role, _, group = (part.strip() for part in text.partition("="))
            if not role or not group:
                raise ValueError(f"{text!r} is not of the form ROLE = GROUP")
            lines.append((role, group))
        return cls(lines=tuple(lines))

    def __bool__(self) -> bool:
        return bool(self.lines)


@dataclass(frozen=True, kw_only=True)
class ProvisioningRules:
    """The rules of admission: which users of a directory are admitted, and with which roles.

    `auto_provision` makes a user at the first login of an unknown one: in `organization`, with
    `default_roles` and those of `role_map`. By default only users that an administrator made are admitted.
    """

    auto_provision: bool = False
    organization: str = "default"
    default_roles: tuple[str, ...] = ()
    role_map: RoleMap = field(default_factory=RoleMap)


@dataclass(frozen=True, kw_only=True)
class RedirectRules:
    """The rules of redirects: where the identity provider sends the browser back to, and where a login may
    end.

    `callback_url` is this service's `/api/auth/providers/NAME/callback` as browsers reach it, NAME being the
    provider's (of `oidc` also `/api/auth/oidc/callback`). `redirect_uris` are compared exactly (RFC 9700
    2.1); one on 127.0.0.1 or [::1] matches any port (RFC 8252 7.3). ValueError for one that is no absolute
    URI or has a fragment, wildcard, backslash or user name.
    """

    callback_url: str
    redirect_uris: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for uri in self.redirect_uris:
            mistake = _uri_mistake(uri)
            if mistake is not None:
                raise ValueError(f"{uri!r} {mistake}")


def _uri_mistake(uri: str) -> str | None:
    if not _ABSOLUTE.fullmatch(uri) or len(uri) > _MAX_URI or uri.startswith(_DANGEROUS):
        return "is not an absolute URI"
    if "#" in uri or "\\" in uri or "*" in uri:
        return "must have no fragment, backslash or wildcard"
    if "@" in uri.split("://", 1)[1].split("/", 1)[0]:
        return "must have no user name"
    return None


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """The answer of POST /api/auth/providers/NAME/test; `message` is for administrators, without secrets.

    `username` is the name here of the user who was found; the service says if it is none that users can have.
    """

    success: bool
    message: str
    username: str | None = None


@dataclass(frozen=True, kw_only=True)
class RedirectAttempt:
    """A login by redirect, the same in `authorize` and `callback`; made and bound to the browser by us.

    `callback_url` is where the identity provider sends the browser back to.
    """

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    code_verifier: str = field(repr=False)
    callback_url: str


class AuthProvider(Protocol):
    """The base of auth providers. `name` is `[a-z][a-z0-9_-]*`, 32 characters at most.

    Users belong to it by this name, and clients name it at the login. `local` is the service's own.
    """

    @property
    def name(self) -> str: ...

    @property
    def provisioning(self) -> ProvisioningRules:
        """Return which users of the directory are admitted."""
        ...

    async def close(self) -> None:
        """Close it at the stop of the service; nothing is called after it."""
        ...


@runtime_checkable
class PasswordProvider(AuthProvider, Protocol):
    """A provider that a name and a password can be shown to."""

    async def authenticate(self, username: str, password: str) -> Identity | None:
        """Return the identity, or None for anything but the right password. Raises ProviderUnavailable.

        Never blocks the event loop, and ends in bounded time whatever the directory does.
        """
        ...

    async def probe(self, username: str | None, password: str | None) -> ProbeResult:
        """Try the configuration, and with a username the look-up of that user. Raises nothing."""
        ...


@runtime_checkable
class RedirectProvider(AuthProvider, Protocol):
    """A provider that the browser is sent to."""

    @property
    def redirects(self) -> RedirectRules:
        """Return where browsers are sent, and where a login may end."""
        ...

    async def authorize(self, attempt: RedirectAttempt) -> str:
        """Return the URL to send the browser to. Raises ProviderUnavailable."""
        ...

    async def callback(self, attempt: RedirectAttempt, parameters: Mapping[str, str]) -> Identity:
        """Return the identity that came back with these query parameters. Raises LoginRefused or
        ProviderUnavailable.
        """
        ...


@runtime_checkable
class LookupProvider(AuthProvider, Protocol):
    """A provider that can say how users are who logged in earlier. Not every provider is one."""

    @property
    def looks_up(self) -> LookupOf | None:
        """Return which kind of look-up the provider can do; None: none, as it is configured."""
        ...

    async def look_up(self, user: KnownUser) -> Lookup:
        """Return the user as of now; called in the background after a refresh, every 15 minutes at most.

        Raises AccountEnded or LoginEnded only where the provider has said so. ProviderUnavailable for all
        else (no answer, half of one, no right to read): it ends nothing. Bounded as `authenticate`.
        """
        ...
