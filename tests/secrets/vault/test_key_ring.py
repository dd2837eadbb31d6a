"""Organization keys: made once although many ask at once, cached for a while, bounded."""

import asyncio
from datetime import UTC, datetime

import pytest

from netautod.core.identity.caller import OrgId
from netautod.secrets.vault import key_ring
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.key_ring import KeyRing
from netautod.secrets.vault.organization_keys import KeyStore, OrganizationKeys
from netautod.secrets.vault.root.store import RootStore
from netautod.store.client import Database
from tests.secrets.vault.conftest import OpenNode

ORG = OrgId("0b8c52ac-16ba-4d3f-9a7c-2f5ff0e46f3e")
PLACE = (ORG, "credentials", "c1", "secret")
ROOTS = {1: b"\x01" * 32, 2: b"\x02" * 32}


class HandClock:
    """A clock that moves only when told."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds


async def ring(database: Database, *, held: tuple[int, ...], active: tuple[int, ...]) -> KeyRing:
    """Build a node that holds `held`, in a database whose root versions are 1..2 and only `active` are
    active.
    """
    roots = RootStore(database, clock=HandClock())
    for version, secret in ROOTS.items():
        await roots.add(version, secret)
        if version not in active:
            await roots.retire(version)
    return KeyRing(
        KeyStore(database),
        roots,
        held={version: ROOTS[version] for version in held},
        clock=HandClock(),
        max_organizations=2,
    )


async def test_many_nodes_at_once_make_one_key(open_node: OpenNode) -> None:
    nodes = [await open_node("a") for _ in range(8)]
    sealed = await asyncio.gather(*(node.seal(*PLACE, b"x") for node in nodes for _ in range(4)))
    for value in sealed:
        assert await nodes[0].unseal(*PLACE, value) == b"x"
    assert {value["key_version"] for value in sealed} == {1}


async def test_concurrent_rotations_make_one_version_each(open_node: OpenNode) -> None:
    nodes = [await open_node("a") for _ in range(3)]
    made = await asyncio.gather(*(node.rotate_organization_key(ORG) for node in nodes))
    assert sorted(made) == [2, 3, 4]


async def test_new_seals_use_the_new_version_and_old_ones_still_open(open_node: OpenNode) -> None:
    node = await open_node()
    old = await node.seal(*PLACE, b"old")
    assert await node.rotate_organization_key(ORG) == 2
    new = await node.seal(*PLACE, b"new")
    assert (old["key_version"], new["key_version"]) == (1, 2)
    assert await node.unseal(*PLACE, old) == b"old"
    assert await node.unseal(*PLACE, new) == b"new"


async def test_another_node_opens_the_new_version_at_once_and_seals_with_it_soon(open_node: OpenNode) -> None:
    clock = HandClock()
    one, two = await open_node("a"), await open_node("a", clock=clock)
    await two.seal(*PLACE, b"x")
    await one.rotate_organization_key(ORG)
    assert (await two.seal(*PLACE, b"x"))["key_version"] == 1
    clock.seconds = key_ring.NEWEST_SECONDS + 1
    assert (await two.seal(*PLACE, b"x"))["key_version"] == 2
    await one.rotate_organization_key(ORG)
    assert await two.unseal(*PLACE, await one.seal(*PLACE, b"y")) == b"y"
    two.refresh()
    assert (await two.seal(*PLACE, b"x"))["key_version"] == 3


async def test_the_cache_is_bounded(database: Database) -> None:
    node = await ring(database, held=(1,), active=(1, 2))
    for name in ("a", "b", "a", "c"):
        await node.newest(OrgId(name))
    assert list(node._entries) == ["a", "c"]


async def test_unsealing_makes_no_keys(database: Database) -> None:
    node = await ring(database, held=(1,), active=(1,))
    with pytest.raises(VaultError, match="does not open"):
        await node.key(ORG, 1)
    assert not await KeyStore(database).any()


async def test_keys_that_a_dead_node_left_unready_are_taken_over(database: Database) -> None:
    store = KeyStore(database)
    left = OrganizationKeys.fresh(ORG, {1: ROOTS[1]})
    await store.insert(left)
    version, key = await (await ring(database, held=(1,), active=(1,))).newest(ORG)
    assert (version, key) == (1, left.opened(1, ROOTS))


async def test_unready_keys_under_a_retired_root_are_made_anew(database: Database) -> None:
    store = KeyStore(database)
    left = OrganizationKeys.fresh(ORG, {1: ROOTS[1]})
    await store.insert(left)
    await (await ring(database, held=(2,), active=(2,))).newest(ORG)
    found = await store.find(ORG)
    assert found is not None
    assert found.ready
    assert found.roots == {2}
    assert found.opened(1, ROOTS) != left.opened(1, ROOTS)


async def test_a_retired_root_is_stripped_when_keys_become_ready(database: Database) -> None:
    store = KeyStore(database)
    await store.insert(OrganizationKeys.fresh(ORG, ROOTS))
    await (await ring(database, held=(1, 2), active=(2,))).newest(ORG)
    found = await store.find(ORG)
    assert found is not None
    assert found.roots == {2}
    assert all(set(wraps) == {2} for wraps in found.keys.values())


async def test_a_node_with_a_retired_root_makes_no_keys(database: Database) -> None:
    node = await ring(database, held=(1,), active=(2,))
    with pytest.raises(VaultError, match="was replaced: restart it"):
        await node.newest(ORG)
    assert not await KeyStore(database).any()


async def test_a_node_with_a_retired_root_adds_no_version(database: Database) -> None:
    await (await ring(database, held=(2,), active=(2,))).newest(ORG)
    stale = await ring(database, held=(1,), active=(2,))
    with pytest.raises(VaultError, match="was replaced: restart it"):
        await stale.add_version(ORG)
