"""Organizations, roles and users as values, and the form that usernames have."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import OrgId
from netautod.core.identity.permissions import of_roles
from netautod.core.json.values import optional_text, to_text
from netautod.identity.users.external_ids import canonical_external_id

LOCAL, LDAP, OIDC = "local", "ldap", "oidc"
AUTH_PROVIDERS = (LOCAL, LDAP, OIDC)
ADMIN_ROLE = "admin"
# The field of roles and API tokens that were written by a version with permissions for reading documents.
KNOWS_READING = "knows_docs_read"
# In ASCII before lower-casing: "\u212a" (the Kelvin sign) lower-cases to a plain "k".
USERNAME_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
USERNAME_RULE = "1 to 64 characters of a-z 0-9 . _ @ -, the first one a letter or a digit"


def canonical_username(text: str) -> str | None:
    """Return the username as it is stored and compared, None if no user can have it."""
    trimmed = text.strip()
    return trimmed.lower() if USERNAME_FORM.fullmatch(trimmed) else None


def require_username(text: str) -> str:
    """Return the canonical username. Raises InvalidInput, which describes the form."""
    found = canonical_username(text)
    if found is None:
        raise InvalidInput(f"username: {USERNAME_RULE}")
    return found


@dataclass(frozen=True, kw_only=True)
class Organization:
    """An organization. `ready` is set when its roles and its first user exist; until then creation may be
    repeated.

    An organization with `deleting_since` is being deleted, which is never undone.
    """

    id: OrgId
    name: str
    ready: bool
    created_at: datetime
    deleting_since: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Role:
    id: str
    org_id: OrgId
    name: str
    description: str | None
    permissions: tuple[str, ...]
    builtin: bool
    created_at: datetime
    updated_at: datetime

    @property
    def granted(self) -> frozenset[str]:
        """Return what the role grants, with the keys that its wildcards cover though a token has to name
        them."""
        return of_roles(self.permissions)

    def to_json(self) -> dict[str, Any]:
        """Return the role as /api/roles shows it."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "permissions": list(self.permissions),
            "builtin": self.builtin,
        }


@dataclass(frozen=True, kw_only=True)
class BuiltinRole:
    name: str
    description: str
    permissions: tuple[str, ...]


BUILTIN_ROLES = (
    BuiltinRole(name=ADMIN_ROLE, description="May do everything", permissions=("*",)),
    BuiltinRole(
        name="operator",
        description="Runs tasks and manages devices, credentials, configs and documents",
        permissions=(
            "tasks.operate",
            "devices.access",
            "devices.manage",
            "credentials.manage",
            "config.deploy",
            "docs.read",
            "docs.manage",
            "notes.read",
        ),
    ),
    BuiltinRole(
        name="viewer",
        description="Reads devices and documents",
        permissions=("devices.access", "docs.read"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class NewUser:
    """A request for a new user; `roles` are names."""

    username: str
    roles: tuple[str, ...]
    password: str | None = field(default=None, repr=False)
    auth_provider: str = LOCAL
    external_id: str | None = None
    email: str | None = None
    display_name: str | None = None
    is_active: bool = True
    ssh_principals: Sequence[str] | None = None
    must_change_password: bool = False

    @classmethod
    def from_request(cls, body: Mapping[str, Any]) -> "NewUser":
        return cls(**{**body, "roles": tuple(dict.fromkeys(body["roles"]))})


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """The user of a login with the password hash, from one read; both None for an unknown name."""

    user: "User | None" = None
    password_hash: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class User:
    """A user with the roles that the database holds now; the password hash is never part of it.

    Sessions and refresh tokens carry the epoch in which they were issued and end when the user's epoch
    increases. So one write ends all of them, including those that another node is issuing at this moment. API
    tokens have an epoch of their own, which a disabled user keeps. One session may be kept over such a write:
    the one that changed the password. `revision` grows with every change, so that a decision based on an
    older state is not carried out. `group_warning` says why the roles could not follow the directory.
    """

    id: str
    org_id: OrgId
    username: str
    email: str | None
    display_name: str | None
    roles: tuple[Role, ...]
    is_active: bool
    auth_provider: str
    external_id: str | None
    session_epoch: int
    refresh_epoch: int
    created_at: datetime
    updated_at: datetime
    last_login_at: datetime | None
    ssh_principals: tuple[str, ...] = ()
    token_epoch: int = 0
    must_change_password: bool = False
    password_changed_at: datetime | None = None
    otp_enabled: bool = False
    kept_session_id: str | None = None
    revision: int = 0
    group_warning: str | None = None

    @classmethod
    def new(
        cls,
        new: NewUser,
        *,
        org_id: OrgId,
        username: str,
        roles: Iterable[Role],
        ssh_principals: tuple[str, ...],
        now: datetime,
    ) -> "User":
        """Build a user that has never logged in; `username` in its canonical form."""
        return cls(
            id=str(uuid4()),
            org_id=org_id,
            username=username,
            email=new.email,
            display_name=new.display_name,
            roles=tuple(roles),
            is_active=new.is_active,
            auth_provider=new.auth_provider,
            external_id=canonical_external_id(new.auth_provider, new.external_id),
            session_epoch=0,
            refresh_epoch=0,
            created_at=now,
            updated_at=now,
            last_login_at=None,
            ssh_principals=ssh_principals,
            must_change_password=new.must_change_password,
        )

    @property
    def admin_role(self) -> Role | None:
        """Return the built-in role `admin` if the user has it."""
        return next((role for role in self.roles if role.builtin and role.name == ADMIN_ROLE), None)

    @property
    def role_names(self) -> list[str]:
        return sorted(role.name for role in self.roles)

    @property
    def permissions(self) -> list[str]:
        """Return the permissions of all roles, each once, sorted."""
        return sorted({key for role in self.roles for key in role.permissions})

    @property
    def granted(self) -> frozenset[str]:
        """Return what the user holds: `permissions`, and what their wildcards cover though a token has to
        name it."""
        return of_roles(self.permissions)

    def to_json(self) -> dict[str, Any]:
        """Return the user as /api/auth/me shows it."""
        return {
            "id": self.id,
            "org_id": self.org_id,
            "username": self.username,
            "email": self.email,
            "display_name": self.display_name,
            "roles": self.role_names,
            "permissions": self.permissions,
            "is_active": self.is_active,
            "auth_provider": self.auth_provider,
            "must_change_password": self.must_change_password,
            "otp_enabled": self.otp_enabled,
            "created_at": to_text(self.created_at),
            "updated_at": to_text(self.updated_at),
        }

    def to_managed_json(self) -> dict[str, Any]:
        """Return the user as /api/users shows it."""
        return {
            **self.to_json(),
            "ssh_principals": list(self.ssh_principals),
            "last_login_at": optional_text(self.last_login_at),
            "group_warning": self.group_warning,
        }
