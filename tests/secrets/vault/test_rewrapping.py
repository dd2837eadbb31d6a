"""Re-wrapping: complete, resumable after a crash, never losing a concurrent write."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.envelope import Place, SealedField
from netautod.secrets.vault.rewrapping import PROGRESS_COLLECTION, RewrapResult, rewrap
from netautod.secrets.vault.vault import INSTALLATION, Vault
from netautod.store.client import Database, Document
from tests.secrets.vault.conftest import OpenNode

ORG = OrgId("0b8c52ac-16ba-4d3f-9a7c-2f5ff0e46f3e")
OTHER = OrgId("9d1d7f5e-6f6f-4c43-8a19-4e0f1f3c2b1a")
FIELDS = (SealedField(collection="things", path="auth.secret"),)


class Crash(Exception):
    """A stand-in for a killed process."""


async def put(vault: Vault, database: Database, record: str, text: str, org_id: OrgId = ORG) -> None:
    """Write as a resource would: one document, the sealed value under its path."""
    sealed = await vault.seal(org_id, "things", record, "auth.secret", text.encode())
    change: Document = {"$set": {"auth.secret": sealed}}
    if org_id != INSTALLATION:
        change["$set"]["org_id"] = org_id
    await database.collection("things").update({"_id": record}, change, upsert=True)


async def texts(vault: Vault, database: Database) -> dict[str, str]:
    found = {}
    for document in await database.collection("things").find({"auth.secret": {"$exists": True}}):
        org_id = document.get("org_id", INSTALLATION)
        place = (org_id, "things", document["_id"], "auth.secret")
        found[document["_id"]] = (await vault.unseal(*place, document["auth"]["secret"])).decode()
    return found


async def versions(database: Database) -> list[int]:
    return await database.collection("things").distinct("auth.secret.key_version", {})


def interrupting(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, act: Callable[[int, Place], Awaitable[None]]
) -> None:
    """Call `act(number of the value, its place)` between the read of a value and its compare-and-set."""
    rewrapped = vault.rewrapped
    count = 0

    async def interrupted(place: Place, key_version: int, wrapped: bytes) -> tuple[int, bytes]:
        nonlocal count
        count += 1
        result = await rewrapped(place, key_version, wrapped)
        await act(count, place)
        return result

    monkeypatch.setattr(vault, "rewrapped", interrupted)


async def test_every_value_of_every_organization_gets_its_newest_key(
    vault: Vault, database: Database, open_node: OpenNode
) -> None:
    expected = {}
    for org_id in (ORG, OTHER, INSTALLATION):
        for number in range(4):
            record = f"{org_id}-{number}"
            await put(vault, database, record, f"text of {record}", org_id)
            expected[record] = f"text of {record}"
        await vault.rotate_organization_key(org_id)
    await database.collection("things").insert({"_id": "plain", "org_id": ORG, "auth": {}})
    await vault.rotate_organization_key(OTHER)

    assert await rewrap(vault, database, FIELDS, batch=5) == RewrapResult(rewrapped=12)

    assert await versions(database) == [2, 3]
    assert await texts(await open_node("a"), database) == expected
    assert await rewrap(vault, database, FIELDS, batch=5) == RewrapResult()
    assert await database.collection(PROGRESS_COLLECTION).find({}) == []


async def test_the_ciphertext_is_left_alone(vault: Vault, database: Database) -> None:
    await put(vault, database, "a", "text")
    before = await database.collection("things").find_one({})
    await vault.rotate_organization_key(ORG)
    await rewrap(vault, database, FIELDS)
    after = await database.collection("things").find_one({})
    assert before is not None
    assert after is not None
    old, new = before["auth"]["secret"], after["auth"]["secret"]
    assert new["data"] == old["data"]
    assert new["wrapped"] != old["wrapped"]
    assert (new["sealed_version"], new["key_version"]) == (1, 2)


async def test_a_rewrapped_value_can_be_rewrapped_again(vault: Vault, database: Database) -> None:
    await put(vault, database, "a", "text")
    for _ in range(3):
        await vault.rotate_organization_key(ORG)
        assert await rewrap(vault, database, FIELDS) == RewrapResult(rewrapped=1)
    assert await versions(database) == [4]
    assert await texts(vault, database) == {"a": "text"}


async def test_a_crash_in_the_middle_resumes_after_the_last_batch(
    vault: Vault, database: Database, open_node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = {f"{number:02}": f"text {number}" for number in range(20)}
    for record, text in expected.items():
        await put(vault, database, record, text)
    await vault.rotate_organization_key(ORG)

    async def crash(count: int, place: Place) -> None:
        if count == 12:
            raise Crash

    interrupting(vault, monkeypatch, crash)
    with pytest.raises(Crash):
        await rewrap(vault, database, FIELDS, batch=5)
    saved = await database.collection(PROGRESS_COLLECTION).find_one({})
    assert saved is not None
    assert saved["after"] == "09"
    assert await versions(database) == [1, 2]

    restarted = await open_node("a")
    assert await texts(restarted, database) == expected
    # What was done is not read again: it would be told that this one does not open.
    done, version = {"_id": "03"}, "auth.secret.key_version"
    await database.collection("things").update(done, {"$set": {version: "2"}})
    assert await rewrap(restarted, database, FIELDS, batch=5) == RewrapResult(rewrapped=9)
    await database.collection("things").update(done, {"$set": {version: 2}})
    assert await versions(database) == [2]
    assert await texts(restarted, database) == expected


async def test_a_rotation_between_crash_and_resume_starts_over(
    vault: Vault, database: Database, open_node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        await put(vault, database, str(number), "text")
    await vault.rotate_organization_key(ORG)

    async def crash(count: int, place: Place) -> None:
        if count == 4:
            raise Crash

    interrupting(vault, monkeypatch, crash)
    with pytest.raises(Crash):
        await rewrap(vault, database, FIELDS, batch=2)
    restarted = await open_node("a")
    await restarted.rotate_organization_key(ORG)
    assert await rewrap(restarted, database, FIELDS, batch=2) == RewrapResult(rewrapped=6)
    assert await versions(database) == [3]


async def test_a_write_between_read_and_compare_and_set_wins(
    vault: Vault, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for record in ("a", "b", "c"):
        await put(vault, database, record, "old")
    await vault.rotate_organization_key(ORG)

    async def write(count: int, place: Place) -> None:
        if place.record == "b":
            await put(vault, database, "b", "new")

    interrupting(vault, monkeypatch, write)
    assert await rewrap(vault, database, FIELDS) == RewrapResult(rewrapped=2, overtaken=1)
    assert await texts(vault, database) == {"a": "old", "b": "new", "c": "old"}
    assert await versions(database) == [2]


async def test_a_delete_between_read_and_compare_and_set_stays_a_delete(
    vault: Vault, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(vault, database, "a", "old")
    await vault.rotate_organization_key(ORG)

    async def delete(count: int, place: Place) -> None:
        await database.collection("things").delete({"_id": "a"})

    interrupting(vault, monkeypatch, delete)
    assert await rewrap(vault, database, FIELDS) == RewrapResult(overtaken=1)
    assert await database.collection("things").find({}) == []


async def test_writers_and_readers_never_notice_a_rewrap(
    vault: Vault, database: Database, open_node: OpenNode
) -> None:
    records = [f"{number:02}" for number in range(40)]
    latest = dict.fromkeys(records, "0")
    for record in records:
        await put(vault, database, record, "0")
    writer = await open_node("a")
    done = asyncio.Event()

    async def write() -> None:
        turn = 0
        while not done.is_set():
            turn += 1
            record = records[turn % len(records)]
            await put(writer, database, record, str(turn))
            latest[record] = str(turn)

    async with asyncio.TaskGroup() as group:
        group.create_task(write())
        for _ in range(3):
            await vault.rotate_organization_key(ORG)
            result = await rewrap(vault, database, FIELDS, batch=7)
            assert result.failed == 0
        done.set()
    assert await texts(await open_node("a"), database) == latest


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param({"auth.secret.wrapped": b"damaged" * 9}, id="a damaged wrapped key"),
        pytest.param({"auth.secret.wrapped": "text"}, id="text for a wrapped key"),
        pytest.param({"auth.secret.key_version": "1"}, id="a version of another type"),
        pytest.param({"org_id": OTHER}, id="moved to another organization"),
    ],
)
async def test_a_value_that_does_not_open_is_counted_and_left_as_it_is(
    vault: Vault, database: Database, damage: Document, caplog: pytest.LogCaptureFixture
) -> None:
    for record in ("a", "b", "c"):
        await put(vault, database, record, "text")
    things = database.collection("things")
    await things.update({"_id": "b"}, {"$set": damage})
    before = await things.find_one({"_id": "b"})
    await vault.rotate_organization_key(ORG)
    assert await rewrap(vault, database, FIELDS) == RewrapResult(rewrapped=2, failed=1)
    assert await things.find_one({"_id": "b"}) == before
    assert "auth.secret of things b does not open" in caplog.text
