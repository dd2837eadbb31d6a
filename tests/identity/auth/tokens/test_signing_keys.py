"""The key ring: two first nodes, a restart, a rotation, and a key that was planted in the database."""

import asyncio
from datetime import timedelta

import jwt
import pytest

from netautod.core.errors import Conflict, Unauthenticated, Unavailable
from netautod.identity.auth.tokens.signing_keys import SigningKeys
from netautod.identity.auth.tokens.store import FIELD, SIGNING_KEYS, SigningKeyStore
from netautod.secrets.vault.errors import VaultError
from netautod.store.client import Database
from tests.identity.auth.support import INFO, NodeStarter
from tests.support.clock import MovableClock
from tests.support.installation import Installation


async def test_nodes_that_start_at_once_sign_with_one_key(start: NodeStarter, database: Database) -> None:
    nodes = await asyncio.gather(*(start() for _ in range(5)))
    assert len({(await node.logins.keys.signing()).kid for node in nodes}) == 1
    assert await database.collection(SIGNING_KEYS).count({}) == 1
    token = (await nodes[0].log_in()).access_token
    for node in [*nodes, await start()]:
        assert (await node.authenticator.authenticate(token, INFO)).username == "admin"


async def test_only_the_sealed_key_is_stored(start: NodeStarter, database: Database) -> None:
    key = await (await start()).logins.keys.signing()
    stored = await database.collection(SIGNING_KEYS).find_one({})
    assert stored is not None
    assert set(stored) == {"_id", "generation", FIELD, "signs_from", "alone_from", "created_at"}
    assert key.private.private_bytes_raw() not in bytes(stored[FIELD]["data"])
    assert "private" not in repr(key)


async def test_a_key_copied_under_another_id_stops_the_start(
    installation: Installation, clock: MovableClock, start: NodeStarter
) -> None:
    await start()
    keys = installation.database.collection(SIGNING_KEYS)
    stored = await keys.find_one({})
    assert stored is not None
    await keys.insert({**stored, "_id": "planted", "generation": 2})
    with pytest.raises(VaultError):
        await SigningKeys.open(
            store=SigningKeyStore(installation.database), vault=installation.vault, clock=clock
        )


HOUR = timedelta(hours=1)


async def test_a_rotation_refuses_no_token_on_any_node(start: NodeStarter, database: Database) -> None:
    nodes = [await start(), await start()]
    clock = nodes[0].clock
    old = await nodes[0].logins.keys.signing()
    tokens = [(await nodes[0].log_in()).access_token]
    new = await (await start()).logins.keys.rotate(token_lifetime=HOUR)
    assert [(await node.logins.keys.signing()).kid for node in nodes] == [old.kid] * 2
    for seconds in (20, 20, 19.999, 0.001, 0, 20, 20):  # at 60 s the new key begins to sign
        clock.move(seconds)
        tokens += [(await node.log_in()).access_token for node in nodes]
        for token in tokens:
            for node in nodes:
                assert (await node.authenticator.authenticate(token, INFO)).username == "admin"
    kids = [jwt.get_unverified_header(token)["kid"] for token in tokens]
    assert kids == [old.kid] * 7 + [new.kid] * 8


async def test_the_old_key_goes_when_its_last_token_has_expired(
    start: NodeStarter, database: Database
) -> None:
    node = await start()
    old = await node.logins.keys.signing()
    new = await node.logins.keys.rotate(token_lifetime=HOUR)
    node.clock.move(60 + 3600 + 59)
    assert await node.logins.keys.find(old.kid) is not None
    assert await database.collection(SIGNING_KEYS).count({}) == 2
    node.clock.move(30)
    assert await node.logins.keys.find(old.kid) is None
    assert (await node.logins.keys.signing()).kid == new.kid
    assert [row["_id"] for row in await database.collection(SIGNING_KEYS).find({})] == [new.kid]


async def test_a_token_that_was_good_before_is_refused_without_its_key(
    start: NodeStarter, database: Database
) -> None:
    node = await start()
    token = (await node.log_in()).access_token
    await node.authenticator.authenticate(token, INFO)
    await database.collection(SIGNING_KEYS).delete_many({})
    node.clock.move(29)
    await node.authenticator.authenticate(token, INFO)
    node.clock.move(1)
    with pytest.raises(Unauthenticated, match="Invalid or expired token"):
        await node.authenticator.authenticate(token, INFO)


async def test_of_two_rotations_one_waits_for_the_other(start: NodeStarter) -> None:
    nodes = [await start(), await start()]
    results = await asyncio.gather(
        *(node.logins.keys.rotate(token_lifetime=HOUR) for node in nodes), return_exceptions=True
    )
    assert [type(result) for result in results].count(Conflict) == 1
    with pytest.raises(Conflict, match="under way"):
        await nodes[0].logins.keys.rotate(token_lifetime=HOUR)
    nodes[0].clock.move(60)
    third = await nodes[0].logins.keys.rotate(token_lifetime=HOUR)
    assert third.generation == 3


async def test_the_first_key_signs_also_where_the_clock_is_behind(
    installation: Installation, clock: MovableClock
) -> None:
    await SigningKeys.open(
        store=SigningKeyStore(installation.database), vault=installation.vault, clock=clock
    )
    clock.move(-5)
    behind = await SigningKeys.open(
        store=SigningKeyStore(installation.database), vault=installation.vault, clock=clock
    )
    assert (await behind.signing()).generation == 1


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
    await asyncio.gather(*(node.logins.keys.find(f"made-up-{number}") for number in range(100)))
    assert len(reads) == 1


async def test_without_any_key_logins_wait(start: NodeStarter, database: Database) -> None:
    node = await start()
    await database.collection(SIGNING_KEYS).delete_many({})
    node.clock.move(30)
    with pytest.raises(Unavailable, match="no key to sign"):
        await node.logins.keys.signing()
