"""The list of documents: all of them in one answer, read while it is written."""

import asyncio
import tracemalloc
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError
from tornado.iostream import StreamClosedError

from netautod.core.errors import Unavailable
from netautod.core.pages import Page
from netautod.documents import service as service_module
from netautod.documents.models import DocumentFilter
from netautod.documents.service import SMALL
from netautod.documents.store import DocumentStore
from tests.documents.library import PASSPHRASE, Library, Node
from tests.support.client import assert_error

MIB = 1024 * 1024


async def copies(library: Library, document: Any, count: int, **fields: Any) -> None:
    """Insert so many more documents that differ in their ids and names alone."""
    rows = library.database.collection("documents")
    row = await rows.find_one({"_id": document["id"]})
    assert row is not None
    for start in range(0, count, 100):
        await rows.insert_many(
            [
                {**row, **fields, "_id": f"{document['id'][:-6]}{number:06}", "name": f"copy {number:06}"}
                for number in range(start, min(start + 100, count))
            ]
        )


async def test_without_a_limit_all_documents_are_answered(library: Library, node: Node) -> None:
    made = await node.create(name="last")
    await copies(library, made, 1234)
    whole = (await node.api.get("/api/docs")).expect()
    assert [one["name"] for one in whole] == [*(f"copy {number:06}" for number in range(1234)), "last"]
    assert len({one["id"] for one in whole}) == 1235
    assert whole[-1] == made
    bare = (await node.api.get("/api/docs?content=false&offset=1000")).expect()
    assert [one["id"] for one in bare] == [one["id"] for one in whole[1000:]]
    assert len((await node.api.get("/api/docs?limit=1000")).expect()) == 100
    assert (await node.elsewhere().get("/api/docs")).expect() == []


async def test_of_equal_names_the_ids_decide(node: Node) -> None:
    made = [await node.create(name="same") for _ in range(5)]
    listed = (await node.api.get("/api/docs")).expect()
    assert [one["id"] for one in listed] == sorted(one["id"] for one in made)


async def test_large_contents_are_answered_too(node: Node) -> None:
    contents = [character * (6 * MIB) for character in "abc"]
    for content in contents:
        await node.create(name=content[0], content=content)
    assert [one["content"] for one in (await node.api.get("/api/docs")).expect()] == contents


