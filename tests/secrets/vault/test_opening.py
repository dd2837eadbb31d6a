"""Starting a node: first start, restart, wrong or missing keys, two first nodes, crashes in between."""

import asyncio
from pathlib import Path

import pytest

from netautod.core.errors import UnknownOutcome
from netautod.core.identity.caller import OrgId
from netautod.secrets.vault import opening
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.root.key_file import RootKey, make_pending
from netautod.secrets.vault.root.store import COLLECTION, RootStore
from netautod.secrets.vault.vault import Vault
from netautod.store.client import Database
from tests.secrets.vault.conftest import Keys, OpenNode

ORG = OrgId("0b8c52ac-16ba-4d3f-9a7c-2f5ff0e46f3e")
PLACE = (ORG, "credentials", "c1", "secret")


async def test_the_first_start_makes_a_key_and_a_restart_opens_with_it(
    open_node: OpenNode, tmp_path: Path
) -> None:
    sealed = await (await open_node("a")).seal(*PLACE, b"hunter2")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["master.key"]
    assert await (await open_node("a")).unseal(*PLACE, sealed) == b"hunter2"


async def test_two_first_nodes_with_their_own_fresh_keys(open_node: OpenNode, tmp_path: Path) -> None:
    results = await asyncio.gather(*(open_node(name) for name in "abcd"), return_exceptions=True)
    named = zip("abcd", results, strict=True)
    errors = {name: result for name, result in named if isinstance(result, BaseException)}
    assert len(errors) == 3
    for name, error in errors.items():
        assert isinstance(error, VaultError)
        assert "NETAUTOD_MASTER_KEY_FILE" in error.text
        assert "\n" not in error.text
        assert list((tmp_path / name).iterdir()) == []


async def test_a_loser_that_gets_the_winners_key_file_works(
    open_node: OpenNode, database: Database, tmp_path: Path
) -> None:
    winner = await open_node("a")
    with pytest.raises(VaultError, match="set NETAUTOD_MASTER_KEY_FILE to it"):
        await open_node("b")
    other = await Vault.open(
        database, data_dir=tmp_path / "b", key_file=tmp_path / "a" / "master.key", environ={}
    )
    assert await other.unseal(*PLACE, await winner.seal(*PLACE, b"x")) == b"x"


async def test_a_wrong_key_is_one_line_and_changes_nothing(
    open_node: OpenNode, database: Database, keys: Keys
) -> None:
    node = await open_node("a", keys.first)
    sealed = await node.seal(*PLACE, b"x")
    before = await database.collection(COLLECTION).find({})
    with pytest.raises(VaultError, match="is not the one of this database") as caught:
        await open_node("b", keys.second)
    assert "NETAUTOD_MASTER_KEY_FILE" in caught.value.text
    assert str(keys.second.source) in caught.value.text
    assert "\n" not in caught.value.text
    assert await database.collection(COLLECTION).find({}) == before
    assert await (await open_node("a", keys.first)).unseal(*PLACE, sealed) == b"x"


async def test_two_first_nodes_with_different_given_keys(open_node: OpenNode, keys: Keys) -> None:
    results = await asyncio.gather(
        open_node("a", keys.first), open_node("b", keys.second), return_exceptions=True
    )
    assert [type(result) for result in results if isinstance(result, BaseException)] == [VaultError]


async def test_two_first_nodes_with_the_same_given_key_both_start(open_node: OpenNode, keys: Keys) -> None:
    one, two = await asyncio.gather(open_node("a", keys.first), open_node("b", keys.first))
    assert await two.unseal(*PLACE, await one.seal(*PLACE, b"x")) == b"x"


async def test_a_lost_key_is_not_replaced(open_node: OpenNode, tmp_path: Path) -> None:
    await open_node("a")
    (tmp_path / "a" / "master.key").unlink()
    with pytest.raises(VaultError, match="has no root key: set NETAUTOD_MASTER_KEY_FILE"):
        await open_node("a")
    assert list((tmp_path / "a").iterdir()) == []


async def test_no_key_is_made_when_only_the_check_value_was_lost(
    open_node: OpenNode, database: Database, tmp_path: Path
) -> None:
    await (await open_node("a")).seal(*PLACE, b"x")
    await database.collection(COLLECTION).delete_many({})
    with pytest.raises(VaultError, match="no check value"):
        await open_node("b")
    assert not (tmp_path / "b").exists()


async def test_a_crash_after_the_check_value_is_repaired_by_the_next_start(
    open_node: OpenNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def power_cut(data_dir: Path, key: RootKey) -> RootKey:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(opening, "publish", power_cut)
        with pytest.raises(KeyboardInterrupt):
            await open_node("a")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["master.key.pending"]
    node = await open_node("a")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["master.key"]
    assert await (await open_node("a")).unseal(*PLACE, await node.seal(*PLACE, b"x")) == b"x"


async def test_an_unanswered_first_insert_is_repaired_by_the_next_start(
    open_node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = RootStore.add

    async def unanswered(store: RootStore, version: int, secret: bytes) -> bool:
        await add(store, version, secret)
        raise UnknownOutcome("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(RootStore, "add", unanswered)
        with pytest.raises(UnknownOutcome):
            await open_node("a")
    await open_node("a")


async def test_a_pending_key_that_lost_against_another_node_is_thrown_away(
    open_node: OpenNode, tmp_path: Path
) -> None:
    make_pending(tmp_path / "b")
    await open_node("a")
    with pytest.raises(VaultError, match="has no root key"):
        await open_node("b")
    assert list((tmp_path / "b").iterdir()) == []
