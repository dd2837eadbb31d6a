"""A rotation from the new keys to the last value: what nodes write late is found, one that died goes on."""

import pytest

from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.envelope import Place, SealedField
from netautod.secrets.vault.rewrapping import PROGRESS_COLLECTION, RewrapResult
from netautod.secrets.vault.rotation import Rotation, rewrap_everything, unfinished
from netautod.secrets.vault.vault import Vault
from netautod.store.client import Database
from tests.secrets.vault.conftest import OpenNode
from tests.secrets.vault.test_rewrapping import ORG, Crash, interrupting, put, texts, versions

FIELDS = (SealedField(collection="things", path="auth.secret"),)
EARLIER = OrgId("1d1d7f5e-6f6f-4c43-8a19-4e0f1f3c2b1a")


async def with_nodes() -> bool:
    return True


async def without_nodes() -> bool:
    return False


def ignore_report(text: str) -> None:
    """Ignore the text."""


async def test_what_a_node_seals_late_under_the_old_key_is_found(
    vault: Vault, database: Database, open_node: OpenNode
) -> None:
    await put(vault, database, "b", "before")
    late = await open_node("a")
    await put(late, database, "a", "of the other node")  # it knows the key of now for a while
    rotation = await Rotation.begin(database)
    assert await vault.rotate_once(ORG, rotation.id) == (2, True)
    waited = list[str]()

    async def nodes() -> bool:
        """Return true, after the first pass."""
        assert await versions(database) == [2]
        await put(late, database, "0", "late")
        assert await versions(database) == [1, 2]
        return True

    result = await rewrap_everything(
        vault, database, FIELDS, rotation, nodes=nodes, report=waited.append, settled_seconds=0.2
    )
    assert result == RewrapResult(rewrapped=3)
    assert await versions(database) == [2]
    assert len(waited) == 1
    assert await texts(late, database) == {"a": "of the other node", "b": "before", "0": "late"}
    assert not await unfinished(database)


async def test_one_that_died_goes_on_under_the_same_new_keys(
    vault: Vault, database: Database, open_node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        await put(vault, database, f"{number}", f"text {number}")
        await put(vault, database, f"of another {number}", "text", EARLIER)
    rotation = await Rotation.begin(database)
    assert not rotation.goes_on
    assert await vault.rotate_once(ORG, rotation.id) == (2, True)

    async def crash(count: int, place: Place) -> None:
        if count == 3:
            raise Crash

    interrupting(vault, monkeypatch, crash)
    arguments = {"nodes": without_nodes, "report": ignore_report}
    with pytest.raises(Crash):
        await rewrap_everything(vault, database, FIELDS, rotation, **arguments)  # type: ignore[arg-type]
    assert await unfinished(database)
    other = await open_node("a")
    again = await Rotation.begin(database)
    assert (again.id, again.goes_on) == (rotation.id, True)
    assert await other.rotate_once(ORG, again.id) == (2, False)
    assert await other.rotate_once(EARLIER, again.id) == (2, True)
    await rewrap_everything(other, database, FIELDS, again, **arguments)  # type: ignore[arg-type]
    assert await versions(database) == [2]
    assert await database.collection(PROGRESS_COLLECTION).find({}) == []
    assert not (await Rotation.begin(database)).goes_on


async def test_the_wait_begins_with_the_new_keys_and_not_with_every_call(
    vault: Vault, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(vault, database, "a", "text")
    rotation = await Rotation.begin(database)
    made_at = await rotation.keys_are_made(database)
    assert await rotation.keys_are_made(database) == made_at
    waited = list[float]()

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("netautod.secrets.vault.rotation.asyncio.sleep", sleep)
    await rewrap_everything(vault, database, FIELDS, rotation, nodes=with_nodes, report=ignore_report)
    [seconds] = waited
    assert 0 < seconds <= 65


async def test_a_value_that_does_not_open_is_reported_and_does_not_keep_the_rotation_open(
    vault: Vault, database: Database
) -> None:
    await put(vault, database, "a", "text")
    await put(vault, database, "b", "text")
    await database.collection("things").update({"_id": "b"}, {"$set": {"auth.secret.wrapped": b"x" * 60}})
    rotation = await Rotation.begin(database)
    await vault.rotate_once(ORG, rotation.id)
    result = await rewrap_everything(
        vault, database, FIELDS, rotation, nodes=without_nodes, report=ignore_report
    )
    assert (result.rewrapped, result.failed) == (1, 1)
    assert not await unfinished(database)
