"""What a backup takes, and what keeps it from being taken."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.write_concern import WriteConcern

from netautod.core.errors import InvalidInput, Unavailable
from netautod.maintenance.archive.backup import back_up, unknown_in
from netautod.maintenance.archive.collections import KEPT, LEFT_OUT, SETTLED
from netautod.maintenance.archive.file.new_file import NewFile
from netautod.maintenance.archive.file.reading import records_of
from netautod.maintenance.archive.file.records import Documents
from netautod.secrets.vault.root.key_file import read_root_key
from netautod.store.client import Database
from netautod.store.embedded.life import HISTORY_PARAMETER
from netautod.store.migrations.archive_errors import ArchiveError
from netautod.store.migrations.model import NewerDatabase
from netautod.store.raw.reading import CatalogChangedError, RawReader
from netautod.store.settings import MongoDBSettings
from tests.maintenance.archive.archive_keys import keys
from tests.maintenance.archive.origin import Place, of_contents, place

PASSPHRASE = "correct horse battery staple"


def everything_in(file: Path, origin: Place) -> bytes:
    """All that is readable in an unencrypted backup."""
    key = read_root_key(origin.key_file).secret
    with file.open("rb") as opened:
        _, records = records_of(opened, keys(root=key))
        documents = b"".join(record.content for record in records if isinstance(record, Documents))
    return file.read_bytes() + documents


async def test_everything_is_in_it_but_what_is_of_the_moment(origin: Place, tmp_path: Path) -> None:
    origin.raw["of an older version"].insert_one({"_id": 1})
    before = {name: len(documents) for name, documents in origin.all().items() if name not in LEFT_OUT}
    contents = await back_up(origin.settings, tmp_path / "b", None)
    assert {name: tally.documents for name, tally in contents.collections.items()} == before
    assert set(before) == {*KEPT, *SETTLED, "of an older version"}
    assert all(before.values())
    assert unknown_in(contents) == ["of an older version"]
    origin.raw.drop_collection("of an older version")
    assert os.stat(tmp_path / "b").st_mode & 0o777 == 0o600


async def test_neither_the_root_key_nor_what_is_left_out_can_be_read_in_it(
    origin: Place, tmp_path: Path
) -> None:
    await back_up(origin.settings, tmp_path / "b", None)
    content = everything_in(tmp_path / "b", origin)
    key = origin.key_file.read_text().strip()
    assert b"a stranger in tasks" in content
    for secret in (
        key.encode(),
        bytes.fromhex(key),
        b"a stranger in refresh_tokens",
        b"a stranger in leases",
    ):
        assert secret not in content


async def test_it_is_on_record_in_every_organization(origin: Place, tmp_path: Path) -> None:
    contents = await back_up(origin.settings, tmp_path / "nightly", PASSPHRASE)
    events = origin.raw.audit_events.find({"action": "system.backup", "details.file": "nightly"})
    assert [(event["details"]["documents"], event["details"]["encrypted"]) for event in events] == [
        (contents.documents, True)
    ]


@pytest.mark.parametrize(
    ("passphrase", "readable"),
    [pytest.param(None, True, id="plain"), pytest.param(PASSPHRASE, False, id="encrypted")],
)
async def test_it_is_encrypted_when_that_is_asked_for(
    origin: Place, tmp_path: Path, passphrase: str | None, readable: bool
) -> None:
    await back_up(origin.settings, tmp_path / "b", passphrase)
    assert (b"executions" in (tmp_path / "b").read_bytes()) is readable


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda key: key.unlink(), id="missing"),
        pytest.param(lambda key: key.write_text("no key"), id="torn"),
        pytest.param(lambda key: key.chmod(0o644), id="open to others"),
    ],
)
async def test_with_a_passphrase_the_root_key_is_not_needed(
    origin: Place, tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    content, mode = origin.key_file.read_bytes(), origin.key_file.stat().st_mode
    spoil(origin.key_file)
    try:
        contents = await back_up(origin.settings, tmp_path / "b", PASSPHRASE)
    finally:
        origin.key_file.write_bytes(content)
        origin.key_file.chmod(mode)
    assert contents.documents


async def test_a_name_that_is_taken_is_left_alone(origin: Place, tmp_path: Path) -> None:
    before = origin.raw.audit_events.count_documents({})
    (tmp_path / "b").write_text("last week's")
    with pytest.raises(InvalidInput, match="b exists already and is not overwritten"):
        await back_up(origin.settings, tmp_path / "b", None)
    assert (tmp_path / "b").read_text() == "last week's"
    assert origin.raw.audit_events.count_documents({}) == before


async def test_a_database_that_a_newer_program_has_migrated_is_left_to_that(
    origin: Place, tmp_path: Path
) -> None:
    newer = {"_id": 99, "name": "of tomorrow", "version": "9.9", "host": "h", "began_at": datetime.now(UTC)}
    origin.raw.migrations.insert_one(newer)
    before = origin.all()
    try:
        with pytest.raises(NewerDatabase, match=r"netautod 9\.9 has migrated this database to number 99"):
            await back_up(origin.settings, tmp_path / "b", None)
        assert origin.all() == before
    finally:
        origin.raw.migrations.delete_one({"_id": 99})
    assert os.listdir(tmp_path) == []


async def test_an_empty_database_is_no_installation(
    mongo_uri: str, database: Database, client: MongoClient[Any], tmp_path: Path
) -> None:
    empty = place(mongo_uri, database, tmp_path / "empty", client)
    with pytest.raises(ArchiveError, match="holds no installation"):
        await back_up(empty.settings, tmp_path / "b", None)
    assert os.listdir(tmp_path) == ["empty"]
    assert client[database.name].list_collection_names() == []


async def test_a_database_that_is_away(
    origin: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(reader: RawReader, collection: str) -> int:
        raise Unavailable("gone")

    monkeypatch.setattr(RawReader, "count", away)
    with pytest.raises(Unavailable):
        await back_up(origin.settings, tmp_path / "b", None)
    assert os.listdir(tmp_path) == []


def cut_short(reader: RawReader, collection: str) -> int:
    return 1_000_000


async def test_a_collection_that_was_not_read_whole_is_no_backup(
    origin: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RawReader, "count", cut_short)
    with pytest.raises(ArchiveError, match=r"Of agent_changes 1 of 1000000 documents were read"):
        await back_up(origin.settings, tmp_path / "b", None)
    assert os.listdir(tmp_path) == []


async def test_what_was_written_is_read_again_before_it_has_its_name(
    origin: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that gives back something else than it took."""
    real = NewFile.written

    def written(file: NewFile) -> None:
        file.file.seek(-100, os.SEEK_END)
        file.file.write(b"\0")
        real(file)

    monkeypatch.setattr(NewFile, "written", written)
    with pytest.raises(ArchiveError, match="damaged"):
        await back_up(origin.settings, tmp_path / "b", None)
    assert os.listdir(tmp_path) == []


