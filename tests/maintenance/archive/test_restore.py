"""What a restore brings back, what it ends, and what it refuses before it has written anything."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

import pytest
from pymongo import MongoClient

from netautod.assembly.configuration import Configuration
from netautod.assembly.installation import open_installation
from netautod.core.errors import InvalidInput
from netautod.maintenance.archive import backup
from netautod.maintenance.archive.backup import back_up
from netautod.maintenance.archive.claim import RestoreClaim
from netautod.maintenance.archive.collections import KEPT, LEFT_OUT
from netautod.maintenance.archive.file.keys import ArchiveKeys
from netautod.maintenance.archive.file.reading import CheckedArchive, checked
from netautod.maintenance.archive.interrupting import Stop
from netautod.maintenance.archive.restore import Restored, restore
from netautod.maintenance.doctor.checks import examined
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.root.key_file import write_root_key
from netautod.store.leases.lease import Lease
from netautod.store.leases.named import NamedLeases
from netautod.store.migrations.archive_errors import ArchiveError, DamagedError
from netautod.store.migrations.restore_marker import COLLECTION as MARKER
from netautod.store.migrations.restore_marker import RestoreMarker
from tests.maintenance.archive.archive_keys import written_by_an_earlier_version
from tests.maintenance.archive.origin import NOW, Document, Place, place
from tests.support.databases import DatabasePool

PASSPHRASE = "correct horse battery staple"


@pytest.fixture(scope="module")
async def file(origin: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encrypted backup of the origin."""
    made = tmp_path_factory.mktemp("backups") / "b"
    await back_up(origin.settings, made, PASSPHRASE)
    return made


@pytest.fixture(scope="module")
async def plain(origin: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("backups") / "plain"
    await back_up(origin.settings, made, None)
    return made


@pytest.fixture(scope="module")
async def restored(
    origin: Place,
    file: Path,
    mongo_uri: str,
    databases: DatabasePool,
    client: MongoClient[Document],
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[Place, Restored]]:
    """A place into which it was restored, and what that said."""
    database = databases.fresh()
    made = place(mongo_uri, database, tmp_path_factory.mktemp("restored"), client)
    shutil.copy(origin.key_file, made.key_file)
    yield made, await made.restore(file, PASSPHRASE)
    await database.drop()


def by_id(documents: list[Document]) -> dict[str, Document]:
    return {document["_id"]: document for document in documents}


async def test_what_is_kept_comes_back_as_it_was(origin: Place, restored: tuple[Place, Restored]) -> None:
    (target, done), before = restored, origin.all()
    after = target.all()
    assert {name: after[name] for name in KEPT} == {name: before[name] for name in KEPT}
    assert [name for name in LEFT_OUT if after.get(name)] == []
    assert done.resumed is False
    assert (done.settled.executions, done.settled.sessions, done.settled.organizations) == (3, 1, 1)
    others = {MARKER, *LEFT_OUT}
    ours, theirs = target.indexes(), origin.indexes()
    assert {name: ours[name] for name in set(ours) - others} == {
        name: theirs[name] for name in set(theirs) - others
    }


async def test_what_was_going_on_is_over(origin: Place, restored: tuple[Place, Restored]) -> None:
    target, _ = restored
    executions, sessions = by_id(target.documents("executions")), by_id(target.documents("sessions"))
    for state in ("pending", "running", "approval_pending"):
        found = executions[state]
        assert (found["state"], found["owner"], found["lease_until"]) == ("cancelled", None, None)
        assert found["error_message"].startswith("restored from the backup of ")
        assert found["closing"]["node"] is None
    assert executions["running"]["attempts"][0]["outcome"] == "cancelled"
    assert executions["completed"] == by_id(origin.documents("executions"))["completed"]
    assert sessions["living"]["end_reason"].startswith("restored from the backup of ")
    assert sessions["living"]["ended_at"] >= NOW
    assert sessions["over"]["ended_at"] == NOW
    assert target.documents("refresh_tokens") == []
    assert [poll["_id"] for poll in target.documents("polls")] == ["a stranger in polls"]
    waiting = by_id(target.documents("discovered"))["d"]
    assert not waiting.keys() & {"untold", "untold_at"}
    vaults = by_id(target.documents("notes_vaults"))
    assert ("open" in vaults["with"], "open" in vaults["without"]) == (False, True)


async def test_every_organization_is_paused_and_has_it_on_record(restored: tuple[Place, Restored]) -> None:
    target, _ = restored
    async with open_installation(target.settings, target.database) as installation:
        organizations = await installation.people.organizations.all()
        assert len(organizations) == 1
        for organization in organizations:
            pause = await installation.stores.system.pause(organization.id)
            assert pause is not None
            assert pause.by == "netautod restore"
            assert pause.reason.startswith("restored from the backup of ")
    [event] = target.raw.audit_events.find({"action": "system.restore"})
    chained = {"org_id": event["org_id"], "seq": {"$gt": 0}}
    assert event["seq"] == target.raw.audit_events.count_documents(chained)


WITHOUT_A_KEY = "root key of this backup is missing .nothing was written."


def no_key(target: Place) -> None:
    target.key_file.unlink()


def another_key(target: Place) -> None:
    target.key_file.unlink()
    write_root_key(target.key_file, os.urandom(32))


def no_key_at_all(target: Place) -> None:
    target.key_file.write_text("not a key")


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        pytest.param(no_key, ArchiveError, WITHOUT_A_KEY, id="missing"),
        pytest.param(another_key, ArchiveError, "not the one of this backup .nothing was", id="wrong"),
        pytest.param(no_key_at_all, VaultError, "must hold 32 raw bytes", id="no key"),
    ],
)
async def test_a_root_key_that_does_not_fit_is_told_before_anything_is_written(
    target: Place, file: Path, change: Callable[[Place], None], error: type[Exception], text: str
) -> None:
    change(target)
    files = sorted(os.listdir(target.settings.data_dir))
    with pytest.raises(error, match=text):
        await target.restore(file, PASSPHRASE)
    assert target.all() == {}
    assert sorted(os.listdir(target.settings.data_dir)) == files


