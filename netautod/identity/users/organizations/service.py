"""The creation of organizations: the organization, its built-in roles and its first administrator.

The three are separate documents. An organization is `ready` only when all exist, and every step may be
repeated: the next start or call that finds one that is not ready finishes it.
"""

import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, InvalidInput, NotFound
from netautod.core.identity.caller import OrgId, system_caller
from netautod.identity.users.editor import USERNAME_TAKEN
from netautod.identity.users.models import (
    ADMIN_ROLE,
    BUILTIN_ROLES,
    LOCAL,
    NewUser,
    Organization,
    Role,
    User,
    require_username,
)
from netautod.identity.users.organizations.store import OrganizationStore
from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.identity.users.passwords.policy import PasswordOwner, PasswordPolicy
from netautod.identity.users.principals import PrincipalRules
from netautod.identity.users.roles.store import RoleStore
from netautod.identity.users.store import UserStore

logger = logging.getLogger(__name__)
DEFAULT = "default"
FIRST_ADMIN = "admin"
ADMIN_PASSWORD = "NETAUTOD_ADMIN_PASSWORD"
NOT_FOUND = "Organization not found"
DEFAULT_STAYS = (
    "The organization default cannot be deleted: the installation's own administrator and its audit are there"
)
NAME_TAKEN = "Organization with this name already exists"
# Without 0 O 1 l I, which look alike; 20 of these 57 characters are 116 bits.
ALPHABET = "23456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
GENERATED_LENGTH = 20


def generated_password() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(GENERATED_LENGTH))


@dataclass(frozen=True, kw_only=True)
class CreatedOrganization:
    """A created organization. `generated_password` is None if the caller set it; it is shown once, not
    stored.
    """

    organization: Organization
    admin: str
    generated_password: str | None = field(repr=False)


