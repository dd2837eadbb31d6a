"""Replacing the root key: both keys good in between, the old one refused afterwards, crashes resumed."""

import pytest

from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.organization_keys import KeyStore, OrganizationKeys
from netautod.secrets.vault.root.key_file import RootKey
from netautod.secrets.vault.root.store import RootStore
from netautod.secrets.vault.root_rotation import begin_root_rotation, finish_root_rotation, rotate_root_key
from netautod.secrets.vault.vault import Vault
from netautod.store.client import Database, Document
from tests.secrets.vault.conftest import Keys, OpenNode
from tests.support.clock import MovableClock

ORGS = [OrgId(f"org-{number}") for number in range(5)]
Sealed = dict[OrgId, Document]


async def sealed_by(vault: Vault, orgs: list[OrgId] = ORGS) -> Sealed:
    return {org_id: await vault.seal(org_id, "things", "1", "secret", org_id.encode()) for org_id in orgs}


async def assert_opens(vault: Vault, sealed: Sealed) -> None:
    for org_id, value in sealed.items():
        assert await vault.unseal(org_id, "things", "1", "secret", value) == org_id.encode()


async def assert_refused(open_node: OpenNode, key: RootKey) -> None:
    with pytest.raises(VaultError, match="was replaced by a newer one: set NETAUTOD_MASTER_KEY_FILE"):
        await open_node("z", key)


async def roots_in_use(database: Database) -> set[str]:
    found = await database.collection("vault_keys").find({})
    return {root for document in found for wraps in document["keys"].values() for root in wraps}


async def test_a_rotation_keeps_every_secret_and_refuses_the_old_key(
    open_node: OpenNode, database: Database, keys: Keys
) -> None:
    before = await open_node("a", keys.first)
    sealed = await sealed_by(before)
    derived = await before.derived_key(ORGS[0], "content")
    await rotate_root_key(database, old=keys.first, new=keys.second)

    after = await open_node("a", keys.second)
    await assert_opens(after, sealed)
    assert await after.derived_key(ORGS[0], "content") == derived
    await assert_refused(open_node, keys.first)
    assert await roots_in_use(database) == {"2"}
    newest = await database.collection("vault_roots").find_one({"_id": 2})
    assert newest is not None
    assert "previous" not in newest


async def test_doing_it_again_changes_nothing(open_node: OpenNode, database: Database, keys: Keys) -> None:
    await sealed_by(await open_node("a", keys.first))
    await rotate_root_key(database, old=keys.first, new=keys.second)
    before = await database.collection("vault_keys").find({})
    await rotate_root_key(database, old=keys.first, new=keys.second)
    assert await database.collection("vault_keys").find({}) == before


async def test_when_keys_were_made_and_retired_is_kept(
    open_node: OpenNode, database: Database, keys: Keys
) -> None:
    clock = MovableClock()
    await open_node("a", keys.first, clock)
    began = clock.now()
    clock.move(86_400)
    await rotate_root_key(database, old=keys.first, new=keys.second, clock=clock)
    first, second = await database.collection("vault_roots").find({}, sort=[("_id", 1)])
    assert (first["made_at"], first["retired_at"]) == (began, clock.now())
    assert second["made_at"] == clock.now()
    assert "retired_at" not in second


async def test_three_keys_one_after_the_other(open_node: OpenNode, database: Database, keys: Keys) -> None:
    sealed = await sealed_by(await open_node("a", keys.first))
    await rotate_root_key(database, old=keys.first, new=keys.second)
    await rotate_root_key(database, old=keys.second, new=keys.third)
    await assert_opens(await open_node("a", keys.third), sealed)
    await assert_refused(open_node, keys.first)
    await assert_refused(open_node, keys.second)
    assert await roots_in_use(database) == {"3"}


async def test_while_it_runs_nodes_with_either_key_share_everything(
    open_node: OpenNode, database: Database, keys: Keys
) -> None:
    running = await open_node("a", keys.first)
    sealed = await sealed_by(running, ORGS[:2])
    await begin_root_rotation(database, old=keys.first, new=keys.second)
    old, new = await open_node("a", keys.first), await open_node("b", keys.second)
    sealed |= await sealed_by(new, ORGS[2:3])
    sealed |= await sealed_by(running, ORGS[3:4])
    sealed |= await sealed_by(old, ORGS[4:])
    await running.rotate_organization_key(ORGS[0])
    sealed |= await sealed_by(running, ORGS[:1])
    for node in (running, old, new):
        node.refresh()
        await assert_opens(node, sealed)

    await finish_root_rotation(database, new=keys.second)
    await assert_opens(await open_node("b", keys.second), sealed)
    await assert_refused(open_node, keys.first)
    assert await roots_in_use(database) == {"2"}


async def test_a_node_that_missed_the_end_makes_no_key_under_the_old_root(
    open_node: OpenNode, database: Database, keys: Keys
) -> None:
    stale = await open_node("a", keys.first)
    await stale.seal(ORGS[0], "things", "1", "secret", b"x")
    await rotate_root_key(database, old=keys.first, new=keys.second)
    for org_id in ORGS[:2]:
        with pytest.raises(VaultError, match="restart it with the new key"):
            await stale.rotate_organization_key(org_id)
    assert await roots_in_use(database) == {"2"}


