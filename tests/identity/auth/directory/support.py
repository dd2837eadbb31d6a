"""A directory whose answers the test sets."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from netautod.plugin_api import (
    Identity,
    KnownUser,
    Lookup,
    LookupOf,
    ProbeResult,
    ProvisioningRules,
    RoleMap,
)


def there(*groups: str, entry: str = "entry-1") -> Lookup:
    return Lookup(identity=Identity(username="ada", external_ids=(entry,), groups=groups))


@dataclass(kw_only=True)
class Directory:
    """A provider that answers with `says`, once `open` is set."""

    name: str = "ldap"
    looks_up: LookupOf | None = LookupOf.ACCOUNT
    says: Callable[[], Lookup] = there
    lookups: list[KnownUser] = field(default_factory=list)
    open: asyncio.Event = field(default_factory=asyncio.Event)
    began: asyncio.Event = field(default_factory=asyncio.Event)
    provisioning: ProvisioningRules = field(
        default_factory=lambda: ProvisioningRules(role_map=RoleMap.parse(["operator = ops", "admin = root"]))
    )

    def __post_init__(self) -> None:
        self.open.set()

    async def authenticate(self, username: str, password: str) -> Identity | None:
        return Identity(username=username, external_ids=("entry-1",))

    async def probe(self, username: str | None, password: str | None) -> ProbeResult:
        return ProbeResult(success=True, message="")

    async def look_up(self, user: KnownUser) -> Lookup:
        self.lookups.append(user)
        self.began.set()
        await self.open.wait()
        return self.says()

    async def close(self) -> None:
        return


def raising(error: Exception) -> Callable[[], Lookup]:
    def raised() -> Lookup:
        raise error

    return raised
