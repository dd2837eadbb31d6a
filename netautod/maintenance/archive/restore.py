"""`netautod restore`: a backup into an empty database, in steps that go on where they were interrupted."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from netautod.assembly.data.database import any_server, open_database
from netautod.assembly.data.migrations import require_known
from netautod.assembly.settings import Settings
from netautod.automation.executions.running.node import lease_times
from netautod.core.disk import space_of
from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.json.values import to_text
from netautod.maintenance.archive.claim import RestoreClaim, app_name, claimed
from netautod.maintenance.archive.file.keys import ArchiveKeys
from netautod.maintenance.archive.file.reading import CheckedArchive, checked
from netautod.maintenance.archive.file.records import Contents
from netautod.maintenance.archive.interrupting import Stop, in_thread
from netautod.maintenance.archive.loading import compare, load
from netautod.maintenance.archive.settling import Settled, settle
from netautod.secrets.vault.root.key_file import SETTING
from netautod.secrets.vault.root.store import record_of
from netautod.store.client import Database
from netautod.store.migrations.archive_errors import ArchiveError
from netautod.store.migrations.model import NewerDatabase
from netautod.store.migrations.restore_marker import COLLECTION as MARKER
from netautod.store.migrations.restore_marker import RestoreMarker, UnfinishedRestore


@dataclass(frozen=True, kw_only=True)
class Restored:
    """The result of a restore. `resumed`: an earlier call had started it."""

    contents: Contents
    settled: Settled
    resumed: bool


async def restore(
    settings: Settings, path: Path, passphrase: str | None, *, unauthenticated: bool = False
) -> Restored:
    """Restore; the error says if the disk of our own database ended it: a mongod without room dies.

    `unauthenticated`: the caller vouches for a backup without a passphrase that an earlier version made.
    """
    try:
        keys = await asyncio.to_thread(
            partial(ArchiveKeys.of, settings, passphrase, unauthenticated=unauthenticated)
        )
        return await _restore(settings, path, keys)
    except Unavailable as error:
        space = None if settings.mongodb.uri else space_of(settings.data_dir)
        if space is None or not space.scarce:
            raise
        raise ArchiveError(
            f"The restore is not finished, {space.full()}: make room and call it again"
        ) from error


async def _restore(settings: Settings, path: Path, keys: ArchiveKeys) -> Restored:
    """Write nothing before the whole file was read and found right, and the root key fits.

    Raises InvalidInput for a file that cannot be read or a wrong passphrase, ArchiveError, VaultError,
    Unavailable and DiskFull; after the last two the same call goes on. Conflict while another one is at work.
    """
    with _opened(path) as file:
        archive = await in_thread(partial(checked, file, keys))
        _require_key(keys, archive)
        owner = uuid4().hex
        async with (
            any_server(settings) as uri,
            open_database(settings, uri, app_name=app_name(owner)) as database,
        ):
            _require_migrations(settings, archive, database)
            resumed = await _marked(database, archive)
            async with claimed(database, owner, lease_times(settings.executions)) as claim:
                await _require_own(database, archive, claim)
                if claim.mark.phase != "loaded":
                    await _load(file, keys, archive, claim, uri=uri, database=database.name)
                settled = await settle(
                    database,
                    settings,
                    confirm=claim.confirm,
                    backup_id=archive.header.id,
                    taken_at=archive.contents.taken_at,
                    authenticated=archive.header.authenticated,
                )
                await claim.end()
    return Restored(contents=archive.contents, settled=settled, resumed=resumed)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}") from error
    try:
        with file:
            if not file.seekable():
                raise InvalidInput(f"{path} can be read only once, as a pipe: name a plain file")
            yield file
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {error.strerror or error}") from error


def _require_key(keys: ArchiveKeys, archive: CheckedArchive) -> None:
    """Raise ArchiveError if what is restored could not be opened."""
    key = keys.require_root()
    record = record_of(archive.roots, key)
    if record is None:
        raise keys.other_root()
    if not record.active:
        raise ArchiveError(
            f"The root key in {key.source} is older than this backup (nothing was written): "
            f"set {SETTING} to the one that replaced it"
        )


def _require_migrations(settings: Settings, archive: CheckedArchive, database: Database) -> None:
    """Raise ArchiveError for unknown migrations: a program of the same release may be older than a change of
    the data.
    """
    try:
        require_known(archive.applied, database, settings)
    except NewerDatabase as error:
        raise ArchiveError(
            f"This backup is of a newer program (nothing was written): {error.text}"
        ) from error


async def _marked(database: Database, archive: CheckedArchive) -> bool:
    """Return whether the database was marked before: an earlier call has started the restore."""
    marker = RestoreMarker(database)
    before = await marker.find()
    if before is None:
        await _require_empty(database)
    _require_of(archive, await marker.begin(archive.header.id, archive.contents.taken_at))
    return before is not None


def _require_of(archive: CheckedArchive, mark: UnfinishedRestore) -> None:
    if mark.backup_id != archive.header.id:
        raise ArchiveError(
            f"The restore of another backup, of {to_text(mark.taken_at)}, is not finished in this database: "
            "go on with that file, or drop the database"
        )


async def _require_own(database: Database, archive: CheckedArchive, claim: RestoreClaim) -> None:
    """Require that the mark is of this backup, and that the database holds only what a restore wrote."""
    _require_of(archive, claim.mark)
    if claim.mark.phase == "claimed":
        # A service that starts at this moment has made its collections before it looked for the mark.
        try:
            await _require_empty(database)
        except ArchiveError:
            await claim.end()
            raise


async def _require_empty(database: Database) -> None:
    found = await database.collection_names() - {MARKER}
    if found:
        raise ArchiveError(
            f"The database {database.name} is not empty (it has {len(found)} collections): "
            "a backup is restored into an empty one"
        )


async def _load(
    file: BinaryIO,
    keys: ArchiveKeys,
    archive: CheckedArchive,
    claim: RestoreClaim,
    *,
    uri: str,
    database: str,
) -> None:
    loop = asyncio.get_running_loop()

    def progress(frames: int) -> None:
        asyncio.run_coroutine_threadsafe(claim.progress(frames), loop).result()

    def work(stop: Stop) -> None:
        load(
            file,
            archive,
            keys,
            uri=uri,
            database=database,
            done=claim.mark.frames,
            progress=progress,
            guard=claim.guard,
            stop=stop,
        )
        compare(archive.contents, uri=uri, database=database, stop=stop)

    await claim.progress(claim.mark.frames)
    try:
        await in_thread(work)
    except ArchiveError:
        # A fail-over may have lost what was in: the next call sends everything again.
        await claim.progress(0)
        raise
    await claim.loaded()
