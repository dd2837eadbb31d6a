"""The checks, each by itself: one that fails in an unexpected way is a finding, too."""

import asyncio
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta

from pymongo.errors import PyMongoError

from netautod.assembly.configuration import Configuration
from netautod.assembly.data.database import (
    NoInstallationError,
    NoReplicaSetError,
    any_database,
    require_installation,
)
from netautod.assembly.plugins import load_plugins
from netautod.core.disk import MIB, space_of
from netautod.core.errors import NetautodError
from netautod.http.connections.tls import TlsFiles
from netautod.maintenance.doctor.database import (
    DATABASE_CHECKS,
    FIRST_START,
    SERVER_CHECKS,
    STATE_CHECKS,
    Check,
    Patient,
)
from netautod.maintenance.doctor.findings import Finding
from netautod.plugin_host.manager import PluginManager

CERTIFICATE_DAYS = 21


async def examined(configuration: Configuration) -> list[Finding]:
    """Return all findings, in the order of the checks."""
    found = [*_settings(configuration), *_certificate(configuration), *_disk(configuration)]
    manager = load_plugins(configuration)
    providers = await asyncio.to_thread(_registered, manager)
    found += _plugins(manager)
    return [*found, *await _database(configuration, providers)]


async def _database(configuration: Configuration, providers: Collection[str]) -> list[Finding]:
    try:
        require_installation(configuration.settings)
        async with any_database(configuration.settings) as database:
            now = datetime.now(UTC)
            return await _stored(
                Patient(configuration=configuration, database=database, now=now, providers=providers)
            )
    except NoInstallationError as error:
        return [Finding(check="installation", text=error.text, todo=FIRST_START)]
    except NoReplicaSetError as error:
        todo = "set replication.replSetName in its settings, and call rs.initiate() once"
        return [Finding(check="replica set", text=error.text, todo=todo)]
    except (NetautodError, PyMongoError) as error:
        return [Finding(check="database", text=str(error), todo=_reachable(configuration))]


def _reachable(configuration: Configuration) -> str:
    if configuration.settings.mongodb.uri:
        return "is it running, and do mongodb.uri, its user and its certificates fit?"
    return "is --data-dir right, and does this user own it? Its mongod.log may say more"


async def _stored(patient: Patient) -> list[Finding]:
    """Return the findings of the database. Where nothing is installed, or a restore is not finished, one
    finding says so.
    """
    found = [finding for check in SERVER_CHECKS for finding in await _found_by(check, patient)]
    for check in STATE_CHECKS:
        if state := await _found_by(check, patient):
            return [*found, *state]
    return [*found, *[finding for check in DATABASE_CHECKS for finding in await _found_by(check, patient)]]


async def _found_by(check: Check, patient: Patient) -> list[Finding]:
    try:
        return [finding async for finding in check(patient)]
    except (NetautodError, PyMongoError) as error:  # the other checks go on
        name = check.__name__.strip("_").replace("_", " ")
        todo = "is the database well, and may its user do this (netautod help install)?"
        return [Finding(check=name, text=f"cannot be looked at: {error}", todo=todo)]


def _settings(configuration: Configuration) -> Iterator[Finding]:
    for risk in (*configuration.risks.refused, *configuration.risks.warned):
        todo = "change it (netautod help risks), or accept it: accept_risks"
        yield Finding(check="settings", text=str(risk), todo=todo)


def _certificate(configuration: Configuration) -> Iterator[Finding]:
    files = TlsFiles.of(configuration.settings.server)
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


def _registered(manager: PluginManager) -> Collection[str]:
    """Let the plugins register; return the auth providers that they do."""
    manager.executors()
    providers = manager.auth_providers()
    manager.inventory_sources()
    return list(providers)


def _plugins(manager: PluginManager) -> Iterator[Finding]:
    for status in manager.statuses:
        if not status.ok:
            todo = f'mend or remove it, or plugins.disabled = ["{status.name}"]'
            yield Finding(check="plugins", text=f"{status.name}: {status.error}", todo=todo)
