"""The commands of an administrator, on the configured database or beside a running service."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from uuid import uuid4

from netautod.app import build as app
from netautod.app.foundation import Foundation, any_database, lay
from netautod.app.parts.devices import DeviceParts
from netautod.app.parts.inventory import InventoryParts
from netautod.app.plugins.manager import PluginManager, PluginStatus
from netautod.app.settings import Settings
from netautod.auth.tokens.signing_keys import SigningKeys
from netautod.core.clock import to_text
from netautod.core.errors import InvalidInput, NotFound
from netautod.core.identity import Caller
from netautod.inventory.imports.models import ImportResult, RowFile
from netautod.inventory.imports.service import RowProgress
from netautod.inventory.models import SyncResult
from netautod.inventory.sync.log import Options
from netautod.inventory.sync.reader import Progress
from netautod.ssh.platform.registry import PlatformRegistry
from netautod.users.bootstrap import Bootstrap
from netautod.users.models import NewUser, Organization, User
from netautod.users.organizations.service import CreatedOrganization
from netautod.users.service import system_caller
from netautod.vault.rotation import rewrap
from netautod.vault.vault import INSTALLATION


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Foundation]:
    async with any_database(settings) as database, lay(settings, database) as base:
        await Bootstrap(
            organizations=base.organizations,
            users=base.users,
            hasher=base.hasher,
            data_dir=settings.data_dir,
            admin_password=settings.admin_password,
        ).run()
        yield base


async def _over(base: Foundation, username: str) -> Caller:
    """A caller who may manage this user, whatever his organization."""
    user = await base.users.by_username(username)
    if user is None:
        raise NotFound("User not found")
    return system_caller(user.org_id)


def plugin_statuses(settings: Settings) -> list[PluginStatus]:
    manager = PluginManager.load(disabled=settings.plugins.disabled)
    manager.executors()
    manager.register_platforms(PlatformRegistry().register)
    return manager.statuses


async def users(settings: Settings) -> list[User]:
    async with _opened(settings) as base:
        return await base.users.everyone()


async def add_user(
    settings: Settings,
    *,
    organization: str,
    username: str,
    password: str,
    roles: tuple[str, ...],
    email: str | None,
) -> None:
    async with _opened(settings) as base:
        found = await base.organizations.by_name(organization)
        new = NewUser(username=username, password=password, roles=roles, email=email)
        await base.users.create(system_caller(found.id), new)


async def set_password(settings: Settings, username: str, password: str) -> None:
    async with _opened(settings) as base:
        await base.users.set_password(await _over(base, username), username, password)


async def disable_user(settings: Settings, username: str) -> None:
    async with _opened(settings) as base:
        await base.users.disable(await _over(base, username), username)


async def enable_user(settings: Settings, username: str) -> None:
    async with _opened(settings) as base:
        await base.users.enable(await _over(base, username), username)


async def unlock_user(settings: Settings, username: str) -> None:
    """Also for a name that nobody has: its failures count like those of others."""
    async with _opened(settings) as base:
        await base.lockout.unlock(username)
        user = await base.users.by_username(username)
        if user is not None:
            await base.audit.record(system_caller(user.org_id), "user.unlock", "user", user.id)


async def create_organization(settings: Settings, name: str, admin: str) -> CreatedOrganization:
    async with _opened(settings) as base:
        return await base.organizations.create_organization(
            name, admin=admin, password=settings.admin_password or None
        )


async def organizations(settings: Settings) -> list[Organization]:
    async with _opened(settings) as base:
        return await base.organizations.all()


async def import_devices(
    settings: Settings,
    file: RowFile,
    *,
    organization: str | None,
    dry_run: bool,
    progress: RowProgress,
) -> ImportResult:
    """Without an `organization` there must be only one. Raises InvalidInput or NotFound."""
    async with _opened(settings) as base:
        caller = system_caller((await _organization(base, organization)).id)
        imports = DeviceParts.build(base).imports
        return await imports.run(caller, file, dry_run=dry_run, progress=progress)


async def sync_source(
    settings: Settings,
    source: str,
    options: Options,
    *,
    organization: str | None,
    progress: Progress,
) -> SyncResult:
    """`source`: the name or id of a saved source. Without an `organization` there must be only one."""
    async with AsyncExitStack() as stack:
        base = await stack.enter_async_context(_opened(settings))
        caller = system_caller((await _organization(base, organization)).id)
        plugins = PluginManager.load(disabled=settings.plugins.disabled)
        leases = await app.named_leases(stack, base, str(uuid4()))
        inventory = InventoryParts.build(base, DeviceParts.build(base), plugins, leases)
        found = await inventory.sources.named(caller.org_id, source)
        return await inventory.sync.sync_source(caller, found.id, options, progress)


async def _organization(base: Foundation, name: str | None) -> Organization:
    if name is not None:
        return await base.organizations.by_name(name)
    found = await base.organizations.all()
    if len(found) != 1:
        names = ", ".join(organization.name for organization in found[:5])
        raise InvalidInput(f"there are {len(found)} organizations ({names}); name one with --organization")
    return found[0]


async def rotate_keys(settings: Settings) -> list[str]:
    """A new key for every organization, then every sealed value re-wrapped under it; resumable."""
    lines = []
    async with _opened(settings) as base:
        for organization in await base.organizations.all():
            version = await base.vault.rotate_organization_key(organization.id)
            lines.append(f"organization {organization.name}: key version {version}")
        version = await base.vault.rotate_organization_key(INSTALLATION)
        lines.append(f"installation: key version {version}")
        result = await rewrap(base.vault, base.database, app.SEALED_FIELDS)
        lines.append(f"{result.rewrapped} secrets re-wrapped, {result.failed} failed")
    return lines


async def rotate_signing_key(settings: Settings) -> list[str]:
    """A new key for access tokens; nobody is logged out."""
    async with _opened(settings) as base:
        keys = await SigningKeys.open(base.database, vault=base.vault, clock=base.clock)
        lifetime = timedelta(seconds=settings.auth.access_token_seconds)
        key = await keys.rotate(token_lifetime=lifetime)
        caller = system_caller(await base.organizations.default_id())
        await base.audit.record(caller, "signing_key.rotate", "signing_key", key.kid)
    return [
        f"access tokens are signed with the new key from {to_text(key.signs_from)} on",
        f"those of the old key are good until {to_text(key.alone_from)} at the latest; then it is deleted",
    ]
