"""The key ring: two first nodes, a restart, a rotation, and who writes a key of his own into it."""

import asyncio

import pytest

from netautod.auth.signing_keys import COLLECTION, FIELD, SigningKeys
from netautod.errors import Unavailable
from netautod.store.client import Database
from netautod.vault.errors import VaultError
from netautod.vault.vault import Vault
from tests.auth.support import INFO, NodeStarter
from tests.users.support import Installation, MovableClock


async def test_nodes_that_start_at_once_sign_with_one_key(start: NodeStarter, database: Database) -> None:
    nodes = await asyncio.gather(*(start() for _ in range(5)))
    assert len({(await node.keys.signing()).kid for node in nodes}) == 1
    assert await database.collection(COLLECTION).count({}) == 1
    token = (await nodes[0].log_in()).access_token
    for node in [*nodes, await start()]:
        assert (await node.authenticator.authenticate(token, INFO)).username == "admin"


async def test_only_the_sealed_key_is_stored(start: NodeStarter, database: Database) -> None:
    key = await (await start()).keys.signing()
    stored = await database.collection(COLLECTION).find_one({})
    assert stored is not None
    assert set(stored) == {"_id", "state", FIELD, "created_at"}
    assert key.private.private_bytes_raw() not in bytes(stored[FIELD]["data"])
    assert "private" not in repr(key)


async def test_a_key_copied_under_another_id_stops_the_start(
    installation: Installation, vault: Vault, clock: MovableClock, start: NodeStarter
) -> None:
    await start()
    keys = installation.database.collection(COLLECTION)
    stored = await keys.find_one({})
    assert stored is not None
    await keys.insert({**stored, "_id": "planted", "state": "verifying"})
    with pytest.raises(VaultError):
        await SigningKeys.open(installation.database, vault=vault, clock=clock)


async def test_tokens_of_a_replaced_key_verify_until_it_is_removed(
    start: NodeStarter, database: Database
) -> None:
    first = await start()
    old = await first.keys.signing()
    token = (await first.log_in()).access_token
    keys = database.collection(COLLECTION)
    await keys.update({"_id": old.kid}, {"$set": {"state": "verifying"}})
    second = await start()  # finds no signing key and makes one
    new = await second.keys.signing()
    assert new.kid != old.kid
    assert (await second.authenticator.authenticate(token, INFO)).username == "admin"
    fresh = (await second.log_in()).access_token
    first.clock.move(1)  # an unknown key id is looked up, once a second at most
    assert (await first.authenticator.authenticate(fresh, INFO)).username == "admin"
    assert (await first.keys.signing()).kid == new.kid
    await keys.delete({"_id": old.kid})
    first.clock.move(30)
    assert await first.keys.find(old.kid) is None


async def test_made_up_key_ids_do_not_load_the_database(
    start: NodeStarter, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = await start()
    reads = []
    real = SigningKeys._read

    async def counted(self: SigningKeys) -> None:
        reads.append(1)
        await real(self)

    monkeypatch.setattr(SigningKeys, "_read", counted)
    node.clock.move(1)
    await asyncio.gather(*(node.keys.find(f"made-up-{number}") for number in range(100)))
    assert len(reads) == 1


async def test_in_the_middle_of_a_rotation_logins_wait(start: NodeStarter, database: Database) -> None:
    node = await start()
    await database.collection(COLLECTION).update({}, {"$set": {"state": "verifying"}})
    node.clock.move(30)
    with pytest.raises(Unavailable, match="being replaced"):
        await node.keys.signing()
