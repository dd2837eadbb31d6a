"""Replacing the root key while nodes run: two check values, both keys good, then the old one is refused.

`begin_root_rotation` adds the new key beside the old one: nodes that hold either work on, and they are
restarted with the new key file one by one. `finish_root_rotation` retires the old key. Every step may be
repeated after a crash. The secrets themselves are not touched, only the few wrapped keys per organization.
"""

from collections.abc import Awaitable, Callable

from netautod.core.clock import Clock, SystemClock
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.organization_keys import KeyStore, OrganizationKeys
from netautod.secrets.vault.root.key_file import RootKey
from netautod.secrets.vault.root.store import HeldRoots, RootStore, held_by, record_of
from netautod.store.client import Database


async def begin_root_rotation(
    database: Database, *, old: RootKey, new: RootKey, clock: Clock | None = None
) -> None:
    """Make the database accept `new` besides `old` and wrap every organization key under both.

    VaultError: `old` is wrong or retired, the keys are equal, or another rotation is not finished.
    """
    roots = RootStore(database, clock=clock or SystemClock())
    records = await roots.all()
    held = held_by(records, old)
    if old.secret == new.secret:
        raise VaultError("The new root key is the same as the old one")
    version = records[-1].version
    if record_of(records, new) is None:
        # A third key while some organization keys are under the first alone would lose those.
        if version not in held or any(record.previous is not None for record in records):
            raise VaultError("Another root key rotation is not finished: finish it with its own new key")
        await roots.add(version + 1, new.secret, previous=old.secret)
    # If another process added its own key at the same moment, this refuses ours.
    both = held_by(await roots.all(), new)
    await _sweep(KeyStore(database), max(both), both, finishing=False)


async def finish_root_rotation(database: Database, *, new: RootKey, clock: Clock | None = None) -> None:
    """Retire the old root key and remove its wraps. Nodes that still hold only the old key must be restarted.

    Does nothing if the rotation was finished before; VaultError if `new` is not the database's newest root
    key.
    """
    roots = RootStore(database, clock=clock or SystemClock())
    records = await roots.all()
    held = held_by(records, new)
    version = records[-1].version
    if version not in held:
        raise VaultError("The key given is the old root key: finish with the new one")
    for record in records[:-1]:
        # The mark comes before the sweep: key_ring._make_ready builds on that order.
        await roots.retire(record.version)
    await _sweep(KeyStore(database), version, held, finishing=True)
    await roots.forget_previous(version)


async def rotate_root_key(
    database: Database, *, old: RootKey, new: RootKey, clock: Clock | None = None
) -> None:
    """Do both steps at once, for an installation whose nodes are stopped; call again after a crash."""
    if not await _is_newest(database, new, clock or SystemClock()):
        await begin_root_rotation(database, old=old, new=new, clock=clock)
    await finish_root_rotation(database, new=new, clock=clock)


async def _is_newest(database: Database, key: RootKey, clock: Clock) -> bool:
    records = await RootStore(database, clock=clock).all()
    return bool(records) and records[-1].is_opened_by(key)


async def _sweep(keys: KeyStore, version: int, held: HeldRoots, *, finishing: bool) -> None:
    """Repeat until no key is left; a key that does not open stops the sweep before anything of it is lost."""
    remaining: Callable[[int], Awaitable[list[OrganizationKeys]]]
    remaining = keys.with_other_roots if finishing else keys.without_root
    while batch := await remaining(version):
        for found in batch:
            changed = found.only_root(version, held) if finishing else found.with_root(version, held)
            await keys.swap(found, changed)
