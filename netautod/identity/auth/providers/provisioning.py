"""The user of an identity that a directory has confirmed: found, linked, created, or refused.

A user is found by the directory's lasting id. A username alone links only a user that was created for this
provider and is not linked to an entry yet; the name of another provider's user is refused, never merged.
"""

import logging
from collections.abc import Mapping
from typing import Any

from netautod.activity.audit.service import AuditLog
from netautod.core.errors import Conflict, NetautodError, Unavailable
from netautod.core.identity.caller import system_caller
from netautod.identity.auth.providers.profile import (
    group_warning,
    new_username,
    profile_changes,
    profile_of,
)
from netautod.identity.auth.providers.role_map import granted, roles_after_login
from netautod.identity.users.external_ids import canonical_external_id
from netautod.identity.users.models import ADMIN_ROLE, NewUser, User, canonical_username
from netautod.identity.users.organizations.service import OrganizationService
from netautod.identity.users.service import UserService
from netautod.plugin_api.auth import Identity, ProvisioningRules

logger = logging.getLogger(__name__)
MAX_EXTERNAL_ID = 1024


class _Refused(NetautodError):
    """Raised if the identity is no user; the reason goes to the log only."""


class Provisioning:
    """A service that finds users. `rules` by the name of the provider."""

    def __init__(
        self,
        *,
        users: UserService,
        organizations: OrganizationService,
        audit: AuditLog,
        rules: Mapping[str, ProvisioningRules],
    ) -> None:
        self._audit = audit
        self._users = users
        self._organizations = organizations
        self._rules = rules

    async def user_of(
        self, provider: str, identity: Identity, named: Mapping[str, User | None] | None = None
    ) -> User | None:
        """Return the active user of the identity, with the roles that its groups give; None: refused.

        `named`: the name that the client sent, if any, with its user as read before the password was checked.
        The user is read here only if it is another one. The reason of a refusal is logged.
        """
        try:
            return await self._user_of(provider, identity, named or {})
        except Unavailable:
            raise
        except NetautodError as error:
            logger.warning("a login through %s is refused: %s", provider, error.text)
            return None

    async def follow(self, provider: str, user_id: str, identity: Identity) -> None:
        """Give the user the name, mail and roles of now; changes nothing if the identity is another user's.

        Raises what the change raises, such as Conflict.
        """
        user = await self._users.find(user_id)
        ids = tuple(canonical_external_id(provider, found) for found in identity.external_ids if found)
        if user is None or user.auth_provider != provider:
            return
        if user.external_id is not None and canonical_external_id(provider, user.external_id) not in ids:
            logger.warning("%s answered about another user than the requested one", provider)
            return
        await self._update(provider, user, identity, ids)

    async def _user_of(self, provider: str, identity: Identity, named: Mapping[str, User | None]) -> User:
        holders = {canonical_username(name): user for name, user in named.items()}
        own_name = canonical_username(identity.username)
        if own_name not in holders:
            holders[own_name] = await self._users.by_username(identity.username)
        ids = tuple(canonical_external_id(provider, found) for found in identity.external_ids if found)
        if any(len(found) > MAX_EXTERNAL_ID for found in ids):
            raise _Refused("the external id is too long")
        user = namesake = holders[own_name]
        # Most often the user of that name is the one with the directory's lasting id: no second read.
        own = namesake is not None and namesake.auth_provider == provider
        if namesake is None or not own or not ids or namesake.external_id != ids[0]:
            user = await self._known(provider, ids)
        if user is None:
            for holder in holders.values():
                if holder is not None and holder.auth_provider != provider:
                    raise _Refused(f"the name belongs to a user of {holder.auth_provider}")
            user = namesake
            if user is None:
                return await self._create(provider, identity, ids)
            if user.external_id is not None and canonical_external_id(provider, user.external_id) not in ids:
                raise _Refused("the username is linked to another entry")
        if not user.is_active:
            raise _Refused("the user is disabled")
        return await self._update(provider, user, identity, ids)

    async def _known(self, provider: str, ids: tuple[str, ...]) -> User | None:
        for found in ids:
            user = await self._users.by_external_id(provider, found)
            if user is not None:
                return user
        return None

    async def _update(self, provider: str, user: User, identity: Identity, ids: tuple[str, ...]) -> User:
        role_map = self._rules[provider].role_map
        changes = profile_changes(user, identity)
        if ids and user.external_id != ids[0]:
            changes["external_id"] = ids[0]
        if role_map and identity.groups_unknown is None:
            roles = roles_after_login(role_map, user.role_names, identity.groups, identity.possible_groups)
            if roles != user.role_names:
                changes["roles"] = roles
        if changes:
            user = await self._change(provider, user, changes)
        await self._warn_of_groups(provider, user, group_warning(role_map, identity))
        return await self._renamed(provider, user, identity)

    async def _change(self, provider: str, user: User, changes: Mapping[str, Any]) -> User:
        caller = system_caller(user.org_id, provider)
        try:
            return await self._users.change(caller, user, changes)
        except Conflict:
            roles = changes.get("roles", ())
            if user.admin_role is None or ADMIN_ROLE in roles:
                raise
            # A directory takes the last active admin away as little as an administrator can.
            logger.warning(
                "%s stays admin although %s takes the role away: it is the last admin",
                user.username,
                provider,
            )
            kept = {**changes, "roles": sorted({*roles, ADMIN_ROLE})}
            return await self._users.change(caller, user, kept)

    async def _renamed(self, provider: str, user: User, identity: Identity) -> User:
        """Return the user under the name that the directory has now, unless another user has it."""
        username = new_username(user, identity)
        if username is None:
            return user
        try:
            if await self._users.by_username(username) is None:
                return await self._users.rename(system_caller(user.org_id, provider), user, username)
        except Conflict:  # another user got the name at this moment
            pass
        logger.warning(
            "%s calls the user %s %s now, which is the name of another user: the name here stays",
            provider,
            user.username,
            username,
        )
        return user

    async def _warn_of_groups(self, provider: str, user: User, warning: str | None) -> None:
        """Show and record the warning, or that it is over; each once."""
        if warning == user.group_warning or not await self._users.set_group_warning(user, warning):
            return
        if warning is None:
            return
        logger.warning("the roles of %s do not follow %s: %s", user.username, provider, warning)
        details = {"username": user.username, "auth_provider": provider, "reason": warning}
        caller = system_caller(user.org_id, provider)
        await self._audit.record(caller, "auth.groups_unknown", "user", user.id, details)

    async def _create(self, provider: str, identity: Identity, ids: tuple[str, ...]) -> User:
        rules = self._rules[provider]
        if not rules.auto_provision:
            raise _Refused("the user does not exist and auto_provision is off")
        username = canonical_username(identity.username)
        if username is None or not ids:
            raise _Refused("the directory's username is not valid here, or the entry has no id")
        roles = sorted({*rules.default_roles, *granted(rules.role_map, identity.groups)})
        if rules.role_map and not roles:
            raise _Refused("the user does not exist and no group of the entry gives a role")
        organization = await self._organizations.by_name(rules.organization)
        new = NewUser(
            username=username,
            roles=tuple(roles),
            auth_provider=provider,
            external_id=ids[0],
            **profile_of(identity),
        )
        try:
            user = await self._users.create(system_caller(organization.id, provider), new)
        except Conflict:
            known = await self._known(provider, ids)  # created by another first login at this moment
            if known is None:
                raise
            return known
        await self._warn_of_groups(provider, user, group_warning(rules.role_map, identity))
        return user
