"""The checks of the database, and of what stands in it."""

import shlex
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from netautod.assembly.configuration import Configuration
from netautod.assembly.data.migrations import list_migrations
from netautod.assembly.data.stores import INDEXES, Stores
from netautod.automation.system.store import SystemStore
from netautod.core.clock import SystemClock
from netautod.identity.users.models import LOCAL
from netautod.identity.users.organizations.store import COLLECTION as ORGANIZATIONS
from netautod.identity.users.organizations.store import OrganizationStore
from netautod.identity.users.store import UserStore
from netautod.maintenance.archive.collections import strangers
from netautod.maintenance.doctor.findings import Finding, of_members, of_mongodb
from netautod.maintenance.doctor.indexes import of_indexes
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.named_secrets import stored_names
from netautod.secrets.vault.opening import known_roots
from netautod.secrets.vault.root.store import RootStore
from netautod.secrets.vault.rotation import unfinished
from netautod.store.client import Database
from netautod.store.migrations.archive_errors import ArchiveError
from netautod.store.migrations.restore_marker import require_no_restore
from netautod.store.migrations.runner import newer_than
from netautod.store.migrations.store import MigrationStore

CLOCK_SECONDS = 1.0
FIRST_START = "The first start of the service makes one"
NODE_SECONDS = timedelta(seconds=60)


@dataclass(frozen=True, kw_only=True)
class Patient:
    """The subject of the database's checks; `providers` are the names of those that are enabled."""

    configuration: Configuration
    database: Database
    now: datetime
    providers: Collection[str] = ()


Check = Callable[[Patient], AsyncIterator[Finding]]


async def _version(patient: Patient) -> AsyncIterator[Finding]:
    finding = of_mongodb(await patient.database.version(), patient.now.date())
    if finding is not None:
        yield finding


async def _clock(patient: Patient) -> AsyncIterator[Finding]:
    """Check the clock of this machine and of the nodes against the database, by whose clock leases are
    measured.
    """
    before = datetime.now(UTC)
    server_time = await patient.database.now()
    after = datetime.now(UTC)
    # Somewhere between the two the server looked at its clock.
    off = max((server_time - after).total_seconds(), (before - server_time).total_seconds(), 0.0)
    todo = "run chrony or systemd-timesyncd on every machine"
    if off > CLOCK_SECONDS:
        text = f"the clock of this machine is {off:.1f} s from the database's"
        yield Finding(check="clock", text=text, todo=todo)
    for node in await SystemStore(patient.database).nodes():
        seconds = node.clock_ahead_seconds or 0.0
        if abs(seconds) > CLOCK_SECONDS and server_time - node.heartbeat_at < NODE_SECONDS:
            text = f"the clock of node {node.id} on {node.host} is {seconds:+.1f} s from the database's"
            yield Finding(check="clock", text=text, todo=todo)


async def _replica_set(patient: Patient) -> AsyncIterator[Finding]:
    status = await patient.database.replica_set_status()
    if status is None:
        todo = "grant its user the role clusterMonitor on admin, so that the state of the members can be read"
        yield Finding(check="replica set", text="the database's user may not look at it", todo=todo)
        return
    for finding in of_members(status):
        yield finding


async def _migrations(patient: Patient) -> AsyncIterator[Finding]:
    settings, database = patient.configuration.settings, patient.database
    known = list_migrations(database, Stores.of(database, settings.retention), settings.auth)
    applied = await MigrationStore(database).all()
    refusal = newer_than(known, applied)
    if refusal is not None:
        todo = "run this command, and the service, with that version"
        yield Finding(check="migrations", text=refusal, todo=todo)
        return
    known_by = {one.number: one for one in applied}
    for migration in known:
        found = known_by.get(migration.number)
        if found is None and migration.in_background:
            continue  # the service does it once it works
        if found is None or found.done_at is None:
            text = f"{migration.number} ({migration.name}) is not done"
            if found is not None:
                text += f": {found.host} began it at {found.began_at:%Y-%m-%d %H:%M} UTC"
            todo = "start the service: it does it, or goes on where another start has died"
            if found is not None and found.error is not None:
                text += f"; it failed: {found.error}"
                todo = "put that right in the database, then start the service"
            yield Finding(check="migrations", text=text, todo=todo)


