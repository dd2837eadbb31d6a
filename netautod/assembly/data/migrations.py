"""The table of all migrations of the service, in the order of their numbers.

A release that changes how something is stored adds a line with the next number, and takes none away: the
numbers are how an older program knows that a database is none of its own any more, and `since` is the version
that it then names as the one to install: the `__version__` that the line comes with. What a new line does
must leave the data readable to the version before it, whose nodes may run beside it until they are stopped. A
change of an index is one, too: another line `indexes` (tests hold the fingerprint in the last one's name).
Where one is left behind, another line `dropped indexes` has the fingerprint of DROPPED. All these lines drop
all of DROPPED, so all wait until no node lives that does not know the last of them: that may name the index
by which it reads.
"""

import logging
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from netautod.activity.audit.chain.adoption import adopt
from netautod.assembly.data.document_reading import grant_reading, grant_reading_to_latest
from netautod.assembly.data.dropped_indexes import DROPPED
from netautod.assembly.data.stores import INDEXES, Stores
from netautod.assembly.settings import Settings
from netautod.core.work.guard import Guard
from netautod.identity.auth.settings import AuthSettings
from netautod.network.configs.backups.legacy_states import take_over
from netautod.network.devices.records import queries as devices
from netautod.network.devices.vouching.upgrade import note_unvouched, vouch_for_all
from netautod.network.inventory import store as sources
from netautod.store.client import Database
from netautod.store.indexes import create_indexes, drop_indexes
from netautod.store.migrations.model import Migration, NewerDatabase
from netautod.store.migrations.runner import newer_than
from netautod.store.migrations.store import Applied

logger = logging.getLogger(__name__)
LAST_DROP = 12  # the number of the last line that drops indexes
VOUCHED_FOR = (devices.COLLECTION, sources.COLLECTION)


def list_migrations(database: Database, stores: Stores, settings: AuthSettings) -> Sequence[Migration]:
    async def indexes(guard: Guard) -> None:
        await create_indexes(database, INDEXES, guard=guard)

    async def search_texts(guard: Guard) -> None:
        await stores.devices.make_searchable(guard)

    async def token_ends(guard: Guard) -> None:
        life = timedelta(days=settings.api_token_days)
        ended = await stores.api_tokens.give_end(await database.now() + life, guard)
        if ended:
            logger.warning("%d API tokens without an end now end in %g days", ended, life / timedelta(days=1))

    async def audit_chain(guard: Guard) -> None:
        await adopt(stores.audit.chains, guard)

    async def backup_states(guard: Guard) -> None:
        await take_over(database, stores.configs, guard)

    async def dropped_indexes(guard: Guard) -> None:
        await drop_indexes(database, DROPPED, guard=guard)

    unread = partial(stores.system.all_know, LAST_DROP)
    return (
        Migration(number=1, since="0.1.0", name="indexes 23c27254fe3194fc", apply=indexes, catch_up=indexes),
        Migration(
            number=2,
            since="0.1.0",
            name="devices that are vouched for",
            apply=partial(vouch_for_all, database, VOUCHED_FOR),
            catch_up=partial(note_unvouched, database, VOUCHED_FOR),
        ),
        Migration(
            number=3, since="0.1.0", name="search texts of devices", apply=search_texts, catch_up=search_texts
        ),
        Migration(number=4, since="0.1.0", name="ends of API tokens", apply=token_ends, catch_up=token_ends),
        Migration(number=5, since="0.1.0", name="chain of the audit", apply=audit_chain, in_background=True),
        Migration(number=6, since="0.1.0", name="indexes 2f2aa39ebed51d25", apply=indexes, catch_up=indexes),
        Migration(
            number=7, since="0.1.0", name="states of backups", apply=backup_states, catch_up=backup_states
        ),
        Migration(number=8, since="0.1.0", name="indexes a14e5ea079b7c3bf", apply=indexes, catch_up=indexes),
        Migration(
            number=9,
            since="0.1.0",
            name="dropped indexes a9313290dfb81c55",
            apply=dropped_indexes,
            in_background=True,
            ready=unread,
        ),
        Migration(
            number=10,
            since="0.2.0",
            name="permission to read documents",
            apply=partial(grant_reading, database),
            catch_up=partial(grant_reading_to_latest, database),
        ),
        Migration(number=11, since="0.2.1", name="indexes 4d5771b1a28f1dfa", apply=indexes, catch_up=indexes),
        Migration(
            number=LAST_DROP,
            since="0.2.2",
            name="dropped indexes 5b97185a44714144",
            apply=dropped_indexes,
            in_background=True,
            ready=unread,
        ),
    )


def require_known(applied: Sequence[Applied], database: Database, settings: Settings) -> None:
    """Raise NewerDatabase if a newer version has migrated the database, or the backup that goes into it."""
    known = list_migrations(database, Stores.of(database, settings.retention), settings.auth)
    refusal = newer_than(known, applied)
    if refusal is not None:
        raise NewerDatabase(refusal)
