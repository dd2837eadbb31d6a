"""The auth providers by name: the local one, and those that plugins register beside it."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netautod.core.errors import InvalidInput, NotFound
from netautod.core.work.plugin_calls import no_exit
from netautod.identity.users.models import AUTH_PROVIDERS, LDAP, LOCAL, OIDC, Credentials, User
from netautod.identity.users.service import UserService
from netautod.plugin_api.auth import (
    AuthProvider,
    LookupProvider,
    PasswordProvider,
    ProvisioningRules,
    RedirectProvider,
)

logger = logging.getLogger(__name__)
TITLES = {LOCAL: "Local", LDAP: "LDAP", OIDC: "OIDC"}
PASSWORD, REDIRECT = "password", "redirect"
KINDS = (PASSWORD, REDIRECT)
# Of those that are listed also while they are off.
BUILT_IN_KINDS = {LOCAL: (PASSWORD,), LDAP: (PASSWORD,), OIDC: (REDIRECT,)}
CLOSE_SECONDS = 200.0  # a login that is under way may take so long


@dataclass(frozen=True, kw_only=True)
class ProviderEntry:
    """A provider for the list. `kinds`: whether a login uses a password, a redirect of the browser, or
    either.
    """

    name: str
    enabled: bool
    kinds: tuple[str, ...]

    @property
    def title(self) -> str:
        """Return the name that people see."""
        return TITLES.get(self.name, self.name)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "enabled": self.enabled, "kinds": list(self.kinds)}


class LocalProvider:
    """The built-in user database."""

    name = LOCAL

    def __init__(self, users: UserService) -> None:
        self._users = users

    async def authenticate(self, credentials: Credentials, password: str) -> User | None:
        """Return the user, None for a wrong password; unknown names take as long as known ones."""
        return credentials.user if await self._users.check_login(credentials, password) else None


PasswordLogin = LocalProvider | PasswordProvider


class Providers:
    """The registered providers. Access to one that is disabled, or of the other kind, raises InvalidInput."""

    def __init__(self, local: Iterable[LocalProvider], plugins: Iterable[AuthProvider] = ()) -> None:
        self._plugins = {provider.name: provider for provider in plugins}
        self._password: dict[str, PasswordLogin] = {provider.name: provider for provider in local}
        for name, provider in self._plugins.items():
            if isinstance(provider, PasswordProvider):
                self._password[name] = provider

    @property
    def provisioning(self) -> Mapping[str, ProvisioningRules]:
        """Return the rules by which users of each plugin's directory are admitted, by provider."""
        return {name: provider.provisioning for name, provider in self._plugins.items()}

    @property
    def names(self) -> Sequence[str]:
        """Return the fixed names, in their order, then those of plugins, sorted."""
        return (*AUTH_PROVIDERS, *sorted(set(self._plugins) - set(AUTH_PROVIDERS)))

    def get(self, name: str) -> PasswordLogin:
        if name not in self._password:
            raise InvalidInput(self._why_not(name, "takes no password: its logins begin in a browser"))
        return self._password[name]

    def testable(self, name: str) -> PasswordProvider:
        """Return the provider if it can be tested. Raises NotFound for an unknown name."""
        self.require_known(name)
        found = self._plugins.get(name)
        if not isinstance(found, PasswordProvider):
            raise InvalidInput(self._why_not(name, "cannot be tried out"))
        return found

    def redirect(self, name: str) -> RedirectProvider:
        """Return the provider for logins by redirect. Raises NotFound for an unknown name."""
        self.require_known(name)
        found = self._plugins.get(name)
        if not isinstance(found, RedirectProvider):
            raise InvalidInput(self._why_not(name, "takes a password: its logins need no redirect"))
        return found

    def require_known(self, name: str) -> None:
        if name not in self.names:
            raise NotFound(_unknown(name))

    def looking_up(self, name: str) -> LookupProvider | None:
        """Return the provider of that name if it can look users up again, as it is configured."""
        found = self._plugins.get(name)
        if not isinstance(found, LookupProvider):
            return None
        try:
            with no_exit():
                return None if found.looks_up is None else found
        except Exception:  # an exception of a plugin ends no refresh
            logger.exception("the auth provider %s failed to say what it looks up", name)
            return None

    async def close(self) -> None:
        """Close all providers; a failure of one does not stop the others."""
        for name, provider in self._plugins.items():
            try:
                with no_exit():
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await provider.close()
            except Exception:  # it may fail in any way
                logger.exception("the auth provider %s could not be closed", name)

    @property
    def entries(self) -> Sequence[ProviderEntry]:
        """Return all providers in the order of `names`."""
        return [
            ProviderEntry(name=name, enabled=self.enabled[name], kinds=self._kinds(name))
            for name in self.names
        ]

    @property
    def enabled(self) -> dict[str, bool]:
        """Return all provider names, and whether each is enabled."""
        return {name: name in {*self._password, *self._plugins} for name in self.names}

    def _kinds(self, name: str) -> tuple[str, ...]:
        found = self._plugins.get(name)
        if found is None:
            return BUILT_IN_KINDS[name]
        does = (isinstance(found, PasswordProvider), isinstance(found, RedirectProvider))
        return tuple(kind for kind, is_one in zip(KINDS, does, strict=True) if is_one)

    def _why_not(self, name: str, of_other_kind: str) -> str:
        if name not in self.names:
            return _unknown(name)
        title = TITLES.get(name, name)
        return f"{title} {of_other_kind}" if name in self._plugins else f"{title} login is not enabled"


def _unknown(name: str) -> str:
    return f"There is no auth provider {name[:64]!r}"