async def test_a_key_that_was_replaced_before(origin: Place, target: Place, tmp_path: Path) -> None:
    origin.raw.vault_roots.update_one({"_id": 1}, {"$set": {"state": "retired"}})
    try:
        with pytest.raises(VaultError, match="was replaced by a newer one"):
            await back_up(origin.settings, tmp_path / "b", None)
        await back_up(origin.settings, tmp_path / "b", PASSPHRASE)
    finally:
        origin.raw.vault_roots.update_one({"_id": 1}, {"$set": {"state": "active"}})
    with pytest.raises(ArchiveError, match="is older than this backup"):
        await target.restore(tmp_path / "b", PASSPHRASE)
    assert target.all() == {}


async def test_a_backup_that_a_newer_program_has_migrated(
    origin: Place, target: Place, tmp_path: Path
) -> None:
    """Taken by an older one that did not look, or by one of the same release with more migrations."""
    newer = {"_id": 99, "name": "of tomorrow", "version": "9.9", "host": "h", "began_at": NOW}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(backup, "require_known", lambda *_: None)
        origin.raw.migrations.insert_one(newer)
        try:
            await back_up(origin.settings, tmp_path / "b", None)
        finally:
            origin.raw.migrations.delete_one({"_id": 99})
    text = r"of a newer program \(nothing was written\): netautod 9.9 has migrated .* to number 99"
    with pytest.raises(ArchiveError, match=text):
        await target.restore(tmp_path / "b")
    assert target.all() == {}


async def test_a_pipe_is_no_file_to_restore_from(target: Place) -> None:
    """As `netautod restore <(cat b)` names one."""
    reading, writing = os.pipe()
    os.close(writing)
    try:
        with pytest.raises(InvalidInput, match="can be read only once, as a pipe: name a plain file"):
            await target.restore(Path(f"/dev/fd/{reading}"))
    finally:
        os.close(reading)
    assert target.all() == {}


