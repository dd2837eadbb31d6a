"""Conditional requests on every route that has tags, over two nodes on one database."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from netautod.assembly.routes import ROUTES
from netautod.automation.tasks.store import TaskStore
from netautod.documents import service as docs
from netautod.documents.store import DocumentStore
from netautod.network.devices.store import DeviceStore
from netautod.store.client import Database
from tests.support.client import ApiClient, Response, assert_error
from tests.support.record_nodes import RESOURCES, RecordNode, Resource, two_nodes

Nodes = tuple[RecordNode, RecordNode]
STALE = '"AAAAAAAAAAAAAAAAAAAAAA"'
each_resource = pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: one.name)


@pytest.fixture(scope="module")
async def nodes(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Nodes]:
    async with two_nodes(module_database, tmp_path_factory.mktemp("nodes")) as made:
        yield made


@pytest.fixture
def apis(nodes: Nodes) -> tuple[ApiClient, ApiClient]:
    """Return the administrator of a new organization, at each node."""
    here, there = nodes
    api = here.served.client("*")[0]
    return api, ApiClient(base_url=there.served.base_url, description=api.description, token=api.token)


async def tag_at(api: ApiClient, path: str) -> str:
    response = await api.get(path)
    response.expect(200)
    tag: str = response.headers["ETag"]
    return tag


def test_the_routes_with_tags_are_those_of_the_decision() -> None:
    tagged = {
        (method, route.path)
        for route in ROUTES
        for method, operation in route.operations().items()
        if operation.etag and method != "POST"
    }
    singles = {
        "/api/tasks/schedules/:id",
        "/api/tasks/agent-schedules/:id",
        "/api/devices/:id",
        "/api/docs/:id",
    }
    lists = {"/api/tasks/schedules", "/api/tasks/agent-schedules", "/api/devices", "/api/docs"}
    lists |= {"/api/devices/with-backup-info", "/api/tasks/executions", "/api/tasks/schedules/:id/executions"}
    assert tagged == {
        *(("GET", path) for path in singles | lists),
        *((method, path) for path in singles for method in ("PUT", "DELETE")),
    }


@each_resource
async def test_a_record_has_one_strong_tag_at_all_nodes(
    apis: tuple[ApiClient, ApiClient], resource: Resource
) -> None:
    here, there = apis
    made = await here.post(resource.path, resource.body)
    path = f"{resource.path}/{made.expect(201)['id']}"
    tag = await tag_at(here, path)
    assert tag.startswith('"')
    assert made.headers["ETag"] == tag == await tag_at(there, path)
    head = await there.request("HEAD", path)
    assert (head.status, head.headers["ETag"], head.content) == (200, tag, b"")
    changed = await there.put(path, resource.change, headers={"If-Match": tag})
    assert changed.status == 200
    assert changed.headers["ETag"] == await tag_at(here, path) != tag
    other = await tag_at(here, await resource.made(here, name="another"))
    assert other not in (tag, changed.headers["ETag"])


@each_resource
@pytest.mark.parametrize("listed", [False, True], ids=["record", "list"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_what_a_client_has_already_is_not_sent_again(
    apis: tuple[ApiClient, ApiClient], resource: Resource, listed: bool, method: str
) -> None:
    here, there = apis
    record = await resource.made(here)
    path = resource.path if listed else record
    tag = await tag_at(here, path)
    for sent in (tag, f'"x", W/{tag.removeprefix("W/")}', "*"):
        unchanged = await there.request(method, path, headers={"If-None-Match": sent})
        assert (unchanged.status, unchanged.content) == (304, b"")
        assert unchanged.headers["ETag"] == tag
        assert "Content-Type" not in unchanged.headers
    fresh = await there.request(method, path, headers={"If-None-Match": STALE})
    assert (fresh.status, fresh.headers["ETag"]) == (200, tag)
    (await there.put(record, {"name": "changed"})).expect(200)
    changed = await here.request(method, path, headers={"If-None-Match": tag})
    assert changed.status == 200
    assert changed.headers["ETag"] != tag


@pytest.mark.parametrize("path", ["/api/tasks/executions", "/api/tasks/schedules/:id/executions"])
async def test_the_lists_of_executions_change_with_a_run(
    apis: tuple[ApiClient, ApiClient], path: str
) -> None:
    here, there = apis
    task = await RESOURCES[0].made(here)
    path = path.replace(":id", task.rpartition("/")[2])
    tag = await tag_at(here, path)
    assert (await there.get(path, headers={"If-None-Match": tag})).status == 304
    (await there.post(f"{task}/run")).expect(202)
    assert (await here.get(path, headers={"If-None-Match": tag})).status == 200


@each_resource
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize(
    ("tags", "status"),
    [
        pytest.param("{}", None, id="the tag"),
        pytest.param("*", None, id="any"),
        pytest.param('"x", {} , W/"y"', None, id="in a list"),
        pytest.param(STALE, 412, id="another one"),
        pytest.param("W/{}", 412, id="weak"),
        pytest.param("x", 400, id="no list"),
        pytest.param("", 400, id="empty"),
    ],
)
async def test_a_change_needs_a_tag_that_matches(
    apis: tuple[ApiClient, ApiClient], resource: Resource, method: str, tags: str, status: int | None
) -> None:
    here, there = apis
    path = await resource.made(here)
    tag = await tag_at(here, path)
    body = resource.change if method == "PUT" else None
    answer = await there.request(method, path, body, headers={"If-Match": tags.format(tag)})
    if status is None:
        assert answer.status == (200 if method == "PUT" else 204)
    else:
        assert_error(answer, status, "If-Match: ")
        assert await tag_at(here, path) == tag


@each_resource
async def test_a_change_that_wants_no_record_of_this_tag_is_refused(
    apis: tuple[ApiClient, ApiClient], resource: Resource
) -> None:
    path = await resource.made(apis[0])
    tag = await tag_at(apis[0], path)
    for sent in (tag, f"W/{tag}", "*"):
        assert_error(await apis[1].put(path, resource.change, headers={"If-None-Match": sent}), 412)
        assert_error(await apis[1].delete(path, headers={"If-None-Match": sent}), 412)
    (await apis[1].put(path, resource.change, headers={"If-None-Match": STALE})).expect(200)


@each_resource
async def test_what_is_not_there_is_404_whatever_the_condition(
    apis: tuple[ApiClient, ApiClient], resource: Resource
) -> None:
    path = f"{resource.path}/99999999-9999-4999-8999-999999999999"
    for tags in ("*", STALE):
        assert_error(await apis[0].put(path, resource.change, headers={"If-Match": tags}), 404)
        assert_error(await apis[0].delete(path, headers={"If-Match": tags}), 404)


@each_resource
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_of_twenty_changes_at_once_exactly_one_is_done(
    apis: tuple[ApiClient, ApiClient], resource: Resource, method: str
) -> None:
    path = await resource.made(apis[0])
    tag = await tag_at(apis[0], path)

    async def change(number: int) -> int:
        key = next(iter(resource.change))
        body = {key: f"{resource.change[key]} {number}"} if method == "PUT" else None
        answer = await apis[number % 2].request(method, path, body, headers={"If-Match": tag})
        return answer.status

    done = Counter(await asyncio.gather(*(change(number) for number in range(20))))
    lost = 412 if method == "PUT" else 404
    assert done[200 if method == "PUT" else 204] == 1
    assert done[412] + done[lost] * (lost != 412) == 19, done


WRITES: dict[str, tuple[type, str, str]] = {
    "schedule": (TaskStore, "change", "delete"),
    "agent schedule": (TaskStore, "change", "delete"),
    "device": (DeviceStore, "change", "bury"),
    "document": (DocumentStore, "swap", "mark_deleted"),
    "note": (DocumentStore, "swap", "mark_deleted"),
}


@each_resource
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_a_change_between_the_comparison_and_the_write_is_seen(
    apis: tuple[ApiClient, ApiClient],
    resource: Resource,
    method: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Make the other change when the tag has been compared, right before the write itself."""
    here, there = apis
    path = await resource.made(here)
    tag = await tag_at(here, path)
    store, change, delete = WRITES[resource.name]
    name = change if method == "PUT" else delete
    write: Callable[..., Awaitable[Any]] = getattr(store, name)
    others: list[Response] = []

    async def write_after_another(self: Any, *args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(store, name, write)
        others.append(await there.put(path, {"name": "of another user"}))
        return await write(self, *args, **kwargs)

    monkeypatch.setattr(store, name, write_after_another)
    body = resource.change if method == "PUT" else None
    assert_error(await here.request(method, path, body, headers={"If-Match": tag}), 412)
    assert [other.status for other in others] == [200]
    assert await tag_at(here, path) == others[0].headers["ETag"]


async def test_a_write_that_is_no_edit_changes_the_tag_too(
    nodes: Nodes, apis: tuple[ApiClient, ApiClient]
) -> None:
    """Change a record by what is no user: the scheduler, a login that pins a key."""
    here, _ = apis
    for resource, collection, written in (
        (RESOURCES[0], "tasks", {"last_run_at": await nodes[0].database.now()}),
        (RESOURCES[2], "devices", {"host_key_fingerprint": "SHA256:abc"}),
    ):
        path = await resource.made(here)
        tag = await tag_at(here, path)
        rows = nodes[0].database.collection(collection)
        assert await rows.update({"_id": path.rpartition("/")[2]}, {"$set": written})
        assert await tag_at(here, path) != tag
        assert_error(await here.put(path, resource.change, headers={"If-Match": tag}), 412)


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize(
    ("resource", "collection", "written"),
    [
        pytest.param(RESOURCES[0], "tasks", {"last_run_at": datetime(2026, 1, 1, tzinfo=UTC)}, id="a run"),
        pytest.param(RESOURCES[2], "devices", {"host_key_fingerprint": "SHA256:abc"}, id="a pinned key"),
    ],
)
async def test_such_a_write_is_seen_between_the_comparison_and_the_write(
    nodes: Nodes,
    apis: tuple[ApiClient, ApiClient],
    resource: Resource,
    collection: str,
    written: dict[str, Any],
    method: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = await resource.made(apis[0])
    tag = await tag_at(apis[0], path)
    store, change, delete = WRITES[resource.name]
    name = change if method == "PUT" else delete
    write: Callable[..., Awaitable[Any]] = getattr(store, name)

    async def write_after_another(self: Any, *args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(store, name, write)
        rows = nodes[0].database.collection(collection)
        assert await rows.update({"_id": path.rpartition("/")[2]}, {"$set": written})
        return await write(self, *args, **kwargs)

    monkeypatch.setattr(store, name, write_after_another)
    body = resource.change if method == "PUT" else None
    assert_error(await apis[0].request(method, path, body, headers={"If-Match": tag}), 412)
    assert_error(await apis[1].request(method, path, body, headers={"If-Match": tag}), 412)


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize("path", ["/api/sites/99999999-9999-4999-8999-999999999999"])
async def test_a_route_without_tags_does_not_pretend_to_compare(
    apis: tuple[ApiClient, ApiClient], method: str, path: str
) -> None:
    body = {"name": "x"} if method == "PUT" else None
    assert_error(
        await apis[0].request(method, path, body, headers={"If-Match": STALE}), 412, "no entity tags"
    )
    assert_error(await apis[0].request(method, path, body, headers={"If-Match": "x"}), 400, "If-Match: ")
    assert_error(await apis[0].request(method, path, body, headers={"If-Match": "*"}), 404)


async def test_the_lock_of_the_vault_changes_what_a_note_is(apis: tuple[ApiClient, ApiClient]) -> None:
    here, there = apis
    note = await RESOURCES[4].made(here)
    assert (await here.post("/api/vault/password", {"password": "a long enough passphrase"})).status == 204
    open_tags = [await tag_at(here, path) for path in (note, "/api/docs")]
    assert (await there.post("/api/vault/lock")).status == 204
    locked_tags = [await tag_at(here, path) for path in (note, "/api/docs")]
    assert not set(open_tags) & set(locked_tags)
    assert_error(await there.delete(note, headers={"If-Match": open_tags[0]}), 412)
    assert (await there.delete(note, headers={"If-Match": locked_tags[0]})).status == 204


async def test_a_long_list_of_documents_is_not_read_to_say_that_nothing_changed(
    apis: tuple[ApiClient, ApiClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = apis
    for number in range(3):
        await RESOURCES[3].made(here, name=f"plan {number}")
    # What is read at once is read to find out how many there are.
    monkeypatch.setattr(docs, "READ_AT_ONCE", 2)
    tag = await tag_at(here, "/api/docs")
    assert tag.startswith('W/"')

    async def never(*args: object) -> Any:
        raise AssertionError("a document was read")

    for name in ("some", "with_contents", "get"):
        monkeypatch.setattr(DocumentStore, name, never)
    assert (await there.get("/api/docs", headers={"If-None-Match": tag})).status == 304
    assert (await there.get("/api/docs")).status == 500


async def test_a_large_record_has_the_tag_of_all_its_parts(apis: tuple[ApiClient, ApiClient]) -> None:
    here, there = apis
    path = await RESOURCES[0].made(here, parameters={"x": ["y" * 1000] * 400})
    tag = await tag_at(here, path)
    assert (await there.get(path, headers={"If-None-Match": tag})).status == 304
    (
        await there.put(path, {"parameters": {"x": ["y" * 1000] * 399 + ["z"]}}, headers={"If-Match": tag})
    ).expect()
    assert await tag_at(here, path) != tag


async def test_pages_of_other_origins_may_send_and_see_the_headers(apis: tuple[ApiClient, ApiClient]) -> None:
    origin = {"Origin": "https://console.example"}
    preflight = await apis[0].request("OPTIONS", "/api/devices", headers=origin)
    allowed = preflight.headers["Access-Control-Allow-Headers"].split(", ")
    assert {"If-Match", "If-None-Match", "Idempotency-Key"} <= set(allowed)
    shown = (await apis[0].get("/api/devices", headers=origin)).headers["Access-Control-Expose-Headers"]
    assert {"ETag", "Retry-After", "Idempotent-Replayed"} <= set(shown.split(", "))
