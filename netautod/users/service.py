"""The rules of users: who may make whom, passwords, and what ends a user's sessions."""

from collections.abc import Iterable

from netautod.audit.service import AuditLog
from netautod.auth.passwords import PasswordHasher, check_policy
from netautod.caller import Caller
from netautod.clock import Clock
from netautod.errors import Conflict, Forbidden, InvalidInput, NotFound
from netautod.store.client import Database, Duplicate, OrgId
from netautod.store.paging import Page, PageOf
from netautod.users.models import (
    ADMIN_ROLE,
    LOCAL,
    NewUser,
    Role,
    User,
    canonical_username,
    require_username,
)
from netautod.users.store import RoleStore, UserStore

NOT_FOUND = "User not found"
USERNAME_TAKEN = "User with this username already exists"
# The actor of what the command line and the first start do; no user has this id (RFC 9562 5.9).
SYSTEM_ID = "00000000-0000-0000-0000-000000000000"


def system_caller(org_id: OrgId, username: str = "cli") -> Caller:
    """The caller for commands of whoever can read the service's own database: may do everything."""
    return Caller(user_id=SYSTEM_ID, org_id=org_id, username=username, permissions=frozenset({"*"}))


class UserService:
    """`password_min_length` is the setting of that name; it holds for new passwords only."""

    def __init__(
        self,
        database: Database,
        *,
        hasher: PasswordHasher,
        clock: Clock,
        audit: AuditLog,
        password_min_length: int,
    ) -> None:
        self._store = UserStore(database)
        self._roles = RoleStore(database)
        self._hasher = hasher
        self._clock = clock
        self._audit = audit
        self._min_length = password_min_length

    async def page(self, org_id: OrgId, page: Page) -> PageOf[User]:
        return await self._store.page(org_id, page)

    async def everyone(self) -> list[User]:
        """All users of the installation by name; for the command line."""
        return await self._store.everyone()

    async def find(self, user_id: str) -> User | None:
        return await self._store.get(user_id)

    async def by_username(self, username: str) -> User | None:
        """In any case of letters; None also for what cannot be a username."""
        canonical = canonical_username(username)
        return await self._store.by_username(canonical) if canonical else None

    async def create(self, caller: Caller, new: NewUser) -> User:
        """Makes a user in the caller's organization, with roles whose permissions the caller holds.

        Raises InvalidInput, Forbidden, or Conflict for a username or external id that is taken.
        """
        username = require_username(new.username)
        self._check_provider(new, username)
        roles = await self._granted_roles(caller, new.roles)
        hashed = await self._hasher.hash(new.password) if new.password is not None else None
        user = User.made(new, org_id=caller.org_id, username=username, roles=roles, now=self._clock.now())
        try:
            await self._store.insert(user, hashed)
        except Duplicate as error:
            taken = "external_id" in error.fields
            text = "User with this external_id already exists" if taken else USERNAME_TAKEN
            raise Conflict(text) from error
        details = {"username": username, "roles": user.role_names, "auth_provider": user.auth_provider}
        await self._audit.record(caller, "user.create", "user", user.id, details)
        return user

    async def set_password(self, caller: Caller, username: str, password: str) -> User:
        """A new password for a local user of the caller's organization; ends all of his sessions."""
        user = await self._reachable(caller, username)
        if user.auth_provider != LOCAL:
            raise InvalidInput(f"The password of {user.username} is kept by {user.auth_provider}")
        check_policy(password, user.username, self._min_length)
        if not await self._store.set_password(user, await self._hasher.hash(password), self._clock.now()):
            raise NotFound(NOT_FOUND)
        await self._audit.record(caller, "user.password_reset", "user", user.id)
        return user

    async def disable(self, caller: Caller, username: str) -> None:
        """Refuses the user from now on; raises Conflict for an organization's last active admin."""
        user = await self._reachable(caller, username)
        admin = next((role for role in user.roles if role.builtin and role.name == ADMIN_ROLE), None)
        if admin and user.is_active:
            await self._refuse_last_admin(user, admin, remaining=1)
        if not await self._store.disable(user, self._clock.now()):
            raise NotFound(NOT_FOUND)
        if admin and user.is_active:
            try:
                await self._refuse_last_admin(user, admin, remaining=0)
            except Conflict:  # two admins were disabled at the same time: this one comes back
                await self._store.enable(user, self._clock.now())
                raise
        await self._audit.record(caller, "user.disable", "user", user.id)

    async def check_password(self, user: User | None, password: str) -> bool:
        """True for the right password of a local user; one read and one hash whoever it is."""
        hashed = await self._store.password_hash(user.id if user else SYSTEM_ID)
        local = user is not None and user.auth_provider == LOCAL
        verdict = await self._hasher.verify(hashed if local else None, password)
        if verdict.ok and verdict.needs_rehash and user is not None and hashed is not None:
            await self._store.replace_hash(user.id, hashed, await self._hasher.hash(password))
        return verdict.ok

    async def revoke_refresh_tokens(self, user: User) -> None:
        """Of all his sessions, those included that are being issued at this moment."""
        await self._store.revoke_refresh_tokens(user)

    async def logged_in(self, user: User) -> None:
        await self._store.logged_in(user, self._clock.now())

    def _check_provider(self, new: NewUser, username: str) -> None:
        if new.auth_provider != LOCAL:
            if new.password is not None:
                raise InvalidInput("password: only for local users")
        elif new.external_id is not None:
            raise InvalidInput("external_id: only for users of ldap and oidc")
        elif new.password is None:
            raise InvalidInput("password: required for a local user")
        else:
            check_policy(new.password, username, self._min_length)

    async def _granted_roles(self, caller: Caller, names: Iterable[str]) -> tuple[Role, ...]:
        wanted = list(names)
        found = {role.name: role for role in await self._roles.by_names(caller.org_id, wanted)}
        for name in wanted:
            if name not in found:
                raise InvalidInput(f"roles: there is no role {name!r}")
        for role in found.values():
            if not all(caller.can(permission) for permission in role.permissions):
                raise Forbidden(f"The role {role.name!r} grants permissions that you do not hold")
        return tuple(found[name] for name in wanted)

    async def _reachable(self, caller: Caller, username: str) -> User:
        user = await self.by_username(username)
        if user is None or user.org_id != caller.org_id:
            raise NotFound(NOT_FOUND)
        if not all(caller.can(permission) for permission in user.permissions):
            raise Forbidden("This user holds permissions that you do not hold")
        return user

    async def _refuse_last_admin(self, user: User, admin: Role, *, remaining: int) -> None:
        if await self._store.active_with_role(user.org_id, admin.id) <= remaining:
            raise Conflict("The last active admin of an organization cannot be disabled")
