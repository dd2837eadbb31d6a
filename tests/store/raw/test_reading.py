"""Whole collections as of one moment, on a real mongod that keeps no past unless it is asked to."""

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bson
import pytest
from pymongo import MongoClient

from netautod.core.errors import Conflict, Unavailable
from netautod.store.client import Database
from netautod.store.embedded.life import HISTORY_PARAMETER
from netautod.store.raw import reading
from netautod.store.raw.history import MARGIN_SECONDS, kept_history
from netautod.store.raw.reading import (
    CatalogChangedError,
    OtherMomentError,
    PastGoneError,
    RawReader,
    raw_reader,
)

# More than a first answer has (101), and more than one of 16 MB.
MANY = 300
LARGE = "x" * 100_000


@pytest.fixture
def client(mongo_uri: str) -> Iterator[MongoClient[Any]]:
    with MongoClient[Any](mongo_uri, w="majority") as made:
        yield made


@pytest.fixture
def raw(client: MongoClient[Any], database: Database) -> Any:
    made = client[database.name]
    for name in ("one", "two"):
        made[name].insert_many([{"_id": number, "n": 0, "text": LARGE} for number in range(MANY)])
    return made


def window(client: MongoClient[Any]) -> int:
    found: int = client.admin.command({"getParameter": 1, HISTORY_PARAMETER: 1})[HISTORY_PARAMETER]
    return found


def numbers(reader: RawReader, collection: str) -> list[int]:
    return [bson.decode(one)["n"] for batch in reader.batches(collection) for one in batch]


def test_all_documents_come_in_answers_of_bounded_size(raw: Any, mongo_uri: str) -> None:
    with raw_reader(mongo_uri, raw.name) as reader:
        batches = list(reader.batches("one"))
        assert sum(map(len, batches)) == reader.count("one") == MANY
        assert len(batches) >= 3
        assert max(sum(map(len, batch)) for batch in batches) <= 17 << 20
        assert max(sum(map(len, batch)) for batch in batches[1:]) <= 2 << 20
        assert reader.collections() == {"one", "two"}
        assert [bson.decode(batches[0][0])] == [raw.one.find_one({})]


def test_what_was_taken_makes_room_for_what_comes(raw: Any, mongo_uri: str) -> None:
    """Of 20 MB only an answer is there at a time, as it came and in pieces, and the next one on its way."""
    raw.many.insert_many([{"_id": number, "text": "x" * 10_000} for number in range(2000)])
    with raw_reader(mongo_uri, raw.name) as reader:
        tracemalloc.start()
        try:
            assert sum(len(batch) for batch in reader.batches("many")) == 2000
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert most <= 6 << 20


def test_what_is_written_meanwhile_is_not_read(raw: Any, mongo_uri: str, tmp_path: Path) -> None:
    with kept_history(mongo_uri, tmp_path), raw_reader(mongo_uri, raw.name) as reader:
        before = raw.client.admin.command("hello")["localTime"]
        taken_at = reader.pin("one")
        assert abs((taken_at.replace(tzinfo=None) - before).total_seconds()) < 60
        first = reader.batches("one")
        assert len(next(first)) == 101
        for number in range(1, 4):
            raw.one.update_many({}, {"$set": {"n": number}})
            raw.two.update_many({}, {"$set": {"n": number}})
        raw.one.delete_many({"_id": {"$gt": 200}})
        raw.two.insert_one({"_id": MANY, "n": 4})
        assert sum(len(batch) for batch in first) == MANY - 101
        assert numbers(reader, "one") == numbers(reader, "two") == [0] * MANY
        assert reader.count("one") == reader.count("two") == MANY
        assert numbers(reader, "never there") == []


def test_without_that_the_past_is_gone_and_says_so(raw: Any, mongo_uri: str) -> None:
    with raw_reader(mongo_uri, raw.name) as reader:
        reader.pin("one")
        for number in range(3):
            raw.two.update_many({}, {"$set": {"n": number}})
        with pytest.raises(PastGoneError):
            list(reader.batches("one"))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda raw: raw.three.insert_one({}), id="made"),
        pytest.param(lambda raw: raw.two.rename("three"), id="renamed"),
    ],
)
def test_a_collection_that_came_meanwhile_cannot_be_read_as_of_then(
    raw: Any, mongo_uri: str, tmp_path: Path, change: Callable[[Any], None]
) -> None:
    with kept_history(mongo_uri, tmp_path), raw_reader(mongo_uri, raw.name) as reader:
        reader.pin("one")
        change(raw)
        with pytest.raises(CatalogChangedError):
            list(reader.batches("three"))
        reader.pin("one")
        assert sum(len(batch) for batch in reader.batches("three")) >= 1


def test_an_answer_of_another_moment_is_refused(
    raw: Any, mongo_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a server would give that does not know the option, or a proxy that drops it."""
    real = RawReader._ask

    def forgetful(reader: RawReader, command: dict[str, Any]) -> Any:
        return real(
            reader, {**command, "readConcern": {"level": "snapshot"}} if "find" in command else command
        )

    with kept_history(mongo_uri, tmp_path), raw_reader(mongo_uri, raw.name) as reader:
        reader.pin("one")
        raw.two.update_one({}, {"$set": {"n": 1}})
        monkeypatch.setattr(reading.RawReader, "_ask", forgetful)
        with pytest.raises(OtherMomentError):
            list(reader.batches("two"))


def test_the_past_is_kept_while_it_is_read_and_by_one_at_a_time(
    client: MongoClient[Any], mongo_uri: str, tmp_path: Path
) -> None:
    assert window(client) == 0
    with kept_history(mongo_uri, tmp_path):
        assert window(client) == MARGIN_SECONDS
        with pytest.raises(Conflict, match="Another backup"), kept_history(mongo_uri, tmp_path):
            pytest.fail("there were two")
        assert window(client) == MARGIN_SECONDS
    assert window(client) == 0


def test_the_past_that_is_kept_grows_with_the_work(
    client: MongoClient[Any], mongo_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netautod.store.raw.history._EVERY_SECONDS", 0.01)
    with kept_history(mongo_uri, tmp_path):
        while window(client) < MARGIN_SECONDS + 2:
            client.admin.command("ping")


def test_a_database_that_is_away_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("netautod.store.raw.connecting.SELECTION_SECONDS", 0.05)
    with pytest.raises(Unavailable), raw_reader("mongodb://127.0.0.1:1", "x") as reader:
        reader.collections()
