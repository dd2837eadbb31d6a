"""Transcripts and begun changes in a real database."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from netautod.automation.agents.models import START, Chained, chained, problem_of
from netautod.automation.agents.service import AgentService
from netautod.automation.agents.store import ChangeStore, TranscriptStore
from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.plugin_api import ToolCall, TranscriptEvent
from netautod.store.client import Database
from netautod.transport.ssh.platform.registry import PlatformRegistry

CALL = ToolCall(id="c", name="l", arguments="{}")
ORG, OTHER = OrgId("a"), OrgId("b")
NOW = datetime(2026, 11, 24, 3, 0, 0, 123_456, tzinfo=UTC)


def events(execution_id: str) -> list[Chained]:
    events = [
        TranscriptEvent(seq=1, at=NOW, role="system", text="be good"),
        TranscriptEvent(seq=2, at=NOW, role="assistant", tool_calls=(CALL,)),
        TranscriptEvent(
            seq=3,
            at=NOW,
            role="tool",
            tool="l",
            ok=False,
            result="x",
            device_ids=("d",),
            approval={"decision": "approved", "at": "2026-11-24T03:00:00.000Z"},
        ),
    ]
    made: list[Chained] = []
    for event in events:
        made.append(chained(execution_id, event, made[-1].hash if made else START))
    return made


async def test_what_was_written_is_read_and_whole(database: Database) -> None:
    store, execution = TranscriptStore(database), str(uuid4())
    for one in events(execution):
        await store.append(ORG, execution, one)
        await store.append(ORG, execution, one)  # after a write whose answer was lost
    found = await store.read(ORG, execution)
    assert [one.hash for one in found] == [one.hash for one in events(execution)]
    assert problem_of(execution, found) is None
    assert found[1].event.tool_calls == (ToolCall(id="c", name="l", arguments="{}"),)
    assert list(found[2].event.device_ids) == ["d"]
    assert await store.read(OTHER, execution) == []
    usages = await store.usages(ORG, [execution, str(uuid4())])
    assert {(key, one.turns, one.tool_calls) for key, one in usages.items()} == {(execution, 1, 1)}


async def test_a_number_belongs_to_one_event(database: Database) -> None:
    store, execution = TranscriptStore(database), str(uuid4())
    first = events(execution)[0]
    await store.append(ORG, execution, first)
    other = chained(execution, replace(first.event, text="be bad"), START)
    with pytest.raises(Duplicate):
        await store.append(ORG, execution, other)
    assert [one.event.text for one in await store.read(ORG, execution)] == ["be good"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param({"$set": {"text": "be bad"}}, "event 1 was changed", id="text"),
        pytest.param({"$set": {"at": datetime(2020, 1, 1, tzinfo=UTC)}}, "event 1 was changed", id="moment"),
        pytest.param({"$set": {"execution_id": "x"}}, "event 1 is missing", id="moved"),
        pytest.param({"$set": {"hash": "0" * 64}}, "event 1 was changed", id="hash"),
    ],
)
async def test_a_change_in_the_database_is_found(
    database: Database, change: dict[str, object], problem: str
) -> None:
    store, execution = TranscriptStore(database), str(uuid4())
    for one in events(execution):
        await store.append(ORG, execution, one)
    await database.collection("agent_transcripts").update({"_id": f"{execution}:1"}, change)
    assert problem_of(execution, await store.read(ORG, execution)) == problem


@pytest.mark.parametrize(
    ("said", "shown", "hashes"),
    [
        pytest.param("community <secret:0a1b2c3d>", "community <secret>", 0, id="with a token"),
        pytest.param("community <secret>", "community <secret>", 3, id="without one"),
    ],
)
async def test_no_token_of_an_earlier_release_is_shown_nor_can_be_tried(
    database: Database, said: str, shown: str, hashes: int
) -> None:
    """A hash is over all that came before it: with one the token could be found among the possible ones."""
    store, execution, previous = TranscriptStore(database), str(uuid4()), START
    for one in events(execution):
        told = chained(execution, replace(one.event, result=one.event.result and said), previous)
        await store.append(ORG, execution, told)
        previous = told.hash
    agents = AgentService(transcripts=store, platforms=PlatformRegistry(), model=None)
    found = await agents.transcript(ORG, execution)
    assert found[2]["result"] == shown
    assert sum("hash" in event for event in found) == hashes
    assert problem_of(execution, await store.read(ORG, execution)) is None


async def test_a_change_begins_once(database: Database) -> None:
    store, execution = ChangeStore(database), str(uuid4())
    assert await store.begin(ORG, execution, "c1", {}, NOW)
    assert not await store.begin(ORG, execution, "c1", {}, NOW)
    assert await store.begin(ORG, execution, "c2", {}, NOW)
    await store.delete_of(ORG, execution)
    assert await store.begin(ORG, execution, "c1", {}, NOW)