class OrganizationService:
    def __init__(
        self,
        *,
        store: OrganizationStore,
        roles: RoleStore,
        users: UserStore,
        hasher: PasswordHasher,
        clock: Clock,
        audit: AuditLog,
        policy: PasswordPolicy,
        principals: PrincipalRules,
    ) -> None:
        self._store = store
        self._roles = roles
        self._users = users
        self._hasher = hasher
        self._clock = clock
        self._audit = audit
        self._policy = policy
        self._principals = principals
        self._default_id: OrgId | None = None

    async def all(self) -> list[Organization]:
        return await self._store.all()

    async def by_name(self, name: str) -> Organization:
        """Return the organization. Raises NotFound, or Conflict for one that is being deleted."""
        found = await self._store.by_name(name.strip())
        if found is None:
            raise NotFound(NOT_FOUND)
        _refuse_deleted(found)
        return found

    async def default_id(self) -> OrgId:
        """Return the id of the organization that the first start created; read once, it never changes."""
        if self._default_id is None:
            self._default_id = (await self.by_name(DEFAULT)).id
        return self._default_id

    async def create_organization(
        self, name: str, *, admin: str, password: str | None = None
    ) -> CreatedOrganization:
        """Create an organization for `netautod org create`. Without a password one is generated.

        A second call after a crash finishes the work, and its password is used. Raises InvalidInput, or
        Conflict for a name or a username that is taken.
        """
        name, username = _require_name(name), require_username(admin)
        admin_password = password or generated_password()
        if password:
            await self.check_admin_password(password, PasswordOwner(username=username, organization=name))
        await self._refuse_taken(name, username)
        organization = await self.begin(name)
        _refuse_deleted(organization)
        if organization.ready:
            raise Conflict(NAME_TAKEN)
        hashed = await self._hasher.hash(admin_password)
        if not await self.add_admin(organization, username, hashed):
            existing = await self._users.by_username(username)
            if existing is None or existing.org_id != organization.id:
                raise Conflict(USERNAME_TAKEN)
            # An earlier call died after the insert, before it could print the password that it generated.
            change = {"password_hash": hashed}
            if not await self._users.change(existing, change, self._clock.now(), ends_sessions=True):
                raise Conflict("The organization is being created by another call")
        await self.finish(organization, "cli")
        return CreatedOrganization(
            organization=organization, admin=username, generated_password=None if password else admin_password
        )

    async def check_admin_password(
        self, password: str, owner: PasswordOwner, *, field: str = ADMIN_PASSWORD
    ) -> None:
        """Check a first administrator's password; raises InvalidInput for one of the wrong form.

        A weak one is accepted with a warning, so that an installation that starts with it today starts with
        it tomorrow.
        """
        await self._policy.check_form(password, owner.username, field=field)
        weakness = await self._policy.weakness(password, owner)
        if weakness is not None:
            logger.warning("%s of %s %s: change it", field, owner.username, weakness)

    async def begin(self, name: str) -> Organization:
        """Return the organization of that name with its built-in roles; create it (not ready) if there is
        none.
        """
        organization = await self._store.by_name(name)
        if organization is None:
            organization = Organization(
                id=OrgId(str(uuid4())), name=name, ready=False, created_at=self._clock.now()
            )
            try:
                await self._store.insert(organization)
            except Duplicate:  # another node was first
                organization = await self.by_name(name)
        if not organization.ready and organization.deleting_since is None:
            await self._roles.insert_missing(organization.id, self._builtin(organization.id))
        return organization

    async def add_admin(self, organization: Organization, username: str, hashed: str) -> bool:
        """Insert the first administrator; return False if the username exists already."""
        roles = await self._roles.by_names(organization.id, [ADMIN_ROLE])
        new = NewUser(username=username, roles=(ADMIN_ROLE,))
        now = self._clock.now()
        principals = await self._principals.default(username, self._users)
        user = User.new(
            new,
            org_id=organization.id,
            username=username,
            roles=roles,
            ssh_principals=principals,
            now=now,
        )
        try:
            await self._users.insert(user, hashed)
        except Duplicate:
            return False
        details = {"username": username, "roles": user.role_names, "auth_provider": LOCAL}
        await self._audit.record(system_caller(organization.id), "user.create", "user", user.id, details)
        return True

    async def finish(self, organization: Organization, actor: str) -> None:
        """Mark the organization as ready: from now on its creation is not repeated."""
        await self._store.set_ready(organization.id)
        caller = system_caller(organization.id, actor)
        details = {"name": organization.name}
        await self._audit.record(caller, "organization.create", "organization", organization.id, details)

    async def deletable(self, name: str) -> Organization:
        """Return the organization, also if its deletion has begun.

        Raises NotFound, or Conflict for the organization `default`.
        """
        organization = await self._store.by_name(name.strip())
        if organization is None:
            raise NotFound(NOT_FOUND)
        if organization.name == DEFAULT:
            raise Conflict(DEFAULT_STAYS)
        return organization

    async def begin_deletion(self, name: str) -> Organization:
        """Begin the deletion: no login works there, and the name is taken until the deletion ends. May be
        repeated.

        Raises what `deletable` raises.
        """
        organization = await self.deletable(name)
        now = self._clock.now()
        unrecorded = await self._store.begin_deletion(organization.id, now)
        # Repeated each time: a user who was being created at the first call is disabled now, too.
        await self._users.disable_all(organization.id, now)
        if unrecorded:  # a death between the two leaves two events rather than none
            await self._note_deletion("organization.delete", organization, {})
            await self._store.deletion_recorded(organization.id)
        return organization

    async def note_deleted(self, organization: Organization, counts: Mapping[str, int]) -> None:
        """Record the deletion before its last document is deleted: `counts` by collection."""
        await self._note_deletion("organization.deleted", organization, {"documents": dict(counts)})

    async def _note_deletion(
        self, action: str, organization: Organization, details: Mapping[str, Any]
    ) -> None:
        """Record it in the organization `default`: the audit of the deleted one goes with it."""
        caller = system_caller(await self.default_id())
        details = {"name": organization.name, **details}
        await self._audit.record(caller, action, "organization", organization.id, details)

    async def refresh_builtin_roles(self) -> None:
        """Give the built-in roles of all organizations the permissions of this release; called at start."""
        for role in BUILTIN_ROLES:
            await self._roles.set_builtin(role.name, role.permissions, self._clock.now())

    async def _refuse_taken(self, name: str, username: str) -> None:
        """Raise Conflict for a taken name before anything is written, so that no half organization is
        left."""
        existing = await self._store.by_name(name)
        if existing is not None:
            _refuse_deleted(existing)
        if existing is not None and existing.ready:
            raise Conflict(NAME_TAKEN)
        user = await self._users.by_username(username)
        if user is not None and (existing is None or user.org_id != existing.id):
            raise Conflict(USERNAME_TAKEN)
        if name == DEFAULT or username == FIRST_ADMIN:
            default = await self._store.by_name(DEFAULT)
            if default is None or not default.ready:
                raise Conflict("The organization default and its user admin are made by the first start")

    def _builtin(self, org_id: OrgId) -> list[Role]:
        now = self._clock.now()
        return [
            Role(
                id=str(uuid4()),
                org_id=org_id,
                name=role.name,
                description=role.description,
                permissions=role.permissions,
                builtin=True,
                created_at=now,
                updated_at=now,
            )
            for role in BUILTIN_ROLES
        ]


def _refuse_deleted(organization: Organization) -> None:
    if organization.deleting_since is not None:
        raise Conflict(
            f"Organization {organization.name} is being deleted: `netautod org delete` finishes that"
        )


def _require_name(text: str) -> str:
    name = text.strip()
    # Not printable: control characters, and text of a shell that is no valid Unicode.
    if not 1 <= len(name) <= 255 or not name.isprintable():
        raise InvalidInput("name: 1 to 255 printable characters")
    return name
