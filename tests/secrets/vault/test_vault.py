"""Sealing and opening: places, attacks on the stored documents, large values, derived keys."""

import asyncio
import base64
from typing import Any

import bson
import pytest

from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.root.store import held_by
from netautod.secrets.vault.vault import INSTALLATION, MAX_PLAINTEXT_BYTES, Vault
from netautod.store.client import Database, Document
from tests.secrets.vault.conftest import Keys, OpenNode

ORG = OrgId("0b8c52ac-16ba-4d3f-9a7c-2f5ff0e46f3e")
OTHER = OrgId("9d1d7f5e-6f6f-4c43-8a19-4e0f1f3c2b1a")
PLACE = (ORG, "credentials", "c1", "secret")


@pytest.mark.parametrize(
    "plaintext",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"hunter2", id="a password"),
        pytest.param(b"\x00\xff" * 100, id="bytes that are no text"),
        pytest.param(b"config\n" * 60_000, id="more than the thread threshold"),
        pytest.param(b"x" * MAX_PLAINTEXT_BYTES, id="8 MiB"),
    ],
)
async def test_opens_what_was_sealed_also_after_a_trip_through_the_database(
    vault: Vault, database: Database, plaintext: bytes
) -> None:
    documents = database.collection("credentials")
    await documents.insert({"_id": "c1", "secret": await vault.seal(*PLACE, plaintext)})
    stored = await documents.find_one({"_id": "c1"})
    assert stored is not None
    assert await vault.unseal(*PLACE, stored["secret"]) == plaintext


async def test_more_than_8_mib_is_refused(vault: Vault) -> None:
    with pytest.raises(VaultError, match="larger than 8 MiB"):
        await vault.seal(*PLACE, b"x" * (MAX_PLAINTEXT_BYTES + 1))


async def test_equal_secrets_do_not_look_alike(vault: Vault) -> None:
    one, two = await vault.seal(*PLACE, b"same"), await vault.seal(*PLACE, b"same")
    assert one["wrapped"] != two["wrapped"]
    assert one["data"] != two["data"]


@pytest.mark.parametrize(
    "place",
    [
        pytest.param((OTHER, "credentials", "c1", "secret"), id="another organization with keys"),
        pytest.param((OrgId("unknown"), "credentials", "c1", "secret"), id="an organization without keys"),
        pytest.param((ORG, "devices", "c1", "secret"), id="another collection"),
        pytest.param((ORG, "credentials", "c2", "secret"), id="another record"),
        pytest.param((ORG, "credentials", "c1", "enable_secret"), id="another field"),
        pytest.param((INSTALLATION, "credentials", "c1", "secret"), id="the installation's scope"),
    ],
)
async def test_a_moved_value_does_not_open(vault: Vault, place: tuple[OrgId, str, str, str]) -> None:
    await vault.seal(OTHER, "credentials", "c1", "secret", b"theirs")
    await vault.seal(INSTALLATION, "credentials", "c1", "secret", b"ours")
    sealed = await vault.seal(*PLACE, b"hunter2")
    with pytest.raises(VaultError, match="does not open"):
        await vault.unseal(*place, sealed)


async def test_halves_of_two_sealed_values_do_not_open_together(vault: Vault) -> None:
    old, new = await vault.seal(*PLACE, b"old"), await vault.seal(*PLACE, b"new")
    with pytest.raises(VaultError):
        await vault.unseal(*PLACE, {**new, "data": old["data"]})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("v", 2, id="an unknown format"),
        pytest.param("key_version", 2, id="a key version that does not exist"),
        pytest.param("key_version", 0, id="the derivation secret's version"),
        pytest.param("key_version", "1", id="a version of another type"),
        pytest.param("key_version", True, id="a boolean version"),
        pytest.param("sealed_version", 2, id="another sealing version"),
        pytest.param("wrapped", b"", id="an empty wrapped key"),
        pytest.param("data", "text", id="text for ciphertext"),
        pytest.param("data", None, id="no ciphertext"),
    ],
)
async def test_a_changed_document_does_not_open(vault: Vault, field: str, value: Any) -> None:
    sealed = await vault.seal(*PLACE, b"hunter2")
    with pytest.raises(VaultError, match="does not open"):
        await vault.unseal(*PLACE, {**sealed, field: value})


