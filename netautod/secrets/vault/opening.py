"""The decision at start: which root key is the database's, and whether one may be made."""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path

from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.organization_keys import KeyStore
from netautod.secrets.vault.root.key_file import (
    FILE_NAME,
    SETTING,
    RootKey,
    discard_pending,
    load_pending,
    load_root_key,
    make_pending,
    publish,
)
from netautod.secrets.vault.root.store import FIRST_VERSION, HeldRoots, RootStore, held_by, record_of

logger = logging.getLogger(__name__)


async def open_roots(
    roots: RootStore,
    keys: KeyStore,
    *,
    data_dir: Path,
    key_file: Path | None,
    environ: Mapping[str, str] | None = None,
) -> HeldRoots:
    """Return the root keys for this node; a new one is created only if the database has never had one.

    Raises VaultError in one line: key missing, wrong, retired, or another node created its own key first.
    """
    key = await asyncio.to_thread(load_root_key, data_dir, key_file, environ=environ)
    if not await roots.all():
        if await keys.any():
            raise VaultError("The database holds encryption keys but no check value: restore its vault_roots")
        if key is None:
            key = await _create_first(roots, data_dir)
        else:
            # False means that another node was faster: held_by checks whether with the same key.
            await roots.add(FIRST_VERSION, key.secret)
    elif key is None:
        key = await _adopt_pending(roots, data_dir)
    held = held_by(await roots.all(), key)
    # Left over if an earlier start died between `master.key` and the removal of its pending twin.
    await asyncio.to_thread(discard_pending, data_dir)
    return held


async def known_roots(
    roots: RootStore, *, data_dir: Path, key_file: Path | None, environ: Mapping[str, str] | None = None
) -> HeldRoots | None:
    """Return what `open_roots` does, but create and move nothing; None for a database without a root key yet.

    Raises VaultError in one line.
    """
    key = await asyncio.to_thread(load_root_key, data_dir, key_file, environ=environ)
    records = await roots.all()
    if not records:
        return None
    if key is None:
        raise _missing(data_dir)
    return held_by(records, key)


async def _create_first(roots: RootStore, data_dir: Path) -> RootKey:
    key = await asyncio.to_thread(make_pending, data_dir)
    await roots.add(FIRST_VERSION, key.secret)
    if record_of(await roots.all(), key) is None:
        await asyncio.to_thread(discard_pending, data_dir)
        raise VaultError(
            "Another node made the root key of this database first: copy its master.key to this node "
            f"and set {SETTING} to it"
        )
    made = await asyncio.to_thread(publish, data_dir, key)
    logger.warning("made the root key %s: keep a copy elsewhere, no secret opens without it", made.source)
    return made


async def _adopt_pending(roots: RootStore, data_dir: Path) -> RootKey:
    """Return the pending key, if the last start died between its check value and `master.key`."""
    pending = await asyncio.to_thread(load_pending, data_dir)
    if pending is not None:
        if record_of(await roots.all(), pending) is not None:
            return await asyncio.to_thread(publish, data_dir, pending)
        await asyncio.to_thread(discard_pending, data_dir)
    raise _missing(data_dir)


def _missing(data_dir: Path) -> VaultError:
    return VaultError(
        "The database is encrypted but this node has no root key: "
        f"set {SETTING} to it, or put it at {data_dir / FILE_NAME}"
    )
