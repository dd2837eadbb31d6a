"""The rules of users: who may make and change which user, passwords, and what ends sessions."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from netautod.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, Forbidden, InvalidInput, NotFound
from netautod.core.identity import SYSTEM_ID, Caller, OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.registries import Followers
from netautod.users.change import UserChange, change_of
from netautod.users.models import (
    LOCAL,
    NewUser,
    Organization,
    Role,
    User,
    canonical_username,
    require_username,
)
from netautod.users.passwords.hashing import PasswordHasher
from netautod.users.passwords.policy import PasswordOwner, PasswordPolicy
from netautod.users.principals import GRANT, PrincipalRules
from netautod.users.rank import require_rank
from netautod.users.roles.grants import RoleGrants
from netautod.users.roles.store import RoleStore
from netautod.users.store import UserStore

NOT_FOUND = "User not found"
USERNAME_TAKEN = "User with this username already exists"
EXTERNAL_ID_TAKEN = "User with this external_id already exists"
LAST_ADMIN = "The last active admin of an organization cannot be disabled, deleted or lose the role admin"
AUDITED = ("is_active", "ssh_principals")  # changes whose new value the audit tells
BUSY = "The user is being changed by other requests; try again"
ATTEMPTS = 5


class OrganizationsById(Protocol):
    """The organizations, as far as users ask for them."""

    async def get(self, org_id: OrgId) -> Organization | None: ...


class UserService:
    """`changed` is told of changes in what a user may do, `password_changed` of new passwords of users who
    existed, `deleted` of deleted users.
    """

    def __init__(
        self,
        *,
        store: UserStore,
        roles: RoleStore,
        hasher: PasswordHasher,
        clock: Clock,
        audit: AuditLog,
        organizations: OrganizationsById,
        policy: PasswordPolicy,
        principals: PrincipalRules,
    ) -> None:
        self.changed = Followers()
        self.password_changed = Followers()
        self.deleted = Followers()
        self._store = store
        self._grants = RoleGrants(roles)
        self._hasher = hasher
        self._clock = clock
        self._audit = audit
        self._organizations = organizations
        self._policy = policy
        self._principals = principals

    async def page(self, org_id: OrgId, page: Page) -> PageOf[User]:
        """Sorted by username."""
        return await self._store.page(org_id, page)

    async def everyone(self) -> list[User]:
        """All users of the installation by name; for the command line."""
        return await self._store.everyone()

    async def get(self, org_id: OrgId, user_id: str) -> User:
        """Raises NotFound, also for a user of another organization."""
        user = await self._store.get(user_id)
        if user is None or user.org_id != org_id:
            raise NotFound(NOT_FOUND)
        return user

    async def find(self, user_id: str) -> User | None:
        """Of any organization."""
        return await self._store.get(user_id)

    async def active_caller(self, org_id: OrgId, user_id: str) -> Caller | None:
        """The user with the permissions of now; None if disabled, deleted or of another organization."""
        user = await self.find(user_id)
        if user is None or user.org_id != org_id or not user.is_active:
            return None
        return Caller(
            user_id=user.id,
            org_id=user.org_id,
            username=user.username,
            permissions=frozenset(user.permissions),
        )

    async def find_many(self, ids: Iterable[str]) -> dict[str, User]:
        """By id, of any organization; unknown ids are left out."""
        return {user.id: user for user in await self._store.many(set(ids))}

    async def by_username(self, username: str) -> User | None:
        """In any case of letters; None also for what cannot be a username."""
        canonical = canonical_username(username)
        return await self._store.by_username(canonical) if canonical else None

    async def by_external_id(self, auth_provider: str, external_id: str) -> User | None:
        """Of any organization: an entry of a directory is one user of the installation."""
        return await self._store.by_external_id(auth_provider, external_id)

    async def create(self, caller: Caller, new: NewUser) -> User:
        """Makes a user in the caller's organization, with roles whose permissions the caller holds.

        Raises InvalidInput, Forbidden, or Conflict for a username or external id that is taken.
        """
        username = require_username(new.username)
        self._check_provider(new)
        roles = await self._grants.of(caller, new.roles)
        user = User.made(
            new,
            org_id=caller.org_id,
            username=username,
            roles=roles,
            ssh_principals=self._principals.at_creation(caller, username, new.ssh_principals),
            now=self._clock.now(),
        )
        hashed = None
        if new.password is not None:
            await self.check_policy(user, new.password, field="password")
            hashed = await self._hasher.hash(new.password)
        try:
            await self._store.insert(user, hashed)
        except Duplicate as error:
            raise _taken(error) from error
        try:
            await self._grants.confirm(caller, roles)
        except (InvalidInput, Forbidden):
            await self._store.remove(user)
            raise
        details = {
            "username": username,
            "roles": user.role_names,
            "auth_provider": user.auth_provider,
            "ssh_principals": list(user.ssh_principals),
        }
        await self._audit.record(caller, "user.create", "user", user.id, details)
        return user

    async def update(self, caller: Caller, user_id: str, sent: Mapping[str, Any]) -> User:
        """A PUT: `sent` holds fields of UserUpdate. Raises NotFound, InvalidInput, Forbidden or Conflict."""
        return await self._change(caller, await self.get(caller.org_id, user_id), sent, "user.update")

    async def set_password(
        self, caller: Caller, username: str, password: str, *, must_change: bool = False
    ) -> User:
        """A new password for a local user of the caller's organization; ends all sessions of that user."""
        user = await self._named(caller, username)
        if user.auth_provider != LOCAL:
            raise InvalidInput(f"The password of {user.username} is kept by {user.auth_provider}")
        sent = {"password": password, "must_change_password": must_change}
        return await self._change(caller, user, sent, "user.password_reset")

    async def disable(self, caller: Caller, username: str) -> None:
        """Refuses the user from now on; raises Conflict for an organization's last active admin."""
        user = await self._named(caller, username)
        await self._change(caller, user, {"is_active": False}, "user.disable")

    async def enable(self, caller: Caller, username: str) -> None:
        user = await self._named(caller, username)
        await self._change(caller, user, {"is_active": True}, "user.enable")

    async def delete(self, caller: Caller, user_id: str) -> None:
        """The user's sessions and tokens are refused from now on. Conflict for the last active admin."""
        for _ in range(ATTEMPTS):
            user = await self.get(caller.org_id, user_id)
            require_rank(caller, user)
            leaving = None
            if user.admin_role is not None and user.is_active:
                leaving = await self._leave(user, user.admin_role)
            if await self._store.remove(user, leaving=leaving):
                break
        else:
            raise Conflict(BUSY)
        await self.changed.notify(user.org_id, user.id)
        await self.deleted.notify(user.org_id, user.id)
        await self._audit.record(caller, "user.delete", "user", user.id, {"username": user.username})

    async def check_password(self, user: User | None, password: str) -> bool:
        """True for the right password of a local user. One read and one hash, also for an unknown user."""
        hashed = await self._store.password_hash(user.id if user else SYSTEM_ID)
        local = user is not None and user.auth_provider == LOCAL
        verdict = await self._hasher.verify(hashed if local else None, password)
        if verdict.ok and verdict.needs_rehash and user is not None and hashed is not None:
            await self._store.replace_hash(user.id, hashed, await self._hasher.hash(password))
        return verdict.ok

    async def check_policy(self, user: User, password: str, *, field: str) -> None:
        """Raises InvalidInput naming the field."""
        organization = await self._organizations.get(user.org_id)
        owner = PasswordOwner(
            username=user.username,
            organization=organization.name if organization else "",
            email=user.email,
            display_name=user.display_name,
        )
        await self._policy.check(password, owner, field=field)

    async def set_own_password(
        self, user: User, password: str, *, kept_session_id: str, keep_api_tokens: bool
    ) -> bool:
        """After the current one was checked: ends all sessions but one, all refresh tokens and API tokens.

        `user` as read before that check; False if that user's sessions were ended since.
        """
        hashed = await self._hasher.hash(password)
        changed = await self._store.set_own_password(
            user,
            hashed,
            self._clock.now(),
            kept_session_id=kept_session_id,
            keep_api_tokens=keep_api_tokens,
        )
        await self.changed.notify(user.org_id, user.id)
        if changed:
            await self.password_changed.notify(user.org_id, user.id)
        return changed

    async def revoke_refresh_tokens(self, user: User) -> None:
        """Of all sessions of the user, including tokens that are being issued at this moment."""
        await self._store.revoke_refresh_tokens(user)

    async def logged_in(self, user: User) -> None:
        await self._store.logged_in(user, self._clock.now())

    async def _change(self, caller: Caller, user: User, sent: Mapping[str, Any], action: str) -> User:
        hashed: str | None = None
        for _ in range(ATTEMPTS):
            require_rank(caller, user)
            change = change_of(user, sent)
            if caller.user_id == user.id:
                change.refuse_for_oneself()
            change = self._with_principals(caller, user, change)
            roles = None if change.roles is None else await self._grants.of(caller, change.roles)
            if not change.fields:
                return user
            if change.password is not None and hashed is None:
                await self.check_policy(user, change.password, field="password")
                hashed = await self._hasher.hash(change.password)
            if await self._write(caller, user, change, roles, hashed):
                break
            user = await self.get(user.org_id, user.id)
        else:
            raise Conflict(BUSY)
        await self.changed.notify(user.org_id, user.id)
        if hashed is not None:
            await self.password_changed.notify(user.org_id, user.id)
        details: dict[str, Any] = {"username": user.username, "fields": change.fields}
        if roles is not None:
            details |= {"roles": sorted(role.name for role in roles), "old_roles": user.role_names}
        details |= {name: change.values[name] for name in AUDITED if name in change.values}
        await self._audit.record(caller, action, "user", user.id, details)
        return await self.get(user.org_id, user.id)

    def _with_principals(self, caller: Caller, user: User, change: UserChange) -> UserChange:
        """The change with the principals that it may write, or that it takes away: who may not give them is
        not to get them by a password that he set."""
        wanted = change.values.get("ssh_principals")
        if wanted is not None:
            written = self._principals.written(caller, wanted)
        elif change.ends_api_tokens and user.ssh_principals and not caller.can(GRANT):
            written = ()
        else:
            return change
        return replace(change, values={**change.values, "ssh_principals": written})

    async def _write(
        self,
        caller: Caller,
        user: User,
        change: UserChange,
        roles: tuple[Role, ...] | None,
        hashed: str | None,
    ) -> bool:
        """False if another request changed the user meanwhile: then everything has to be decided again."""
        values = dict(change.values)
        if hashed is not None:
            values |= {"password_hash": hashed, "password_changed_at": self._clock.now()}
        if roles is not None:
            values["role_ids"] = [role.id for role in roles]
        leaving = None
        if user.admin_role is not None and change.ends_admin(user):
            leaving = await self._leave(user, user.admin_role)
        try:
            written = await self._store.change(
                user,
                values,
                self._clock.now(),
                ends_sessions=change.ends_sessions,
                ends_api_tokens=change.ends_api_tokens,
                leaving=leaving,
            )
        except Duplicate as error:
            raise _taken(error) from error
        if written and roles is not None:
            await self._keep_roles(caller, user, roles)
        return written

    async def _leave(self, user: User, admin: Role) -> str | None:
        """The mark under which an active admin may cease to be one. Raises Conflict for the last one."""
        token = await self._store.mark_leaving(user)
        if token is not None and not await self._store.other_admins(user, admin.id):
            await self._store.unmark_leaving(user, token)
            raise Conflict(LAST_ADMIN)
        return token

    async def _keep_roles(self, caller: Caller, before: User, roles: Iterable[Role]) -> None:
        """Gives the old roles back if one of the new ones is being removed or widened at this moment."""
        try:
            await self._grants.confirm(caller, roles)
        except (InvalidInput, Forbidden):
            after = await self.get(before.org_id, before.id)
            old = {"role_ids": [role.id for role in before.roles]}
            await self._store.change(after, old, self._clock.now())
            raise

    def _check_provider(self, new: NewUser) -> None:
        if new.auth_provider != LOCAL:
            if new.password is not None:
                raise InvalidInput("password: only for local users")
            if new.must_change_password:
                raise InvalidInput("must_change_password: only for local users")
        elif new.external_id is not None:
            raise InvalidInput("external_id: only for users of ldap and oidc")
        elif new.password is None:
            raise InvalidInput("password: required for a local user")

    async def _named(self, caller: Caller, username: str) -> User:
        user = await self.by_username(username)
        if user is None or user.org_id != caller.org_id:
            raise NotFound(NOT_FOUND)
        return user


def _taken(error: Duplicate) -> Conflict:
    return Conflict(EXTERNAL_ID_TAKEN if "external_id" in error.fields else USERNAME_TAKEN)
