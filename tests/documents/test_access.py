"""Who reads documents and notes: every way to a content or a name of a note, with and without permission."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from netautod.automation.agents.tools.documents import DocumentTools
from netautod.core.errors import Forbidden
from netautod.core.pages import Page
from netautod.documents.models import DocumentFilter
from netautod.plugin_api import ContentType
from tests.documents.library import NOTE, TEMPLATE, TEXT, Library, Node
from tests.support.client import ApiClient, Response, assert_error

REFUSED = "Insufficient permissions"
SECRET = "the door code is 4711"
NOTES = {**NOTE, "content_type": "jinja", "content": SECRET, "name": "door code"}


def client(node: Node, *permissions: str) -> ApiClient:
    return node.served.client(*permissions, org_id=node.org_id)[0]


async def note_with_version(node: Node) -> tuple[str, str]:
    """Return the ids of a note and of its version, which has another content."""
    made = await node.create(NOTES)
    await node.put(made, content=f"{SECRET}!")
    (version,) = await node.versions(made)
    return made["id"], version["id"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/api/docs/{note}", None, id="the note"),
        pytest.param("/api/docs/{note}/versions", None, id="the list of its versions"),
        pytest.param("/api/docs/versions/{version}", None, id="a version"),
        pytest.param("/api/docs/{note}/render", {}, id="rendering"),
        pytest.param("/api/docs/{note}/variables", None, id="its variables"),
    ],
)
@pytest.mark.parametrize(
    ("held", "reads"),
    [
        pytest.param((), False, id="no permission"),
        pytest.param(("docs.read",), False, id="a reader of documents"),
        pytest.param(("docs.manage", "devices.manage"), False, id="a writer of documents"),
        pytest.param(("notes.read",), False, id="notes alone are no documents"),
        pytest.param(("docs.read", "notes.read"), True, id="a reader of notes"),
        pytest.param(("*",), True, id="an administrator"),
    ],
)
async def test_each_door_to_a_note_needs_both_permissions(
    node: Node, held: tuple[str, ...], reads: bool, path: str, body: Any
) -> None:
    note, version = await note_with_version(node)
    where, api = path.format(note=note, version=version), client(node, *held)
    answer = await (api.get(where) if body is None else api.post(where, body))
    if reads:
        assert answer.status == 200, answer.content
    else:
        assert_error(answer, 403, REFUSED)


@pytest.mark.parametrize(
    ("held", "names"),
    [
        pytest.param(("docs.read",), ["plan", "base"], id="a reader of documents"),
        pytest.param(("docs.manage",), ["plan", "base"], id="a writer of documents"),
        pytest.param(("docs.read", "notes.read"), ["door code", "plan", "base"], id="a reader of notes"),
    ],
)
async def test_lists_leave_notes_out_for_who_may_not_read_them(
    node: Node, held: tuple[str, ...], names: list[str]
) -> None:
    await node.create(NOTES, parent_folder="x")
    await node.create(TEXT)
    await node.create(TEMPLATE, name="base")
    api, caller = node.served.client(*held, org_id=node.org_id)
    may = "door code" in names

    async def listed(query: str) -> list[str]:
        return [one["name"] for one in (await api.get(f"/api/docs?{query}")).expect()]

    assert await listed("") == names
    assert await listed("limit=2&offset=0") == names[:2]
    for query in ("q=door", "category=notes", "parent_folder=x", "content=false&category=notes"):
        assert await listed(query) == (["door code"] if may else []), query
    assert await listed("category=outputs") == ["plan"]
    page = await node.documents.page(caller, DocumentFilter(), Page(limit=1))
    assert (len(page.items), page.total) == (1, len(names))


Write = Callable[[ApiClient, str, str], Awaitable[Response]]


@pytest.mark.parametrize(
    ("write", "status"),
    [
        pytest.param(lambda api, note, _: api.put(f"/api/docs/{note}", {"name": "x"}), 200, id="a new name"),
        pytest.param(lambda api, note, _: api.put(f"/api/docs/{note}", {}), 200, id="nothing"),
        pytest.param(
            lambda api, note, _: api.put(f"/api/docs/{note}", {"content": "mine"}), 200, id="a content"
        ),
        pytest.param(
            lambda api, note, version: api.post(f"/api/docs/{note}/restore/{version}"), 200, id="a restore"
        ),
        pytest.param(lambda api, *_: api.post("/api/docs", NOTES), 201, id="a new note"),
    ],
)
async def test_the_answer_to_a_write_shows_no_content_to_who_may_not_read_it(
    node: Node, write: Write, status: int
) -> None:
    note, version = await note_with_version(node)
    answer = await write(client(node, "docs.manage"), note, version)
    shown = answer.expect(status)
    assert (shown["content"], shown["encrypted"], shown["locked"]) == ("", True, False)
    assert b"4711" not in answer.content
    seen = await write(client(node, "docs.manage", "notes.read"), note, version)
    assert seen.expect(status)["content"] == (await node.get(seen.json))["content"] != ""


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"category": "mops"}, id="another category"),
        pytest.param({"category": "mops", "content": "mine"}, id="with another content"),
        pytest.param({"content_type": "quoting"}, id="a check of the stored content by a plugin"),
    ],
)
async def test_a_change_that_opens_a_note_needs_to_read_it(library: Library, fields: dict[str, Any]) -> None:
    quoting = ContentType(name="quoting", description="q", check=lambda text: None)
    node = await library.node(of_plugins={"quoting": quoting})
    note, _ = await note_with_version(node)
    before, path = await library.dump(), f"/api/docs/{note}"
    assert_error(await client(node, "docs.manage").put(path, fields), 403, REFUSED)
    assert await library.dump() == before
    assert (await client(node, "docs.manage").put(path, {"content_type": "markdown"})).status == 200
    assert (await client(node, "docs.manage", "notes.read").put(path, fields)).status == 200


async def test_a_document_becomes_a_note_without_leaving_its_content_behind(node: Node) -> None:
    made = await node.create(TEXT, content=SECRET)
    api, path = client(node, "docs.manage"), f"/api/docs/{made['id']}"
    hidden = (await api.put(path, {"category": "notes"})).expect()
    assert hidden["content"] == ""
    assert_error(await api.get(path), 403, REFUSED)
    (version,) = await node.versions(made)
    assert_error(await api.get(f"/api/docs/versions/{version['id']}"), 403, REFUSED)
    assert (await api.delete(path)).status == 204


async def test_a_race_between_two_writers_opens_no_note(library: Library) -> None:
    first = await library.node()
    second = await library.node(org_id=first.org_id)
    for _ in range(5):
        made = await first.create(TEXT, content=SECRET)
        path, writer = f"/api/docs/{made['id']}", client(second, "docs.manage")
        await asyncio.gather(
            first.put(made, category="notes", content=f"{SECRET}!"), writer.put(path, {"category": "mops"})
        )
        assert ((await first.get(made))["category"] == "notes") == ((await writer.get(path)).status == 403)


async def test_names_of_notes_are_not_in_the_audit(library: Library, node: Node) -> None:
    note, version = await note_with_version(node)
    await node.api.post(f"/api/docs/{note}/restore/{version}")
    await node.create(TEXT)
    found = await library.database.collection("audit_events").find({}, sort=[("at", 1)])
    assert [event["details"].get("name") for event in found] == [None, None, None, "plan"]
    assert [event["resource_id"] for event in found[:3]] == [note] * 3


async def test_writing_and_deleting_need_more_than_reading(node: Node) -> None:
    made = await node.create(TEXT)
    api, path = client(node, "docs.read", "notes.read"), f"/api/docs/{made['id']}"
    for answer in (
        await api.post("/api/docs", TEXT),
        await api.put(path, {"name": "x"}),
        await api.delete(path),
        await api.post("/api/vault/lock"),
    ):
        assert_error(answer, 403, REFUSED)
    assert (await api.get(path)).expect()["content"] == "first"


async def test_the_tools_of_agents_read_documents_and_never_notes(node: Node) -> None:
    note, _ = await note_with_version(node)
    made = await node.create(TEXT)
    tools = {tool.name: tool for tool in DocumentTools(node.documents).tools()}
    needed = {name: tool.permission for name, tool in tools.items()}
    assert needed == {
        "list_documents": "docs.read",
        "read_document": "docs.read",
        "write_document": "docs.manage",
    }
    calling: Any = SimpleNamespace(work=SimpleNamespace(caller=node.caller))
    listed = await tools["list_documents"].call({"limit": 50, "offset": 0}, calling)
    assert made["id"] in listed.text
    assert note not in listed.text
    read, lines = tools["read_document"], {"first_line": 1, "lines": 9}
    assert (await read.call({"document_id": made["id"], **lines}, calling)).text == "first"
    with pytest.raises(Forbidden, match="agents cannot read notes"):
        await read.call({"document_id": note, **lines}, calling)
