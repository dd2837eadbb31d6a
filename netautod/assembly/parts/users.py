"""The part of the composition root about users, their roles and their organizations."""

from dataclasses import dataclass
from pathlib import Path

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.core.clock import Clock
from netautod.core.identity.permissions import PermissionKeys
from netautod.identity.auth.settings import AuthSettings, SshCaSettings
from netautod.identity.users.organizations.initial_password_watch import InitialPasswordWatch
from netautod.identity.users.organizations.service import OrganizationService
from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.identity.users.passwords.policy import PasswordPolicy
from netautod.identity.users.principals import PrincipalRules
from netautod.identity.users.roles.service import RoleService
from netautod.identity.users.service import UserService


@dataclass(frozen=True, kw_only=True)
class UserParts:
    """`permissions`: the keys that there are; those of plugins are added when these are loaded."""

    organizations: OrganizationService
    roles: RoleService
    users: UserService
    permissions: PermissionKeys


def users_of(
    *,
    stores: Stores,
    hasher: PasswordHasher,
    clock: Clock,
    audit: AuditLog,
    settings: AuthSettings,
    ssh_ca: SshCaSettings,
) -> UserParts:
    policy = PasswordPolicy(hasher=hasher, minimum=settings.password_min_length)
    principals = PrincipalRules(ssh_ca.reserved_principals)
    permissions = PermissionKeys()
    return UserParts(
        organizations=OrganizationService(
            store=stores.organizations,
            roles=stores.roles,
            users=stores.users,
            hasher=hasher,
            clock=clock,
            audit=audit,
            policy=policy,
            principals=principals,
        ),
        roles=RoleService(
            store=stores.roles, users=stores.users, clock=clock, audit=audit, permissions=permissions
        ),
        permissions=permissions,
        users=UserService(
            store=stores.users,
            roles=stores.roles,
            hasher=hasher,
            clock=clock,
            audit=audit,
            organizations=stores.organizations,
            policy=policy,
            principals=principals,
        ),
    )


def initial_password_watch_of(people: UserParts, data_dir: Path) -> InitialPasswordWatch:
    return InitialPasswordWatch(users=people.users, organizations=people.organizations, data_dir=data_dir)