def damaged(file: Path, damage: Callable[[bytes], bytes], copy: Path) -> Path:
    copy.write_bytes(damage(file.read_bytes()))
    return copy


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def scratched(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("damage", [cut, scratched])
async def test_a_damaged_file_is_refused_before_anything_is_written(
    target: Place, plain: Path, damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    with pytest.raises(DamagedError):
        await target.restore(damaged(plain, damage, tmp_path / "b"))
    assert target.all() == {}


@pytest.mark.parametrize(
    ("name", "passphrase", "text"),
    [
        pytest.param("b", "another passphrase", "not the one of this backup", id="wrong passphrase"),
        pytest.param("b", None, "is encrypted", id="no passphrase"),
        pytest.param("none", None, "No such file", id="no file"),
        pytest.param(".", None, "Is a directory", id="a folder"),
    ],
)
async def test_a_wrong_call_is_told_before_anything_is_written(
    target: Place, file: Path, name: str, passphrase: str | None, text: str
) -> None:
    with pytest.raises(InvalidInput, match=text):
        await target.restore(file.parent / name, passphrase)
    assert target.all() == {}


@pytest.mark.parametrize(
    "there",
    [
        pytest.param(lambda raw: raw.users.insert_one({"_id": "u"}), id="a document"),
        pytest.param(lambda raw: raw.create_collection("of others"), id="an empty collection"),
    ],
)
async def test_a_database_that_is_not_empty_is_left_alone(
    target: Place, file: Path, there: Callable[[object], None]
) -> None:
    there(target.raw)
    before = target.all()
    with pytest.raises(ArchiveError, match=r"is not empty \(it has 1 collections\)"):
        await target.restore(file, PASSPHRASE)
    assert target.all() == before


async def test_an_installation_is_not_overwritten_by_its_own_backup(origin: Place, file: Path) -> None:
    before = origin.all()
    with pytest.raises(ArchiveError, match="is not empty"):
        await origin.restore(file, PASSPHRASE)
    assert origin.all() == before


@pytest.fixture
async def earlier(origin: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A backup without a passphrase as netautod 0.1 wrote them."""

    def vouched(file: BinaryIO, keys: ArchiveKeys, stop: Stop) -> CheckedArchive:
        return checked(file, replace(keys, unauthenticated=True), stop)

    with written_by_an_earlier_version(), monkeypatch.context() as patched:
        patched.setattr(backup, "checked", vouched)
        await back_up(origin.settings, tmp_path / "earlier", None)
    return tmp_path / "earlier"


async def test_a_backup_of_an_earlier_version_is_restored_if_someone_vouches_for_it(
    target: Place, earlier: Path
) -> None:
    with pytest.raises(InvalidInput, match=r"changed by someone: .* restore it with --unauthenticated"):
        await target.restore(earlier)
    assert target.all() == {}
    await restore(target.settings, earlier, None, unauthenticated=True)
    [event] = target.raw.audit_events.find({"action": "system.restore"})
    assert event["details"]["authenticated"] is False


async def test_a_restore_of_an_authenticated_backup_is_named_so(restored: tuple[Place, Restored]) -> None:
    [event] = restored[0].raw.audit_events.find({"action": "system.restore"})
    assert event["details"]["authenticated"] is True


async def test_a_file_that_is_exchanged_after_its_check_is_not_loaded(
    origin: Place, target: Place, plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another one of the same installation."""
    await back_up(origin.settings, tmp_path / "later", None)
    copy, later = Path(shutil.copy(plain, tmp_path / "b")), (tmp_path / "later").read_bytes()
    real = RestoreMarker.begin

    async def begin(marker: RestoreMarker, backup_id: str, taken_at: object) -> object:
        await asyncio.to_thread(copy.write_bytes, later)
        return await real(marker, backup_id, taken_at)  # type: ignore[arg-type]

    monkeypatch.setattr(RestoreMarker, "begin", begin)
    with pytest.raises(DamagedError):
        await target.restore(copy)
    assert [name for name in target.all() if name != MARKER] == []


async def test_a_service_that_starts_at_the_same_moment_keeps_the_database(
    target: Place, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has looked for the mark, and makes its collections before the mark is there."""
    real = RestoreMarker.begin

    async def begin(marker: RestoreMarker, backup_id: str, taken_at: object) -> object:
        target.raw.users.insert_one({"_id": "the service's"})
        return await real(marker, backup_id, taken_at)  # type: ignore[arg-type]

    monkeypatch.setattr(RestoreMarker, "begin", begin)
    with pytest.raises(ArchiveError, match="is not empty"):
        await target.restore(file, PASSPHRASE)
    assert {name: documents for name, documents in target.all().items() if documents} == {
        "users": [{"_id": "the service's"}]
    }


async def test_a_service_that_starts_a_moment_later_finds_the_mark(
    target: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has looked for the mark before it was there, and does so again."""

    real = NamedLeases.acquire

    async def acquire(leases: NamedLeases, name: str) -> Lease | None:
        await RestoreMarker(target.database).begin("b", NOW)
        return await real(leases, name)

    monkeypatch.setattr(NamedLeases, "acquire", acquire)
    with pytest.raises(ArchiveError, match="is not finished"):
        async with open_installation(target.settings, target.database):
            pytest.fail("it started")
    assert target.documents("migrations") == []
    assert target.documents("organizations") == []


async def test_something_that_writes_meanwhile_is_noticed(
    target: Place, plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = RestoreClaim.progress

    async def progress(claim: RestoreClaim, frames: int) -> None:
        await real(claim, frames)
        target.raw.users.update_one({}, {"$set": {"password_hash": "mine"}})

    monkeypatch.setattr(RestoreClaim, "progress", progress)
    with pytest.raises(ArchiveError, match="does not hold in users what the backup has"):
        await target.restore(plain)
    assert await RestoreMarker(target.database).find() is not None


async def test_the_doctor_names_an_unfinished_restore(target: Place) -> None:
    await RestoreMarker(target.database).begin("b", NOW - timedelta(days=1))
    configuration = Configuration(settings=target.settings, plugins=LoadedPlugins.of({}))
    [found] = [one for one in await examined(configuration) if one.check == "restore"]
    assert "is not finished" in found.text


async def test_no_backup_is_taken_of_an_unfinished_restore(target: Place, tmp_path: Path) -> None:
    await RestoreMarker(target.database).begin("b", NOW)
    with pytest.raises(ArchiveError, match="is not finished"):
        await back_up(target.settings, tmp_path / "b", None)
    shutil.rmtree(target.settings.data_dir)
    assert os.listdir(tmp_path) == []
