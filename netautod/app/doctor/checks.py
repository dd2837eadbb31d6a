"""The checks, each by itself: one that fails in an unexpected way is a finding, too."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from netautod.app.configuration import Configuration
from netautod.app.database import any_database
from netautod.app.doctor.findings import Finding, of_mongodb
from netautod.app.parts.plugins import plugins_of
from netautod.app.server import tls_files
from netautod.app.stores import INDEXES
from netautod.core.clock import SystemClock
from netautod.core.disk import MIB, space_of
from netautod.core.errors import NetautodError
from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient
from netautod.store.client import Database
from netautod.system.store import SystemStore
from netautod.vault.errors import VaultError
from netautod.vault.opening import known_roots
from netautod.vault.root.store import RootStore

CERTIFICATE_DAYS = 21
CLOCK_SECONDS = 1.0
NODE_SECONDS = timedelta(seconds=60)


@dataclass(frozen=True, kw_only=True)
class Patient:
    """What the checks of the database look at."""

    configuration: Configuration
    database: Database
    now: datetime


Check = Callable[[Patient], AsyncIterator[Finding]]


async def examined(configuration: Configuration) -> list[Finding]:
    """All that is found, in the order of the checks."""
    found = [*_settings(configuration), *_certificate(configuration), *_disk(configuration)]
    found += await asyncio.to_thread(lambda: list(_plugins(configuration)))
    try:
        async with any_database(configuration.settings) as database:
            patient = Patient(configuration=configuration, database=database, now=datetime.now(UTC))
            for check in DATABASE_CHECKS:
                found += [finding async for finding in check(patient)]
    except NetautodError as error:
        todo = "is it running, and do mongodb.uri, its user and its certificates fit?"
        found.append(Finding(check="database", text=error.text, todo=todo))
    return found


def _settings(configuration: Configuration) -> Iterator[Finding]:
    for risk in (*configuration.risks.refused, *configuration.risks.warned):
        todo = 'README, "Insecure settings"; accept_risks if it has to be so'
        yield Finding(check="settings", text=str(risk), todo=todo)


def _certificate(configuration: Configuration) -> Iterator[Finding]:
    files = tls_files(configuration.settings)
    if files is None:
        return
    try:
        files.context()
        left = files.ends_at() - datetime.now(UTC)
    except NetautodError as error:
        yield Finding(check="certificate", text=error.text, todo="put a pair that fits in their place")
        return
    if left < timedelta(days=CERTIFICATE_DAYS):
        text = f"server.tls_certificate ends in {left.days} days" if left.days >= 0 else "it has ended"
        yield Finding(check="certificate", text=text, todo="renew it; the service reads it by itself")


def _disk(configuration: Configuration) -> Iterator[Finding]:
    settings = configuration.settings
    space = space_of(settings.data_dir)
    # What the service itself refuses at is too late for a person.
    if space.free < 2 * settings.data.min_free_mb * MIB:
        todo = f"make room: below {settings.data.min_free_mb} MiB (data.min_free_mb) changes are refused"
        yield Finding(check="disk", text=f"{settings.data_dir}: {space}", todo=todo)


def _plugins(configuration: Configuration) -> Iterator[Finding]:
    http = GuardedClient(AddressRules.allowing(configuration.settings.outbound.allow))
    manager = plugins_of(configuration, http)
    manager.executors()
    manager.auth_providers()
    manager.inventory_sources()
    for status in manager.statuses:
        if not status.ok:
            todo = f'mend or remove it, or plugins.disabled = ["{status.name}"]'
            yield Finding(check="plugins", text=f"{status.name}: {status.error}", todo=todo)


async def _version(patient: Patient) -> AsyncIterator[Finding]:
    finding = of_mongodb(await patient.database.version(), patient.now.date())
    if finding is not None:
        yield finding


async def _clock(patient: Patient) -> AsyncIterator[Finding]:
    """Of this machine and of the nodes, against the database, by whose clock leases are measured."""
    before = datetime.now(UTC)
    told = await patient.database.now()
    after = datetime.now(UTC)
    # Somewhere between the two the server looked at its clock.
    off = max((told - after).total_seconds(), (before - told).total_seconds(), 0.0)
    todo = "run chrony or systemd-timesyncd on every machine"
    if off > CLOCK_SECONDS:
        text = f"the clock of this machine is {off:.1f} s from the database's"
        yield Finding(check="clock", text=text, todo=todo)
    for node in await SystemStore(patient.database).nodes():
        seconds = node.clock_ahead_seconds or 0.0
        if abs(seconds) > CLOCK_SECONDS and told - node.heartbeat_at < NODE_SECONDS:
            text = f"the clock of node {node.id} on {node.host} is {seconds:+.1f} s from the database's"
            yield Finding(check="clock", text=text, todo=todo)


async def _indexes(patient: Patient) -> AsyncIterator[Finding]:
    for collection in sorted({index.collection for index in INDEXES}):
        wanted = {index.name for index in INDEXES if index.collection == collection}
        missing = wanted - await patient.database.collection(collection).index_names()
        if missing:
            text = f"{collection} lacks {', '.join(sorted(missing))}"
            yield Finding(check="indexes", text=text, todo="start the service once: it makes what is missing")


async def _key(patient: Patient) -> AsyncIterator[Finding]:
    settings = patient.configuration.settings
    try:
        roots = RootStore(patient.database, clock=SystemClock())
        await known_roots(roots, data_dir=settings.data_dir, key_file=settings.master_key_path)
    except VaultError as error:
        todo = "put the key of this database in its place: without it no secret can be read"
        yield Finding(check="key", text=error.text, todo=todo)


async def _nodes(patient: Patient) -> AsyncIterator[Finding]:
    nodes = await SystemStore(patient.database).nodes()
    versions = sorted({node.version for node in nodes})
    if len(versions) > 1:
        text = f"the nodes run versions {', '.join(versions)}"
        yield Finding(check="nodes", text=text, todo="upgrade all of them, one after the other")


DATABASE_CHECKS: tuple[Check, ...] = (_version, _clock, _indexes, _key, _nodes)
