"""Fixtures of the vault's tests: nodes that open the vault from a data directory of their own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from netautod.core.clock import Clock
from netautod.secrets.vault.root.key_file import RootKey, write_root_key
from netautod.secrets.vault.vault import Vault
from netautod.store.client import Database

OpenNode = Callable[..., Awaitable[Vault]]


@pytest.fixture
def open_node(database: Database, tmp_path: Path) -> OpenNode:
    """Start nodes: `await open_node("a")` starts one with the data directory `a`; again is a restart
    of it.
    """

    async def start(name: str = "a", key: RootKey | None = None, clock: Clock | None = None) -> Vault:
        key_file = None if key is None else key.source
        return await Vault.open(
            database, data_dir=tmp_path / name, key_file=key_file, environ={}, clock=clock
        )

    return start


@pytest.fixture
async def vault(open_node: OpenNode) -> Vault:
    return await open_node()


@dataclass(frozen=True, kw_only=True)
class Keys:
    """A set of three root keys in files."""

    first: RootKey
    second: RootKey
    third: RootKey


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    def made(number: int) -> RootKey:
        path = tmp_path / f"root-{number}"
        secret = bytes([number]) * 16 + bytes(range(16))
        write_root_key(path, secret)
        return RootKey(secret=secret, source=path)

    return Keys(first=made(1), second=made(2), third=made(3))
