"""Documents over HTTP: fields, lists, bad input, organizations, permissions."""

import json
from typing import Any

import pytest

from tests.documents.library import ABSENT_ID, NOTE, TEMPLATE, TEXT, Library, Node
from tests.support.client import ApiClient, Response, assert_error

MIB = 1024 * 1024
FIELDS = {
    "id",
    "name",
    "category",
    "content_type",
    "content",
    "parent_folder",
    "session_id",
    "created_at",
    "updated_at",
    "encrypted",
    "locked",
}


async def test_a_document_is_created_read_changed_and_deleted(library: Library, node: Node) -> None:
    made = await node.create(name="  plan ", parent_folder="a/b", session_id="s-1")
    assert set(made) == FIELDS
    assert (made["name"], made["content"], made["parent_folder"]) == ("plan", "first", "a/b")
    assert made["created_at"] == made["updated_at"]
    assert (made["encrypted"], made["locked"]) == (False, False)
    assert await node.get(made) == made
    changed = await node.put(made, **{**made, "name": "plan b", "parent_folder": None, "session_id": ""})
    assert (changed["name"], changed["parent_folder"], changed["session_id"]) == ("plan b", None, None)
    assert changed["created_at"] == made["created_at"]
    assert changed["updated_at"] >= made["updated_at"]
    assert await node.get(made) == changed
    path = f"/api/docs/{made['id']}"
    assert (await node.api.delete(path)).status == 204
    assert_error(await node.api.get(path), 404, "Document not found")
    assert_error(await node.api.delete(path), 404, "Document not found")
    assert_error(await node.api.put(path, {"name": "x"}), 404, "Document not found")
    actions = ["document.create", "document.update", "document.delete"]
    assert await library.events() == [(action, made["id"]) for action in actions]


async def test_lists_are_sorted_filtered_paged_and_free_of_contents_on_demand(node: Node) -> None:
    for name, category, folder in (
        ("c", "outputs", None),
        ("a", "templates", "x"),
        ("b", "outputs", "x"),
        ("d", "notes", "y"),
    ):
        await node.create(name=name, category=category, parent_folder=folder)

    async def names(query: str) -> list[str]:
        return [item["name"] for item in (await node.api.get(f"/api/docs?{query}")).json]

    assert await names("") == ["d", "b", "c", "a"]
    assert await names("category=outputs") == ["b", "c"]
    assert await names("parent_folder=x") == ["b", "a"]
    assert await names("parent_folder=x&category=outputs") == ["b"]
    assert await names("parent_folder=") == ["c"]
    assert await names("limit=2&offset=1") == ["b", "c"]
    assert await names("offset=2") == ["c", "a"]
    assert await names("limit=1000&bananas=1") == ["d", "b", "c", "a"]
    whole = (await node.api.get("/api/docs")).json
    assert [item["content"] for item in whole] == ["first"] * 4
    assert whole[0] == await node.get(whole[0])
    bare = (await node.api.get("/api/docs?content=false")).json
    assert all(set(item) == FIELDS - {"content"} for item in bare)


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("category=bananas", id="a category that does not exist"),
        pytest.param("limit=0", id="limit 0"),
        pytest.param("limit=abc", id="limit abc"),
        pytest.param("offset=-1", id="offset -1"),
        pytest.param("content=yes", id="a flag that is neither true nor false"),
    ],
)
async def test_bad_queries(node: Node, query: str) -> None:
    assert_error(await node.api.get(f"/api/docs?{query}"), 400, query.partition("=")[0])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        pytest.param({"name": None}, "name", id="no name"),
        pytest.param({"name": "  "}, "name", id="blank name"),
        pytest.param({"name": "x" * 256}, "name", id="256 characters"),
        pytest.param({"name": "a\nb"}, "name: Control characters", id="a line break in a name"),
        pytest.param({"name": "a\x1b[2Jb"}, "name: Control characters", id="an escape sequence in a name"),
        pytest.param({"name": "a\x00"}, "name: NUL", id="NUL in a name"),
        pytest.param({"parent_folder": "a\rb"}, "parent_folder: Control", id="control character in a folder"),
        pytest.param({"name": {"$gt": ""}}, "name: Not a valid string", id="operator object for a name"),
        pytest.param({"content": {"$ne": 1}}, "content: Not a valid string", id="operator object as content"),
        pytest.param({"content": ["x"]}, "content: Not a valid string", id="array as content"),
        pytest.param({"content": 7}, "content: Not a valid string", id="number as content"),
        pytest.param({"content": None}, "content", id="no content"),
        pytest.param({"content": "a\x00"}, "content: NUL", id="NUL in content"),
        pytest.param({"category": "bananas"}, "category: Must be one of", id="unknown category"),
        pytest.param({"category": None}, "category", id="no category"),
        pytest.param({"content_type": "pdf"}, "content_type: Must be one of", id="unknown content type"),
        pytest.param({"session_id": 5}, "session_id: Not a valid string", id="number for a text"),
        pytest.param({"version": 5}, "version: Unknown field", id="unknown field"),
    ],
)
async def test_bad_input_is_refused_on_create_and_on_change(
    node: Node, change: dict[str, Any], text: str
) -> None:
    made = await node.create()
    assert_error(await node.api.post("/api/docs", {**TEXT, **change}), 400, text)
    assert_error(await node.api.put(f"/api/docs/{made['id']}", change), 400, text)
    assert await node.versions(made) == []


