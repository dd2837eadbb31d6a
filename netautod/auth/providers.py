"""The auth providers by name: the local one, and those that are registered beside it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from netautod.errors import InvalidInput
from netautod.users.models import AUTH_PROVIDERS, LOCAL
from netautod.users.service import UserService

TITLES = {LOCAL: "Local", "ldap": "LDAP", "oidc": "OIDC"}


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Whom a provider has recognised. `external_id` is its own lasting name for him (entryUUID, subject)."""

    username: str
    external_id: str | None = None
    email: str | None = None
    display_name: str | None = None
    groups: tuple[str, ...] = ()


class PasswordProvider(Protocol):
    """A provider that a name and a password can be shown to."""

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
    def __init__(self, providers: Iterable[PasswordProvider]) -> None:
        self._providers = {provider.name: provider for provider in providers}

    def get(self, name: str) -> PasswordProvider:
        """Raises InvalidInput for one that is off."""
        if name not in self._providers:
            raise InvalidInput(f"{TITLES.get(name, name)} login is not enabled")
        return self._providers[name]

    def to_json(self) -> dict[str, Any]:
        """Always the three, each with `enabled` (decisions.md 4)."""
        listed = [{"name": name, "enabled": name in self._providers} for name in AUTH_PROVIDERS]
        return {"providers": listed}
