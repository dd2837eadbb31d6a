"""`netautod backup`: everything of an installation as it was at one moment, in one file."""

import asyncio
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from netautod.activity.audit.service import AuditLog
from netautod.activity.audit.store import AuditStore
from netautod.assembly.data.database import any_server, open_database
from netautod.assembly.data.migrations import require_known
from netautod.assembly.settings import Settings
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import system_caller
from netautod.core.json.values import to_text
from netautod.identity.users.organizations.store import COLLECTION as ORGANIZATIONS
from netautod.identity.users.organizations.store import OrganizationStore
from netautod.maintenance.archive.collections import in_backup, strangers
from netautod.maintenance.archive.file.keys import ArchiveKeys
from netautod.maintenance.archive.file.new_file import NewFile, new_file
from netautod.maintenance.archive.file.reading import checked
from netautod.maintenance.archive.file.records import Contents
from netautod.maintenance.archive.interrupting import Stop, in_thread
from netautod.maintenance.archive.writing import write_archive
from netautod.secrets.vault.root.store import RootStore, held_by
from netautod.store.client import Database
from netautod.store.embedded.life import HISTORY_PARAMETER
from netautod.store.migrations.archive_errors import ArchiveError
from netautod.store.migrations.restore_marker import require_no_restore
from netautod.store.migrations.store import MigrationStore
from netautod.store.raw.history import kept_history
from netautod.store.raw.reading import CatalogChangedError, PastGoneError, RawReader, raw_reader

# A collection is made by the first document of its kind, a few times in the life of an installation.
ATTEMPTS = 5


@dataclass(frozen=True, kw_only=True)
class BackupSource:
    """The database to back up: `uri` and `database` name it; `own_folder` is the data folder of a mongod of
    ours, else None.
    """

    uri: str
    database: str
    own_folder: Path | None

    def kept(self) -> AbstractContextManager[None]:
        return nullcontext() if self.own_folder is None else kept_history(self.uri, self.own_folder)


async def back_up(settings: Settings, path: Path, passphrase: str | None) -> Contents:
    """Back up, also beside a running service. The file has its name when it is complete and checked.

    Raises InvalidInput for a name that is taken, ArchiveError, VaultError, NewerDatabase, Unavailable.
    """
    with new_file(path) as file:
        async with any_server(settings) as uri, open_database(settings, uri) as database:
            await require_no_restore(database)
            require_known(await MigrationStore(database).all(), database, settings)
            keys = await _keys(settings, database, passphrase)
            source = BackupSource(
                uri=uri,
                database=database.name,
                own_folder=None if settings.mongodb.uri else settings.data_dir,
            )
            contents = await in_thread(partial(_written, source, file, keys))
            await _record(database, contents, path, encrypted=passphrase is not None)
        file.publish()
    return contents


async def _keys(settings: Settings, database: Database, passphrase: str | None) -> ArchiveKeys:
    """Return the keys of a new backup: without a passphrase the root key, which must be the database's."""
    if passphrase is not None:
        return ArchiveKeys.of_passphrase(settings, passphrase)
    keys = await asyncio.to_thread(ArchiveKeys.of, settings, None)
    roots = await RootStore(database, clock=SystemClock()).all()
    if not roots:
        raise _no_installation(database.name)
    if keys.root is None:
        raise ArchiveError(
            "A backup without a passphrase is authenticated by the root key, which is missing: "
            f"{keys.place}, or name --passphrase-file"
        )
    held_by(roots, keys.root)
    return keys


def _written(source: BackupSource, file: NewFile, keys: ArchiveKeys, stop: Stop) -> Contents:
    with source.kept(), raw_reader(source.uri, source.database) as reader:
        for _ in range(ATTEMPTS):
            try:
                contents = _once(reader, source, file, keys, stop)
            except CatalogChangedError:
                continue  # the next moment is later
            except PastGoneError as error:
                raise _past_gone(source) from error
            break
        else:
            raise ArchiveError("Collections come and go all the time: try again later")
    file.written()
    if checked(file.file, keys, stop).contents != contents:
        raise ArchiveError("The file does not hold what was written into it")
    return contents


def _once(reader: RawReader, source: BackupSource, file: NewFile, keys: ArchiveKeys, stop: Stop) -> Contents:
    if ORGANIZATIONS not in reader.collections():
        raise _no_installation(source.database)
    file.restart()
    taken_at = reader.pin(ORGANIZATIONS)
    # Listed after the moment: what is made meanwhile is noticed when it is read.
    names = in_backup(reader.collections())
    return write_archive(file.file, reader, names, taken_at=taken_at, keys=keys, stop=stop)


def _no_installation(database: str) -> ArchiveError:
    return ArchiveError(f"The database {database} holds no installation of netautod")


def _past_gone(source: BackupSource) -> ArchiveError:
    if source.own_folder is not None:
        return ArchiveError(
            "The past of the database is gone: it was started again meanwhile, or this command was stopped. "
            "Try again"
        )
    return ArchiveError(
        "The database keeps its past for a shorter time than the backup takes. Make that longer than 300 "
        f"seconds on its servers: db.adminCommand({{setParameter: 1, {HISTORY_PARAMETER}: 3600}})"
    )


async def _record(database: Database, contents: Contents, path: Path, *, encrypted: bool) -> None:
    """Record the event before the file has its name: no backup is without its event."""
    audit = AuditLog(store=AuditStore(database), clock=SystemClock())
    details = {
        "file": path.name,
        "taken_at": to_text(contents.taken_at),
        "documents": contents.documents,
        "encrypted": encrypted,
    }
    for organization in await OrganizationStore(database).all():
        await audit.record(system_caller(organization.id), "system.backup", "system", None, details)


def unknown_in(contents: Contents) -> list[str]:
    """Return collections of the backup that this version of the product does not know."""
    return strangers(contents.collections)
