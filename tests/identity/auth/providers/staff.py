"""A password provider of a third name, with the people that the test puts into it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from netautod.plugin_api import (
    Identity,
    KnownUser,
    Lookup,
    LookupOf,
    ProbeResult,
    ProvisioningRules,
    RoleMap,
)

RIGHT = "the right password"
Says = Callable[[str], Awaitable[Any]]


@dataclass(kw_only=True)
class Staff:
    """A provider: the people in `people` (groups by name) log in with RIGHT; `says` answers instead, if
    set."""

    name: str = "acme-staff"
    people: dict[str, tuple[str, ...]] = field(default_factory=dict)
    says: Says | None = None
    looks_up: LookupOf | None = LookupOf.ACCOUNT
    ended: Exception | None = None
    provisioning: ProvisioningRules = field(
        default_factory=lambda: ProvisioningRules(
            auto_provision=True, default_roles=("viewer",), role_map=RoleMap.parse(["operator = ops"])
        )
    )

    async def authenticate(self, username: str, password: str) -> Identity | None:
        if self.says is not None:
            answer: Identity | None = await self.says(username)
            return answer
        if username not in self.people or password != RIGHT:
            return None
        return self.identity(username)

    def identity(self, username: str) -> Identity:
        ids, groups = (f"staff/{username}",), self.people[username]
        return Identity(username=username, external_ids=ids, groups=groups)

    async def probe(self, username: str | None, password: str | None) -> ProbeResult:
        return ProbeResult(success=username in self.people, message="looked")

    async def look_up(self, user: KnownUser) -> Lookup:
        if self.ended is not None:
            raise self.ended
        return Lookup(identity=self.identity(user.username))

    async def close(self) -> None:
        return