async def _indexes(patient: Patient) -> AsyncIterator[Finding]:
    """Check collections that the product knows: what else is in the database is none of its business."""
    there = await patient.database.collection_names()
    for name in sorted(there.difference(strangers(there)) | {index.collection for index in INDEXES}):
        for finding in of_indexes(name, await patient.database.collection(name).indexes()):
            yield finding


async def _key(patient: Patient) -> AsyncIterator[Finding]:
    settings = patient.configuration.settings
    try:
        roots = RootStore(patient.database, clock=SystemClock())
        await known_roots(roots, data_dir=settings.data_dir, key_file=settings.master_key_path)
    except VaultError as error:
        todo = "put the key of this database in its place: without it no secret can be read"
        yield Finding(check="key", text=error.text, todo=todo)


async def _rotation(patient: Patient) -> AsyncIterator[Finding]:
    if await unfinished(patient.database):
        text = "a rotation of the keys has not ended: secrets may be left under the old ones"
        yield Finding(check="key rotation", text=text, todo="netautod rotate-keys goes on with it")


async def _deletions(patient: Patient) -> AsyncIterator[Finding]:
    for organization in await OrganizationStore(patient.database).all():
        if organization.deleting_since is not None:
            since = f"{organization.deleting_since:%Y-%m-%d %H:%M} UTC"
            text = f"{organization.name} is being deleted since {since}"
            todo = f"netautod org delete {shlex.quote(organization.name)} finishes that"
            yield Finding(check="organizations", text=text, todo=todo)


async def _restore(patient: Patient) -> AsyncIterator[Finding]:
    try:
        await require_no_restore(patient.database)
    except ArchiveError as error:
        todo = "nothing starts on this database before; or drop it"
        yield Finding(check="restore", text=error.text, todo=todo)


async def _nodes(patient: Patient) -> AsyncIterator[Finding]:
    nodes = await SystemStore(patient.database).nodes()
    versions = sorted({node.version for node in nodes})
    if len(versions) > 1:
        text = f"the nodes run versions {', '.join(versions)}"
        yield Finding(check="nodes", text=text, todo="upgrade all of them, one after the other")


async def _secrets(patient: Patient) -> AsyncIterator[Finding]:
    wanted = patient.configuration.in_vault
    stored = await stored_names(patient.database) if wanted else set()
    for key, name in sorted(wanted.items()):
        if name not in stored:
            todo = f"netautod secret set {name}, then a restart: until then the plugin is left out"
            yield Finding(check="secrets", text=f"{key}: the vault holds no secret {name!r}", todo=todo)


async def _logins(patient: Patient) -> AsyncIterator[Finding]:
    for name, count in sorted((await UserStore(patient.database).counts_by_provider()).items()):
        if name != LOCAL and name not in patient.providers:
            text = (
                f"{count} users belong to the auth provider {name}, which is not enabled: they cannot log in"
            )
            todo = "enable it, install its plugin, or make other users for them and disable these"
            yield Finding(check="logins", text=text, todo=todo)


async def _installation(patient: Patient) -> AsyncIterator[Finding]:
    if ORGANIZATIONS not in await patient.database.collection_names():
        text = f"the database {patient.database.name} holds no installation of netautod"
        todo = f"are mongodb.database and mongodb.uri, or --data-dir, right? {FIRST_START}"
        yield Finding(check="installation", text=text, todo=todo)


SERVER_CHECKS: tuple[Check, ...] = (_version, _replica_set, _clock)
STATE_CHECKS: tuple[Check, ...] = (_restore, _installation)
DATABASE_CHECKS: tuple[Check, ...] = (
    _migrations,
    _indexes,
    _key,
    _rotation,
    _deletions,
    _nodes,
    _secrets,
    _logins,
)