async def test_a_few_small_documents_take_one_query(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    async def further(*args: Any, **options: Any) -> Any:
        raise AssertionError

    for name in "ab":
        await node.create(name=name, content=name * SMALL)
    for name in ("listed", "some", "with_contents"):
        monkeypatch.setattr(DocumentStore, name, further)
    expected = {"?content=false": ["a", "b"], "?limit=1": ["a"], "?offset=1": ["b"], "": ["a", "b"]}
    for query, names in expected.items():
        listed = (await node.api.get(f"/api/docs{query}")).expect()
        assert [one["name"] for one in listed] == names
    assert [one["content"] for one in listed] == ["a" * SMALL, "b" * SMALL]


@pytest.mark.parametrize("at_once", [2, 200])
async def test_small_and_large_contents_come_in_order(
    node: Node, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    assert (await node.api.post("/api/vault/password", {"password": PASSPHRASE})).status == 204
    monkeypatch.setattr(service_module, "READ_AT_ONCE", at_once)
    sizes = {"a": SMALL + 1, "b": SMALL, "c": 0, "d": MIB, "e": MIB, "f": 1}
    for name, size in sizes.items():
        await node.create(name=name, content=name * size, category="notes")
    listed = (await node.api.get("/api/docs")).expect()
    assert [one["content"] for one in listed] == [name * size for name, size in sizes.items()]
    bare = (await node.api.get("/api/docs?content=false")).expect()
    assert [sorted(one) for one in bare] == [sorted({*one} - {"content"}) for one in listed]


async def test_what_is_held_does_not_grow_with_the_list(library: Library, node: Node) -> None:
    made = await node.create(content="x" * (256 * 1024))
    await copies(library, made, 200)

    async def peak(limit: int) -> int:
        tracemalloc.start()
        size = 0
        async for shown in node.documents.listed(node.caller, DocumentFilter(), limit=limit):
            size += len(shown.text or "")
        assert size == limit * 256 * 1024
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = await peak(20), await peak(200)
    assert many < 2 * few
    assert many < 10 * MIB


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"name": "zz"}, id="renamed to the end"),
        pytest.param({"category": "templates"}, id="moved to another category"),
        pytest.param({"content": "second"}, id="changed"),
    ],
)
async def test_a_document_that_changes_meanwhile_comes_once(
    node: Node, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    monkeypatch.setattr(service_module, "READ_AT_ONCE", 2)
    made = [await node.create(name=name) for name in "abcd"]
    found: list[str] = []
    async for shown in node.documents.listed(node.caller, DocumentFilter()):
        if not found:
            await node.put(made[0], **change)
            await node.put(made[3], **change)
        found.append(shown.document.id)
    assert sorted(found) == sorted(one["id"] for one in made)


async def test_what_leaves_the_list_meanwhile_does_not_come(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "READ_AT_ONCE", 2)
    made = [await node.create(name=name) for name in "abcd"]
    found: list[str] = []
    async for shown in node.documents.listed(node.caller, DocumentFilter(category="outputs")):
        if not found:
            assert (await node.api.delete(f"/api/docs/{made[2]['id']}")).status == 204
            await node.put(made[3], category="templates")
        found.append(shown.document.name)
    assert found == ["a", "b"]


async def test_a_vault_that_is_locked_meanwhile_closes_the_rest(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "READ_AT_ONCE", 1)
    for name in "ab":
        await node.create(name=name, category="notes")
    assert (await node.api.post("/api/vault/password", {"password": PASSPHRASE})).status == 204
    found: list[Any] = []
    async for shown in node.documents.listed(node.caller, DocumentFilter()):
        if not found:
            assert (await node.api.post("/api/vault/lock")).status == 204
        found.append((shown.text, shown.locked))
    assert found == [("first", False), ("", True)]


async def test_a_failure_before_the_answer_starts_is_an_error(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*args: Any, **options: Any) -> Any:
        raise Unavailable("away")

    await node.create(content="x" * (SMALL + 1))
    for name in ("first", "with_contents"):
        with monkeypatch.context() as patched:
            patched.setattr(DocumentStore, name, away)
            assert_error(await node.api.get("/api/docs"), 503, "away")


async def test_a_failure_in_the_middle_breaks_the_connection(
    library: Library, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    await copies(library, await node.create(content="x" * MIB), 4)
    real, calls = DocumentStore.with_contents, []

    async def goes_away(self: DocumentStore, *args: Any) -> Any:
        calls.append(args)
        if len(calls) == 3:
            raise Unavailable("away")
        return await real(self, *args)

    monkeypatch.setattr(DocumentStore, "with_contents", goes_away)
    got = bytearray()
    with pytest.raises((HTTPClientError, StreamClosedError)):
        await AsyncHTTPClient(force_instance=True).fetch(
            f"{node.api.base_url}/api/docs",
            headers={"Authorization": f"Bearer {node.api.token}"},
            streaming_callback=got.extend,
        )
    assert got.startswith(b"[{")
    monkeypatch.undo()
    assert len((await node.api.get("/api/docs")).expect()) == 5


async def test_a_reader_that_stops_holds_nothing_up_and_reads_no_further(
    library: Library, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    await copies(library, await node.create(content="x" * MIB), 60)
    real, started, read = DocumentStore.with_contents, asyncio.Event(), []

    async def watched(self: DocumentStore, org_id: Any, ids: Any) -> Any:
        read.extend(ids)
        started.set()
        return await real(self, org_id, ids)

    monkeypatch.setattr(DocumentStore, "with_contents", watched)
    host, port = node.api.base_url.removeprefix("http://").split(":")
    _, writer = await asyncio.open_connection(host, int(port), limit=1024)
    head = f"GET /api/docs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {node.api.token}\r\n\r\n"
    writer.write(head.encode())
    await started.wait()
    for _ in range(5):  # others are served in between
        assert len((await node.api.get("/api/docs?content=false")).expect()) == 61
    assert len(read) < 40
    writer.close()
    await writer.wait_closed()


async def test_documents_are_found_by_a_part_of_their_name_and_by_content_type(node: Node) -> None:
    await node.create(name="Core plan (1)", content_type="markdown")
    await node.create(name="edge plan", category="backups")
    await node.create(name="edge.plan")
    for query, names in {
        "q=CORE": ["Core plan (1)"],
        "q=(1)": ["Core plan (1)"],
        "q=e.p": ["edge.plan"],
        "q=": ["edge plan", "Core plan (1)", "edge.plan"],
        "content_type=markdown": ["Core plan (1)"],
        "content_type=text&q=plan&category=outputs": ["edge.plan"],
        "content_type=unknown": [],
    }.items():
        assert [one["name"] for one in (await node.api.get(f"/api/docs?{query}")).expect()] == names, query
    page = await node.documents.page(node.caller, DocumentFilter(q="plan"), Page(limit=1, offset=1))
    assert ([one.document.name for one in page.items], page.total) == (["Core plan (1)"], 3)
    assert page.items[0].text is None
