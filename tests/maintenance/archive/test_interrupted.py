"""A restore that ends between any two of its steps is marked until the same call has finished it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netautod.activity.audit.service import AuditLog
from netautod.assembly.installation import open_installation
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.system.store import SystemStore
from netautod.identity.auth.sessions.store import SessionStore
from netautod.maintenance.archive import loading, restore, settling
from netautod.maintenance.archive.backup import back_up
from netautod.maintenance.archive.claim import RestoreClaim
from netautod.maintenance.archive.collections import KEPT
from netautod.store.migrations.archive_errors import ArchiveError
from netautod.store.migrations.restore_marker import RestoreMarker
from netautod.store.raw.writing import RawWriter
from tests.maintenance.archive.origin import Place


class Died(BaseException):
    """The process is gone: nothing catches this."""


@pytest.fixture(scope="module")
async def file(origin: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("backups") / "b"
    await back_up(origin.settings, made, None)
    return made


# The owner of a step, its name, and at which call of it the process dies: in their order, so each attempt
# gets a little further than the one before.
STEPS: tuple[tuple[Any, str, int], ...] = (
    (RestoreClaim, "progress", 1),  # marked, nothing written
    (RawWriter, "insert", 1),
    (RawWriter, "insert", 8),  # some are in, and of some it is noted
    (RestoreClaim, "progress", 3),  # more are in than noted
    (restore, "compare", 1),
    (RestoreClaim, "loaded", 1),
    (RestoreClaim, "confirm", 1),
    (settling, "create_indexes", 1),
    (ExecutionStore, "abandon_all", 1),
    (SessionStore, "end_all", 1),
    (SystemStore, "put_pause", 1),
    (AuditLog, "record", 1),
    (RestoreClaim, "end", 1),
)


def die_at(patched: pytest.MonkeyPatch, owner: Any, name: str, at: int) -> None:
    real, calls = getattr(owner, name), iter(range(1, at))

    def step(*arguments: Any, **options: Any) -> Any:
        if next(calls, None) is None:
            raise Died
        return real(*arguments, **options)

    patched.setattr(owner, name, step)


async def test_a_restore_that_dies_at_each_of_its_steps_is_finished_at_last(
    origin: Place, target: Place, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "FRAMES_AT_ONCE", 5)
    for owner, name, at in STEPS:
        with monkeypatch.context() as patched:
            die_at(patched, owner, name, at)
            with pytest.raises(Died):
                await target.restore(file)
        with pytest.raises(ArchiveError, match="run `netautod restore` with the same file again"):
            async with open_installation(target.settings, target.database):
                pytest.fail(f"it started after the death before {name}")
    done = await target.restore(file)
    assert done.resumed is True
    before, after = origin.all(), target.all()
    assert {name: after[name] for name in KEPT} == {name: before[name] for name in KEPT}
    states = {execution.get("state") for execution in after["executions"]}
    assert states == {"cancelled", "completed", None}
    assert len(after["pauses"]) == 3
    async with open_installation(target.settings, target.database) as installation:
        assert [one.username for one in await installation.people.users.all_users()] == ["admin"]


async def test_what_was_in_is_not_sent_again(
    target: Place, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "FRAMES_AT_ONCE", 5)
    sent: list[str] = []
    insert: Callable[..., None] = RawWriter.insert

    def counted(writer: RawWriter, collection: str, documents: list[bytes]) -> None:
        if len(sent) == 12:
            raise Died
        sent.append(collection)
        insert(writer, collection, documents)

    with monkeypatch.context() as patched:
        patched.setattr(RawWriter, "insert", counted)
        with pytest.raises(Died):
            await target.restore(file)
    noted = await RestoreMarker(target.database).find()
    assert noted is not None
    assert 5 <= noted.frames <= 15
    again: list[str] = []

    def noted_again(writer: RawWriter, collection: str, documents: list[bytes]) -> None:
        again.append(collection)
        insert(writer, collection, documents)

    monkeypatch.setattr(RawWriter, "insert", noted_again)
    die_at(monkeypatch, settling, "create_indexes", 1)
    with pytest.raises(Died):
        await target.restore(file)
    assert not {*again} & {*sent[:5]}
    assert sent[-1] in again or noted.frames >= 12


async def test_what_a_fail_over_lost_is_sent_again(
    origin: Place, target: Place, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Acknowledged by a primary that was no more: the comparison finds it, and the next call begins anew."""
    with monkeypatch.context() as patched:
        die_at(patched, restore, "compare", 1)
        with pytest.raises(Died):
            await target.restore(file)
    target.raw.sites.delete_many({})
    with pytest.raises(ArchiveError, match="does not hold in sites what the backup has"):
        await target.restore(file)
    die_at(monkeypatch, settling, "create_indexes", 1)
    with pytest.raises(Died):
        await target.restore(file)
    assert target.documents("sites") == origin.documents("sites")


async def test_another_backup_does_not_go_on_with_it(
    origin: Place, target: Place, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await back_up(origin.settings, tmp_path / "other", None)
    with monkeypatch.context() as patched:
        die_at(patched, restore, "compare", 1)
        with pytest.raises(Died):
            await target.restore(file)
    before = target.all()
    with pytest.raises(ArchiveError, match=r"restore of another backup, of .*, is not finished"):
        await target.restore(tmp_path / "other")
    assert target.all() == before


async def test_a_mark_on_a_database_that_is_not_empty_goes_away_by_itself(
    target: Place, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the mark and the second look at a database that a service was making at that moment."""
    with monkeypatch.context() as patched:
        die_at(patched, RestoreClaim, "progress", 1)
        with pytest.raises(Died):
            await target.restore(file)
    target.raw.users.insert_one({"_id": "the service's"})
    with pytest.raises(ArchiveError, match="is not empty"):
        await target.restore(file)
    assert await RestoreMarker(target.database).find() is None
    assert [one["_id"] for one in target.documents("users")] == ["the service's"]