async def test_an_empty_content_is_a_content(node: Node) -> None:
    made = await node.create(content="")
    assert made["content"] == ""
    assert (await node.put(made, content="x"))["content"] == "x"
    assert (await node.put(made, content=""))["content"] == ""


@pytest.mark.parametrize("fields", [pytest.param(TEXT, id="plain"), pytest.param(NOTE, id="a note")])
async def test_contents_up_to_8_mib_and_not_beyond(node: Node, fields: dict[str, Any]) -> None:
    full = "0123456\n" * MIB
    made = await node.create(fields, content=full)
    assert (await node.put(made, content=full[::-1]))["content"] == full[::-1]
    assert await node.contents(made) == [full]
    for content in (full + "x", "é" * (4 * MIB + 1), "x" * (9 * MIB), "x" * (40 * MIB)):
        raw = json.dumps({**fields, "content": content}, ensure_ascii=False).encode()
        assert_error(await node.api.post("/api/docs", raw=raw), 413, "larger than")
        assert_error(await node.api.put(f"/api/docs/{made['id']}", raw=raw), 413, "larger than")
    assert len(await node.versions(made)) == 1


async def every_route(api: ApiClient, document_id: str, version_id: str) -> list[Response]:
    one = f"/api/docs/{document_id}"
    return [
        await api.get(one),
        await api.put(one, {"content": "stolen"}),
        await api.get(f"{one}/versions"),
        await api.post(f"{one}/render", {"variables": {}}),
        await api.get(f"/api/docs/versions/{version_id}"),
        await api.post(f"{one}/restore/{version_id}"),
        await api.delete(one),
    ]


@pytest.mark.parametrize("fields", [pytest.param(TEMPLATE, id="template"), pytest.param(NOTE, id="note")])
async def test_another_organization_sees_nothing_and_changes_nothing(
    node: Node, fields: dict[str, Any]
) -> None:
    made = await node.create(fields)
    changed = await node.put(made, content="second")
    (version,) = await node.versions(made)
    missing = await every_route(node.elsewhere(), ABSENT_ID, ABSENT_ID)
    foreign = await every_route(node.elsewhere(), made["id"], version["id"])
    assert [one.status for one in foreign] == [404] * 7
    assert [one.content for one in foreign] == [one.content for one in missing]
    assert (await node.elsewhere().get("/api/docs")).json == []
    assert await node.get(made) == changed
    assert await node.versions(made) == [version]


@pytest.mark.parametrize("wrong", ["x", "1" * 32, "{" + ABSENT_ID + "}", "../users", "%00"])
async def test_ids_that_are_no_uuids_are_not_found(node: Node, wrong: str) -> None:
    for response in await every_route(node.api, wrong, wrong):
        assert response.status == 404, response.content


async def test_permissions(node: Node) -> None:
    made = await node.create(TEMPLATE)
    one = f"/api/docs/{made['id']}"
    await node.put(made, content="second")
    (version,) = await node.versions(made)
    stranger, reader = node.with_permissions("devices.manage"), node.with_permissions("docs.read")
    for api, status in ((stranger, 403), (reader, 200)):
        for response in (
            await api.get("/api/docs"),
            await api.get(one),
            await api.get(f"{one}/versions"),
            await api.get(f"/api/docs/versions/{version['id']}"),
            await api.post(f"{one}/render", {}),
            await api.get(f"{one}/variables"),
        ):
            assert response.status == status
        assert (await api.get("/api/vault/status")).status == 200
    reader = node.with_permissions("docs.read", "tasks.operate")
    password = {"password": "x" * 12}
    for response in (
        await reader.post("/api/docs", TEXT),
        await reader.put(one, {"name": "x"}),
        await reader.delete(one),
        await reader.post(f"{one}/restore/{version['id']}"),
        await reader.post("/api/vault/unlock", password),
        await reader.post("/api/vault/lock"),
        await node.with_permissions("docs.manage").post("/api/vault/password", password),
        await node.with_permissions("docs.manage").put(
            "/api/vault/password", {"old_password": "x", "new_password": "x" * 12}
        ),
    ):
        assert_error(response, 403, "Insufficient permissions")
    assert (await node.with_permissions("docs.manage").put(one, {"name": "x"})).status == 200
    assert (await node.api.with_token(None).get(one)).status == 401
