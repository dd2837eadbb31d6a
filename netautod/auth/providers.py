"""The auth providers by name: the local one, and those that plugins register beside it."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from netautod.core.errors import InvalidInput
from netautod.plugin_api.auth import (
    AuthProvider,
    Identity,
    LookupProvider,
    PasswordProvider,
    ProvisioningRules,
    RedirectProvider,
)
from netautod.users.models import AUTH_PROVIDERS, LDAP, LOCAL, OIDC
from netautod.users.service import UserService

TITLES = {LOCAL: "Local", LDAP: "LDAP", OIDC: "OIDC"}


class PasswordLogin(Protocol):
    """What a login with a name and a password needs of a provider."""

    @property
    def name(self) -> str: ...

    async def authenticate(self, username: str, password: str) -> Identity | None:
        """None for anything but the right password; unknown names take as long as known ones."""
        ...


class LocalProvider:
    """The built-in user database."""

    name = LOCAL

    def __init__(self, users: UserService) -> None:
        self._users = users

    async def authenticate(self, username: str, password: str) -> Identity | None:
        user = await self._users.by_username(username)
        if not await self._users.check_password(user, password) or user is None:
            return None
        return Identity(username=user.username)


class Providers:
    """Asking for a provider that is off, or of the other kind, raises InvalidInput."""

    def __init__(self, local: Iterable[PasswordLogin], plugins: Iterable[AuthProvider] = ()) -> None:
        self._plugins = {provider.name: provider for provider in plugins}
        self._password: dict[str, PasswordLogin] = {provider.name: provider for provider in local}
        for name, provider in self._plugins.items():
            if isinstance(provider, PasswordProvider):
                self._password[name] = provider

    @property
    def provisioning(self) -> Mapping[str, ProvisioningRules]:
        """By which rules the users of each plugin's directory are admitted, by provider."""
        return {name: provider.provisioning for name, provider in self._plugins.items()}

    def get(self, name: str) -> PasswordLogin:
        if name not in self._password:
            raise _off(name)
        return self._password[name]

    def testable(self, name: str) -> PasswordProvider:
        found = self._plugins.get(name)
        if not isinstance(found, PasswordProvider):
            raise _off(name)
        return found

    def redirect(self, name: str) -> RedirectProvider:
        found = self._plugins.get(name)
        if not isinstance(found, RedirectProvider):
            raise _off(name)
        return found

    def looking_up(self, name: str) -> LookupProvider | None:
        """The provider of that name if it can look users up again, as it is configured."""
        found = self._plugins.get(name)
        return found if isinstance(found, LookupProvider) and found.looks_up is not None else None

    async def close(self) -> None:
        for provider in self._plugins.values():
            await provider.close()

    @property
    def enabled(self) -> dict[str, bool]:
        """All providers there are by name, and whether each is enabled."""
        return {name: name in {*self._password, *self._plugins} for name in AUTH_PROVIDERS}


def _off(name: str) -> InvalidInput:
    return InvalidInput(f"{TITLES.get(name, name)} login is not enabled")