@pytest.mark.parametrize("value", [None, b"hunter2", "hunter2", [], {}])
async def test_something_that_was_never_sealed_does_not_open(vault: Vault, value: Any) -> None:
    with pytest.raises(VaultError, match="does not open"):
        await vault.unseal(*PLACE, value)


@pytest.mark.parametrize("field", ["wrapped", "data"])
async def test_every_flipped_bit_is_noticed(vault: Vault, field: str) -> None:
    sealed = await vault.seal(*PLACE, b"hunter2")
    box = sealed[field]
    for position in range(len(box)):
        flipped = bytearray(box)
        flipped[position] ^= 1
        with pytest.raises(VaultError):
            await vault.unseal(*PLACE, {**sealed, field: bytes(flipped)})


@pytest.mark.parametrize("part", ["", "a|b"])
async def test_a_part_that_would_blur_two_places_is_refused(vault: Vault, part: str) -> None:
    with pytest.raises(VaultError, match="vault place"):
        await vault.seal(ORG, "credentials", part, "secret", b"x")


async def _dump(database: Database) -> bytes:
    raw = b""
    for name in ("vault_roots", "vault_keys", "vault_progress", "credentials"):
        for document in await database.collection(name).find({}):
            raw += bson.encode(document)
    return raw


async def test_a_raw_dump_holds_no_plaintext_and_no_key(
    open_node: OpenNode, database: Database, keys: Keys
) -> None:
    vault = await open_node("a", keys.first)
    sealed = await vault.seal(*PLACE, b"the-secret-text")
    await database.collection("credentials").insert({"_id": "c1", "org_id": ORG, "secret": sealed})
    secrets = [b"the-secret-text", keys.first.secret, await vault.derived_key(ORG, "content")]
    entry = vault._ring._entries[ORG]
    secrets += entry.opened.values()
    assert sorted(entry.opened) == [0, 1]
    dump = await _dump(database)
    assert len(dump) > 500
    for secret in secrets:
        for form in (secret, secret.hex().encode(), base64.b64encode(secret)):
            assert form not in dump


async def test_wrapped_organization_keys_cannot_be_swapped_between_organizations(
    open_node: OpenNode, database: Database
) -> None:
    vault = await open_node("a")
    sealed = await vault.seal(*PLACE, b"x")
    await vault.seal(OTHER, "credentials", "c1", "secret", b"y")
    documents = database.collection("vault_keys")
    theirs = await documents.find_one({"_id": OTHER})
    assert theirs is not None
    await documents.update({"_id": ORG}, {"$set": {"keys": theirs["keys"]}})
    with pytest.raises(VaultError, match="does not open"):
        await (await open_node("a")).unseal(*PLACE, sealed)


async def test_the_check_value_is_bound_to_its_version(
    open_node: OpenNode, database: Database, keys: Keys
) -> None:
    await open_node("a", keys.first)
    documents = database.collection("vault_roots")
    first = await documents.find_one({"_id": 1})
    assert first is not None
    await documents.delete({"_id": 1})
    await documents.insert({**first, "_id": 2})
    with pytest.raises(VaultError, match="is not the one of this database"):
        await open_node("a", keys.first)
    with pytest.raises(VaultError):
        held_by([], keys.first)


async def test_derived_keys_are_stable_and_differ_by_purpose_and_organization(
    open_node: OpenNode, vault: Vault
) -> None:
    content = await vault.derived_key(ORG, "content")
    others = [
        await vault.derived_key(ORG, "tokens"),
        await vault.derived_key(OTHER, "content"),
        await vault.derived_key(INSTALLATION, "content"),
    ]
    assert len({content, *others}) == 4
    assert len(content) == 32
    await vault.rotate_organization_key(ORG)
    assert await vault.derived_key(ORG, "content") == content
    assert await (await open_node("a")).derived_key(ORG, "content") == content


async def test_large_values_leave_the_event_loop(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    to_thread = asyncio.to_thread

    async def counted(work: Any, *arguments: Any) -> Any:
        calls.append(work.__name__)
        return await to_thread(work, *arguments)

    monkeypatch.setattr(asyncio, "to_thread", counted)
    small: Document = await vault.seal(*PLACE, b"x" * 1000)
    large = await vault.seal(*PLACE, b"x" * (300 << 10))
    await vault.unseal(*PLACE, small)
    await vault.unseal(*PLACE, large)
    assert calls == ["seal", "unseal"]
