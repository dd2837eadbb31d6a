"""The rules of users: who may create which user, passwords, and the notification of changes."""

from collections.abc import Iterable, Mapping
from typing import Any

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, Forbidden, InvalidInput, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.registries import Followers
from netautod.identity.users.editor import NOT_FOUND, UserEditor, conflict_of
from netautod.identity.users.models import (
    LOCAL,
    Credentials,
    NewUser,
    User,
    canonical_username,
    require_username,
)
from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.identity.users.passwords.policy import PasswordPolicy
from netautod.identity.users.passwords.rules import OrganizationsById, PasswordRules
from netautod.identity.users.principals import PrincipalRules
from netautod.identity.users.provider_names import ProviderNames
from netautod.identity.users.roles.grants import RoleGrants
from netautod.identity.users.roles.store import RoleStore
from netautod.identity.users.store import UserStore


class UserService:
    """A service of users.

    `changed` is notified if permissions of a user change, `password_changed` of new passwords of existing
    users, `deleted` of deleted users. `provider_names` are those for which a user may be created.
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
        self.provider_names = ProviderNames()
        self._store = store
        self._grants = RoleGrants(roles)
        self._hasher = hasher
        self._clock = clock
        self._audit = audit
        self._principals = principals
        self._organizations = organizations
        self.passwords = PasswordRules(policy=policy, organizations=organizations)
        self._editor = UserEditor(
            store=store,
            grants=self._grants,
            hasher=hasher,
            passwords=self.passwords,
            clock=clock,
            audit=audit,
            principals=principals,
            changed=self.changed,
            password_changed=self.password_changed,
        )

    async def page(self, org_id: OrgId, page: Page) -> PageOf[User]:
        """Return one page of the users, sorted by username."""
        return await self._store.page(org_id, page)

    async def all_users(self) -> list[User]:
        """List all users of the installation by name; for the command line."""
        return await self._store.all_users()

    async def get(self, org_id: OrgId, user_id: str) -> User:
        """Return the user. Raises NotFound, also for a user of another organization."""
        return await self._editor.get(org_id, user_id)

    async def find(self, user_id: str) -> User | None:
        """Return the user, of any organization."""
        return await self._store.get(user_id)

    async def active_caller(self, org_id: OrgId, user_id: str) -> Caller | None:
        """Return the user with the current permissions; None if disabled, deleted or of another
        organization."""
        user = await self.find(user_id)
        if user is None or user.org_id != org_id or not user.is_active:
            return None
        return Caller(
            user_id=user.id,
            org_id=user.org_id,
            username=user.username,
            permissions=user.granted,
        )

    async def active_states(self, ids: Iterable[str]) -> dict[str, bool]:
        """Return whether each user is active, by id; a user who is gone is missing."""
        return await self._store.active_states(ids)

    async def find_many(self, ids: Iterable[str]) -> dict[str, User]:
        """Return users of any organization by id; unknown ids are left out."""
        return {user.id: user for user in await self._store.many(set(ids))}

    async def by_username(self, username: str) -> User | None:
        """Return the user; letters of either case. None also for text that cannot be a username."""
        canonical = canonical_username(username)
        return await self._store.by_username(canonical) if canonical else None

    async def by_external_id(self, auth_provider: str, external_id: str) -> User | None:
        """Return the user, of any organization: an entry of a directory is one user of the installation."""
        return await self._store.by_external_id(auth_provider, external_id)

    async def create(self, caller: Caller, new: NewUser) -> User:
        """Create a user in the caller's organization, with roles whose permissions the caller holds.

        Raises InvalidInput, Forbidden, or Conflict for a username or external id that is taken.
        """
        username = require_username(new.username)
        self._check_provider(new)
        roles = await self._grants.of(caller, new.roles)
        user = User.new(
            new,
            org_id=caller.org_id,
            username=username,
            roles=roles,
            ssh_principals=await self._principals.for_new_user(
                caller, username, new.ssh_principals, self._store
            ),
            now=self._clock.now(),
        )
        await self._insert(user, new.password)
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
        """Change a user by a PUT: `sent` holds fields of UserUpdate.

        Raises NotFound, InvalidInput, Forbidden or Conflict.
        """
        return await self.change(caller, await self.get(caller.org_id, user_id), sent)

    async def change(self, caller: Caller, user: User, sent: Mapping[str, Any]) -> User:
        """Change a user who was read before, as `update` does; read again only if the user has changed."""
        return await self._editor.change(caller, user, sent, "user.update")

    async def rename(self, caller: Caller, user: User, username: str) -> User:
        """Give a user of a directory the name that the directory has now. Raises Conflict if it is taken."""
        return await self._editor.rename(caller, user, username)

    async def set_password(
        self, caller: Caller, username: str, password: str, *, must_change: bool = False
    ) -> User:
        """Set the password of a local user of the caller's organization; ends all sessions of that user."""
        user = await self._named(caller, username)
        if user.auth_provider != LOCAL:
            raise InvalidInput(f"The password of {user.username} is kept by {user.auth_provider}")
        sent = {"password": password, "must_change_password": must_change}
        return await self._editor.change(caller, user, sent, "user.password_reset")

    async def disable(self, caller: Caller, username: str) -> None:
        """Disable the user from now on; raises Conflict for an organization's last active admin."""
        user = await self._named(caller, username)
        await self._editor.change(caller, user, {"is_active": False}, "user.disable")

    async def enable(self, caller: Caller, username: str) -> None:
        user = await self._named(caller, username)
        await self._editor.change(caller, user, {"is_active": True}, "user.enable")

    async def delete(self, caller: Caller, user_id: str) -> None:
        """Delete the user, whose sessions and tokens are refused from now on.

        Raises Conflict for the last active admin.
        """
        user = await self._editor.remove(caller, user_id)
        await self.changed.notify(user.org_id, user.id)
        await self.deleted.notify(user.org_id, user.id)
        await self._audit.record(caller, "user.delete", "user", user.id, {"username": user.username})

    async def credentials(self, username: str) -> Credentials:
        """Return the user with that name for a login, as `by_username` does, with the password hash.

        One read; empty for an unknown user, and for text that cannot be a username.
        """
        canonical = canonical_username(username)
        return await self._store.credentials(canonical) if canonical else Credentials()

    async def check_login(self, credentials: Credentials, password: str) -> bool:
        """Return whether it is the password of a local user. One hash, also for an unknown user."""
        user, hashed = credentials.user, credentials.password_hash
        local = user is not None and user.auth_provider == LOCAL
        verdict = await self._hasher.verify(hashed if local else None, password)
        if verdict.ok and verdict.needs_rehash and user is not None and hashed is not None:
            await self._store.replace_hash(user.id, hashed, await self._hasher.hash(password))
        return verdict.ok

    async def check_password(self, user: User | None, password: str) -> bool:
        """Return whether it is the password of a user who was read before."""
        hashed = None if user is None else await self._store.password_hash(user.id)
        return await self.check_login(Credentials(user=user, password_hash=hashed), password)

    async def set_own_password(
        self, user: User, password: str, *, kept_session_id: str, keep_api_tokens: bool
    ) -> bool:
        """Set the user's own password after the current one was checked.

        Ends all sessions but one, all refresh tokens and, unless kept, API tokens. `user` is the user as read
        before that check; returns False if that user's sessions were ended since.
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
        """Revoke those of all sessions of the user, including tokens that are being issued at this moment."""
        await self._store.revoke_refresh_tokens(user)

    async def set_group_warning(self, user: User, warning: str | None) -> bool:
        """Store why the roles cannot follow the directory, None if they do; return whether that is new."""
        return await self._store.set_group_warning(user, warning)

    async def logged_in(self, user: User) -> None:
        await self._store.logged_in(user, self._clock.now())

    async def _insert(self, user: User, password: str | None) -> None:
        hashed = None
        if password is not None:
            await self.passwords.check(user, password, field="password")
            hashed = await self._hasher.hash(password)
        try:
            await self._store.insert(user, hashed)
        except Duplicate as error:
            raise conflict_of(error) from error
        # After the write: a deletion that begins later disables whom it finds.
        organization = await self._organizations.get(user.org_id)
        if organization is not None and organization.deleting_since is not None:
            await self._store.remove(user)
            raise Conflict("The organization is being deleted")

    def _check_provider(self, new: NewUser) -> None:
        self.provider_names.require(new.auth_provider)
        if new.auth_provider != LOCAL:
            if new.password is not None:
                raise InvalidInput("password: only for local users")
            if new.must_change_password:
                raise InvalidInput("must_change_password: only for local users")
        elif new.external_id is not None:
            raise InvalidInput("external_id: only for users of another provider than local")
        elif new.password is None:
            raise InvalidInput("password: required for a local user")

    async def _named(self, caller: Caller, username: str) -> User:
        user = await self.by_username(username)
        if user is None or user.org_id != caller.org_id:
            raise NotFound(NOT_FOUND)
        return user