def later(times: int, act: Callable[[int], None]) -> Callable[[RawReader, str], int]:
    """`RawReader.count` that acts before it counts the first collection, the first so many times."""
    real, calls = RawReader.count, iter(range(times))

    def count(reader: RawReader, collection: str) -> int:
        if collection == "agent_changes" and (call := next(calls, None)) is not None:
            act(call)
        return real(reader, collection)

    return count


async def test_a_collection_that_comes_meanwhile_is_in_a_later_attempt(
    origin: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def come(call: int) -> None:
        origin.raw.drop_collection("new")
        origin.raw.new.insert_one({"_id": f"made in attempt {call}"})

    origin.raw.new.insert_one({"_id": "made before"})
    monkeypatch.setattr(RawReader, "count", later(2, come))
    contents = await back_up(origin.settings, tmp_path / "b", None)
    assert of_contents(contents, "new") == 1
    content = everything_in(tmp_path / "b", origin)
    assert [text in content for text in (b"made before", b"attempt 0", b"attempt 1")] == [False, False, True]
    origin.raw.drop_collection("new")


async def test_collections_that_come_all_the_time(
    origin: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def come(call: int) -> None:
        raise CatalogChangedError("again")

    monkeypatch.setattr(RawReader, "count", later(100, come))
    with pytest.raises(ArchiveError, match="come and go all the time"):
        await back_up(origin.settings, tmp_path / "b", None)
    assert os.listdir(tmp_path) == []


async def test_a_database_of_others_that_forgets_its_past_too_soon(
    origin: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget(call: int) -> None:
        origin.raw.client.admin.command({"setParameter": 1, HISTORY_PARAMETER: 0})
        for number in range(3):
            origin.raw.sites.with_options(write_concern=WriteConcern("majority")).update_many(
                {}, {"$set": {"n": number}}
            )

    monkeypatch.setattr(RawReader, "count", later(1, forget))
    try:
        with pytest.raises(ArchiveError, match=r"setParameter: 1, minSnapshotHistoryWindowInSeconds: 3600"):
            await back_up(origin.settings, tmp_path / "b", None)
    finally:
        origin.raw.client.admin.command({"setParameter": 1, HISTORY_PARAMETER: 300})
    assert os.listdir(tmp_path) == []


async def test_the_setting_of_a_database_of_others_is_not_touched(
    origin: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def look(call: int) -> None:
        told = origin.raw.client.admin.command({"getParameter": 1, HISTORY_PARAMETER: 1})
        seen.append(told[HISTORY_PARAMETER])

    monkeypatch.setattr(RawReader, "count", later(1, look))
    await back_up(origin.settings, tmp_path / "b", None)
    look(1)
    assert seen == [300, 300]


async def test_a_server_that_cannot_be_reached(origin: Place, tmp_path: Path) -> None:
    away = MongoDBSettings(uri="mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=50", timeout_seconds=0.3)
    with pytest.raises(Exception, match="NETAUTOD_MONGODB_URI"):
        await back_up(replace(origin.settings, mongodb=away), tmp_path / "b", None)
    assert os.listdir(tmp_path) == []