async def test_a_node_started_in_between_uses_only_the_new_root_afterwards(
    open_node: OpenNode, database: Database, keys: Keys
) -> None:
    await sealed_by(await open_node("a", keys.first), ORGS[:1])
    await begin_root_rotation(database, old=keys.first, new=keys.second)
    node = await open_node("b", keys.second)
    await finish_root_rotation(database, new=keys.second)
    await node.rotate_organization_key(ORGS[0])
    await sealed_by(node)
    assert await roots_in_use(database) == {"2"}


async def test_a_key_made_between_look_and_sweep_is_not_lost(
    open_node: OpenNode, database: Database, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Repair the key of the slowest node: it looked before the mark, and inserts after the sweep."""
    stale = await open_node("a", keys.first)
    insert = KeyStore.insert

    async def late(store: KeyStore, made: OrganizationKeys) -> bool:
        await rotate_root_key(database, old=keys.first, new=keys.second)
        return await insert(store, made)

    with monkeypatch.context() as patch:
        patch.setattr(KeyStore, "insert", late)
        with pytest.raises(VaultError, match="restart it with the new key"):
            await stale.seal(ORGS[0], "things", "1", "secret", b"x")
    sealed = await sealed_by(await open_node("b", keys.second))
    await assert_opens(await open_node("b", keys.second), sealed)
    assert await roots_in_use(database) == {"2"}


@pytest.mark.parametrize("swaps", range(2 * len(ORGS)))
async def test_a_crash_at_any_key_is_resumed(
    open_node: OpenNode, database: Database, keys: Keys, monkeypatch: pytest.MonkeyPatch, swaps: int
) -> None:
    sealed = await sealed_by(await open_node("a", keys.first))
    swap = KeyStore.swap
    left = swaps

    async def dying(store: KeyStore, old: OrganizationKeys, new: OrganizationKeys) -> bool:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        return await swap(store, old, new)

    with monkeypatch.context() as patch:
        patch.setattr(KeyStore, "swap", dying)
        with pytest.raises(KeyboardInterrupt):
            await rotate_root_key(database, old=keys.first, new=keys.second)
    await assert_opens(await open_node("b", keys.second), sealed)
    if swaps < len(ORGS):
        await assert_opens(await open_node("a", keys.first), sealed)

    await rotate_root_key(database, old=keys.first, new=keys.second)
    await assert_opens(await open_node("b", keys.second), sealed)
    await assert_refused(open_node, keys.first)
    assert await roots_in_use(database) == {"2"}


@pytest.mark.parametrize("step", ["add", "retire", "forget_previous"])
async def test_a_crash_after_any_step_is_resumed(
    open_node: OpenNode, database: Database, keys: Keys, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    sealed = await sealed_by(await open_node("a", keys.first))
    original = getattr(RootStore, step)

    async def dying(*arguments: object, **options: object) -> None:
        await original(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RootStore, step, dying)
        with pytest.raises(KeyboardInterrupt):
            await rotate_root_key(database, old=keys.first, new=keys.second)
    await rotate_root_key(database, old=keys.first, new=keys.second)
    await assert_opens(await open_node("b", keys.second), sealed)
    await assert_refused(open_node, keys.first)


async def test_a_second_rotation_waits_for_the_first(
    open_node: OpenNode, database: Database, keys: Keys
) -> None:
    sealed = await sealed_by(await open_node("a", keys.first))
    await begin_root_rotation(database, old=keys.first, new=keys.second)
    for old in (keys.first, keys.second):
        with pytest.raises(VaultError, match="is not finished"):
            await begin_root_rotation(database, old=old, new=keys.third)
    await finish_root_rotation(database, new=keys.second)
    await assert_opens(await open_node("a", keys.second), sealed)


async def test_refusals_name_the_mistake(open_node: OpenNode, database: Database, keys: Keys) -> None:
    await open_node("a", keys.first)
    with pytest.raises(VaultError, match="is not the one of this database"):
        await begin_root_rotation(database, old=keys.second, new=keys.third)
    with pytest.raises(VaultError, match="same as the old one"):
        await begin_root_rotation(database, old=keys.first, new=keys.first)
    with pytest.raises(VaultError, match="is not the one of this database"):
        await finish_root_rotation(database, new=keys.second)
    await begin_root_rotation(database, old=keys.first, new=keys.second)
    with pytest.raises(VaultError, match="finish with the new one"):
        await finish_root_rotation(database, new=keys.first)


async def test_a_damaged_organization_key_stops_the_end_before_anything_of_it_is_lost(
    open_node: OpenNode, database: Database, keys: Keys
) -> None:
    await sealed_by(await open_node("a", keys.first))
    documents = database.collection("vault_keys")
    await documents.update({"_id": ORGS[2]}, {"$set": {"keys.1.1": b"damaged" * 9}})
    before = await documents.find_one({"_id": ORGS[2]})
    with pytest.raises(VaultError, match="does not open"):
        await rotate_root_key(database, old=keys.first, new=keys.second)
    assert await documents.find_one({"_id": ORGS[2]}) == before
