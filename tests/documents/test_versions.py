"""Versions: one for each write, in a total order, restorable, gone with their document."""

import asyncio
from typing import Any

import pytest

from tests.documents.library import ABSENT_ID, NOTE, TEXT, Library, Node
from tests.support.client import assert_error
from tests.support.clock import MovableClock
from tests.support.profiler import profiled


async def test_each_write_makes_a_version_of_what_it_replaces_with_one_timestamp(node: Node) -> None:
    made = await node.create(content="0")
    for number in range(1, 6):
        changed = await node.put(made, content=str(number))
        newest = (await node.versions(made))[0]
        assert newest["created_at"] == changed["updated_at"]
        assert newest["document_id"] == made["id"]
        assert set(newest) == {"id", "document_id", "created_at"}
        assert (await node.version(newest)).json == {**newest, "content": str(number - 1)}
    assert await node.contents(made) == ["4", "3", "2", "1", "0"]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"name": "other"}, id="a rename"),
        pytest.param({"parent_folder": None}, id="a field is cleared"),
        pytest.param({}, id="nothing changes"),
        pytest.param({"content": "first"}, id="the same content again"),
    ],
)
async def test_every_put_makes_a_version(node: Node, fields: dict[str, Any]) -> None:
    made = await node.create()
    changed = await node.put(made, **fields)
    assert changed["content"] == "first"
    assert await node.contents(made) == ["first"]
    assert changed["updated_at"] == (await node.versions(made))[0]["created_at"]


@pytest.mark.parametrize("fields", [pytest.param(TEXT, id="plain"), pytest.param(NOTE, id="a note")])
async def test_a_restore_can_be_undone(library: Library, node: Node, fields: dict[str, Any]) -> None:
    made = await node.create(fields)
    await node.put(made, content="second", name="renamed")
    (oldest,) = await node.versions(made)
    restored = (await node.restore(made, oldest)).json
    assert (restored["content"], restored["name"]) == ("first", "renamed")
    assert await node.get(made) == restored
    assert await node.contents(made) == ["second", "first"]
    newest = (await node.versions(made))[0]
    assert newest["created_at"] == restored["updated_at"]
    assert (await node.restore(made, newest)).json["content"] == "second"
    assert await node.contents(made) == ["first", "second", "first"]
    assert (await library.events())[-1] == ("document.restore", made["id"])


async def test_a_version_of_another_document_is_not_found(node: Node) -> None:
    one, other = await node.create(), await node.create()
    await node.put(other, content="x")
    (version,) = await node.versions(other)
    assert_error(await node.restore(one, version), 404, "Version not found")
    assert_error(await node.restore(one, {"id": ABSENT_ID}), 404, "Version not found")
    assert_error(await node.restore({"id": ABSENT_ID}, version), 404, "Document not found")
    assert await node.versions(one) == []


async def test_versions_of_one_millisecond_have_an_order(library: Library) -> None:
    node = await library.node(clock=MovableClock())
    made = await node.create(content="0")
    for number in range(1, 30):
        await node.put(made, content=str(number))
    assert await node.contents(made) == [str(number) for number in range(28, -1, -1)]
    assert len({version["created_at"] for version in await node.versions(made)}) == 1


async def test_100_parallel_writes_on_two_nodes_lose_nothing(library: Library) -> None:
    first = await library.node()
    second = await library.node(org_id=first.org_id)
    made = await first.create(content="start")
    nodes = [first, second]
    answers = await asyncio.gather(
        *(nodes[number % 2].put(made, content=f"text {number}") for number in range(100))
    )
    assert [answer["content"] for answer in answers] == [f"text {number}" for number in range(100)]
    live = (await first.get(made))["content"]
    contents = await first.contents(made)
    assert sorted([*contents, live]) == sorted(["start", *(f"text {number}" for number in range(100))])
    assert contents[-1] == "start"
    last = max(answers, key=lambda answer: answer["updated_at"])
    assert last["updated_at"] == (await first.get(made))["updated_at"]
    versions = await first.versions(made)
    stamps = [version["created_at"] for version in versions]
    assert stamps == sorted(stamps, reverse=True)
    # Each write and its version share a time.
    assert sorted(stamps) == sorted(answer["updated_at"] for answer in answers)


async def test_a_node_notices_what_another_one_has_written(library: Library) -> None:
    first = await library.node()
    second = await library.node(org_id=first.org_id)
    made = await first.create(content="0")
    for number, node in enumerate((first, second, second, first, first, second), start=1):
        assert (await node.put(made, content=str(number)))["content"] == str(number)
    assert await first.contents(made) == ["5", "4", "3", "2", "1", "0"]
    await second.put(made, name="renamed", parent_folder="x")
    changed = await first.put(made, content="8")
    assert (changed["name"], changed["parent_folder"]) == ("renamed", "x")
    assert (await second.api.delete(f"/api/docs/{made['id']}")).status == 204
    gone = await first.api.put(f"/api/docs/{made['id']}", {"content": "9"})
    assert_error(gone, 404, "Document not found")
    assert await library.versions_of(made) == 0


async def test_deletions_against_writes_and_restores_leave_no_orphan(library: Library) -> None:
    first = await library.node()
    second = await library.node(org_id=first.org_id)
    for _ in range(10):
        made = await first.create()
        await first.put(made, content="second")
        (version,) = await first.versions(made)
        path = f"/api/docs/{made['id']}"
        answers = await asyncio.gather(
            first.restore(made, version),
            second.api.put(path, {"content": "third"}),
            first.api.delete(path),
            second.restore(made, version),
            first.api.put(path, {"name": "x"}),
        )
        assert {answer.status for answer in answers} <= {200, 204, 404}
        assert answers[2].status == 204
        assert await library.versions_of(made) == 0
        assert_error(await second.version(version), 404, "Version not found")
        assert_error(await first.api.get(f"{path}/versions"), 404, "Document not found")


async def test_the_list_of_10000_versions_reads_no_content(
    library: Library, node: Node, mongo_uri: str
) -> None:
    made = await node.create()
    await node.put(made, content="second")
    versions = library.database.collection("document_versions")
    (row,) = await versions.find({})
    for start in range(0, 10_000, 1000):
        rows = [{**row, "_id": f"{n:032x}", "revision": n} for n in range(start + 10, start + 1010)]
        await versions.insert_many(rows)
    listed = await node.documents.versions(node.caller, made["id"])
    assert len(listed) == 10_001
    assert listed[0]["id"] == f"{10_009:032x}"
    with profiled(library.database, mongo_uri) as profile:
        await node.documents.versions(node.caller, made["id"])
        _, documents = profile.cost()
    assert documents == 1  # the document itself
