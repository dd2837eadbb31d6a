"""Brings the data to the form of this version: one node at a time, whatever dies in between.

What is to be done is what the database has no finished record of. The lease keeps two nodes from doing it at
the same time; since every step is idempotent, one that lost its lease unnoticed does no harm either.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from netautod import __version__
from netautod.core.errors import NetautodError, Unavailable
from netautod.core.work.deadlines import migrating
from netautod.core.work.guard import LeaseLostError, no_guard
from netautod.store.client import Database
from netautod.store.leases.lease import Lease
from netautod.store.leases.named import NamedLeases
from netautod.store.migrations.model import Migration, MigrationFailed, NewerDatabase, Step
from netautod.store.migrations.store import Applied, MigrationStore

logger = logging.getLogger(__name__)
LEASE, BACKGROUND_LEASE = "migrations", "migrations:background"
LOOK_SECONDS = 0.25

Busy = Callable[[bool], None]
"""Called when migrations, or the wait for those of another node, begin and end."""


Unless = Callable[[], Awaitable[None]]
"""Raises what forbids a change of the data; awaited when this or another node is about to change it."""


def ignore_busy(busy: bool) -> None:
    """Ignore whether migrations run."""


async def unhindered() -> None:
    """Allow the migrations."""


def newer_than(known: Sequence[Migration], applied: Sequence[Applied]) -> str | None:
    """Return the sentence with which this program refuses the database; None if it knows all applied
    migrations.
    """
    newest = max((migration.number for migration in known), default=0)
    beyond = [one for one in applied if one.number > newest]
    if not beyond:
        return None
    last = beyond[-1]
    return (
        f"netautod {last.version} has migrated this database to number {last.number} ({last.name}), this "
        f"program ({__version__}) knows numbers up to {newest}: it needs netautod {last.since} or newer; "
        "install that, or restore a backup from before the upgrade"
    )


class MigrationRunner:
    """A runner of `migrations`, given in the order of their numbers."""

    def __init__(
        self,
        database: Database,
        migrations: Sequence[Migration],
        *,
        leases: NamedLeases,
        busy: Busy = ignore_busy,
        unless: Unless = unhindered,
    ) -> None:
        self._store = MigrationStore(database)
        self._migrations = migrations
        self._leases = leases
        self._busy = busy
        self._unless = unless

    async def bring_up(self) -> None:
        """Apply what is due before anything is served, or wait until another node has done it.

        Raises NewerDatabase for a database that a newer version has migrated, and MigrationFailed.
        """
        with migrating():
            if await self._due(background=False):
                with self._reporting():
                    await self._until_done()
            await self._unless()
            # Several of them, those of indexes, catch up with the same: once is enough.
            for catch_up in dict.fromkeys(migration.catch_up for migration in self._migrations):
                if catch_up is not None:
                    await catch_up(no_guard)

    async def _until_done(self) -> None:
        waiting = False
        while due := await self._due(background=False):
            held = await self._leases.acquire(LEASE)
            if held is not None:
                await self._under(held, background=False)
                continue
            if not waiting:
                logger.warning("another node migrates the database (%s): waiting for it", due[0].name)
                waiting = True
            await asyncio.sleep(LOOK_SECONDS)

    async def go_on_in_background(self) -> None:
        """Apply long migrations while the service works; it is called again and again."""
        with migrating():
            try:
                if await self._due(background=True):
                    held = await self._leases.acquire(BACKGROUND_LEASE)
                    if held is not None:
                        await self._under(held, background=True)
            except NewerDatabase:
                return  # nodes of the next version run beside this one: it is theirs to do

    async def _due(self, *, background: bool) -> list[Migration]:
        applied = await self._store.all()
        refusal = newer_than(self._migrations, applied)
        if refusal is not None:
            raise NewerDatabase(refusal)
        done = {one.number for one in applied if one.done_at is not None}
        wanted = [migration for migration in self._migrations if migration.in_background is background]
        left = [migration for migration in wanted if migration.number not in done]
        return [migration for migration in left if migration.ready is None or await migration.ready()]

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        self._busy(True)
        try:
            yield
        finally:
            self._busy(False)

    async def _under(self, held: Lease, *, background: bool) -> None:
        try:
            await self._unless()
            done = set[Step]()
            # Another node may have been at it until now.
            for migration in await self._due(background=background):
                await self._apply(migration, held, is_done=migration.apply in done)
                done.add(migration.apply)
        except LeaseLostError:
            logger.warning("the lease of the migrations is lost: another node goes on with them")
        finally:
            await self._leases.release(held)

    async def _apply(self, migration: Migration, held: Lease, *, is_done: bool) -> None:
        """Apply one migration. With `is_done` another one has done the same just now; it is only recorded."""
        began = time.monotonic()
        held.guard()
        await self._store.begin(migration)
        if not is_done:
            await self._try(migration, held)
        held.guard()
        seconds = time.monotonic() - began
        await self._store.finish(migration, seconds=seconds)
        logger.info("migration %d (%s) done in %.1f s", migration.number, migration.name, seconds)

    async def _try(self, migration: Migration, held: Lease) -> None:
        """Try a migration. A failure is logged with its number and name, and recorded for the doctor."""
        try:
            await migration.apply(held.guard)
        except (LeaseLostError, Unavailable):
            raise  # the next node, or the next try, goes on
        except Exception as error:
            reason = error.text if isinstance(error, NetautodError) else f"{type(error).__name__}: {error}"
            with suppress(Unavailable):
                await self._store.note_failure(migration, reason)
            text = f"migration {migration.number} ({migration.name}) cannot be done: {reason}"
            if isinstance(error, NetautodError):
                raise MigrationFailed(text) from error
            error.add_note(text)  # a mistake of ours: the stack is wanted, too
            raise
