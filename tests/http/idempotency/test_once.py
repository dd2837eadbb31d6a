"""One key, one request: which answer is replayed, to which caller, and what counts as another request."""

import asyncio
import json
from collections import Counter
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from netautod.core.errors import Conflict, InvalidInput
from netautod.core.identity.caller import UsedToken
from netautod.secrets.vault.envelope import SealedField
from netautod.secrets.vault.rewrapping import rewrap
from netautod.store.client import Collection
from tests.http.idempotency.conftest import PAST, Keyed, Nodes, Workshop
from tests.support.client import ApiClient, Response, assert_error
from tests.support.record_nodes import RESOURCES, Resource

REPLAYED = "Idempotent-Replayed"
MIB = 1024 * 1024


def key() -> dict[str, str]:
    return {"Idempotency-Key": f"test-{uuid4()}"}


def is_replay_of(again: Response, first: Response) -> bool:
    same = (again.status, again.content) == (first.status, first.content)
    heads = [
        {name: one.headers.get(name) for name in ("ETag", "Location", "Content-Type")}
        for one in (again, first)
    ]
    return (
        same and heads[0] == heads[1] and again.headers[REPLAYED] == "true" and REPLAYED not in first.headers
    )


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: one.name)
async def test_what_is_created_twice_under_a_key_is_there_once(
    apis: tuple[ApiClient, ApiClient], resource: Resource
) -> None:
    here, there = apis
    sent = key()
    first = await here.post(resource.path, resource.body, headers=sent)
    first.expect(201)
    for api in (there, here):
        again = await api.post(resource.path, resource.body, headers=sent)
        assert is_replay_of(again, first)
        assert again.headers["X-Request-Id"] != first.headers["X-Request-Id"]
    listed = (await here.get(resource.path)).expect()
    assert len(listed if isinstance(listed, list) else next(iter(listed.values()))) == 1
    assert first.headers["ETag"] == (await here.get(f"{resource.path}/{first.json['id']}")).headers["ETag"]


async def test_another_status_of_success_is_kept_as_it_was(workshop: Workshop) -> None:
    sent = key()
    workshop.work.go.set()
    first = await workshop.api.post("/started", headers=sent)
    first.expect(202)
    assert is_replay_of(await workshop.other.post("/started", headers=sent), first)


@pytest.mark.parametrize("resource", RESOURCES[:2], ids=lambda one: one.name)
async def test_of_twenty_runs_at_once_at_two_nodes_exactly_one_is_done(
    apis: tuple[ApiClient, ApiClient], resource: Resource
) -> None:
    task, sent = await resource.made(apis[0]), key()
    answers = await asyncio.gather(
        *(apis[number % 2].post(f"{task}/run", headers=sent) for number in range(20))
    )
    done = Counter((one.status, one.headers.get(REPLAYED)) for one in answers)
    assert done[202, None] == 1
    assert done[202, None] + done[202, "true"] + done[409, None] == 20, done
    assert len({one.content for one in answers if one.status == 202}) == 1
    assert (await apis[0].get("/api/tasks/executions")).expect()["total"] == 1
    assert (await apis[1].post(f"{task}/run", headers=sent)).headers[REPLAYED] == "true"
    (await apis[1].post(f"{task}/run", headers=key())).expect(202)
    assert (await apis[0].get("/api/tasks/executions")).expect()["total"] == 2


async def test_while_the_first_is_in_work_the_second_is_refused(keyed: Keyed) -> None:
    shop, sent = await keyed.workshop(), key()
    first = asyncio.create_task(shop.api.post("/again", headers=sent))
    await shop.work.started.wait()
    for api in (shop.api, shop.other):
        assert_error(await api.post("/again", headers=sent), 409, "still in work")
    shop.work.go.set()
    answered = await first
    assert is_replay_of(await shop.other.post("/again", headers=sent), answered)
    assert shop.work.starts == 1


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"body": {"note": {"a": 2}}}, id="body"),
        pytest.param({"path": "/again?number=2"}, id="query"),
        pytest.param({"raw": b'{"note": {"a":1}}'}, id="a blank in the body"),
    ],
)
async def test_another_request_under_the_same_key_is_a_conflict(keyed: Keyed, other: dict[str, Any]) -> None:
    """Send it also while the first is in work, whose answer is not given away."""
    shop, sent = await keyed.workshop(), key()
    raw = b'{"note":{"a":1}}'
    first = asyncio.create_task(shop.api.post("/again?number=1", raw=raw, headers=sent))
    await shop.work.started.wait()
    wanted = {"raw": raw, "path": "/again?number=1", **other}
    body, path = wanted.pop("body", None), wanted.pop("path")
    if body is not None:
        del wanted["raw"]
    assert_error(await shop.other.post(path, body, headers=sent, **wanted), 409, "another body or query")
    shop.work.go.set()
    (await first).expect(202)
    assert_error(await shop.other.post(path, body, headers=sent, **wanted), 409, "another body or query")
    assert shop.work.starts == 1


async def test_the_same_key_elsewhere_is_another_key(workshop: Workshop) -> None:
    sent, served = key(), workshop.served
    token = UsedToken(id=str(uuid4()), name="ci", expires_at=None)
    colleague, _ = served.client("work.do", org_id=workshop.org_id)
    stranger, caller = served.client("work.do", user_id=workshop.user_id)
    by_token = served.client("work.do", org_id=workshop.org_id, user_id=workshop.user_id)[0]
    assert by_token.token is not None
    served.callers[by_token.token] = replace(served.callers[by_token.token], token=token)
    requests = [(workshop.api, "/again"), (workshop.api, "/named/a"), (workshop.api, "/named/b")]
    requests += [(api, "/again") for api in (colleague, stranger, by_token)]
    for number, (api, path) in enumerate(requests, 1):
        answer = await api.post(path, headers=sent)
        assert REPLAYED not in answer.headers, path
        assert workshop.work.starts == number
    session = served.client("work.do", org_id=workshop.org_id, user_id=workshop.user_id)[0]
    assert (await session.post("/again", headers=sent)).headers[REPLAYED] == "true"
    assert caller.org_id != workshop.org_id


async def test_an_id_in_the_other_case_is_the_same_path(workshop: Workshop) -> None:
    sent, one = key(), "ABCDEFAB-2222-4333-8444-555555555555"
    first = await workshop.api.post(f"/named/{one}", headers=sent)
    assert is_replay_of(await workshop.other.post(f"/named/{one.lower()}", headers=sent), first)


@pytest.mark.parametrize(
    ("permissions", "status"),
    [
        pytest.param(("work.do", "credentials.manage"), 200, id="as then"),
        pytest.param(("*",), 200, id="more"),
        pytest.param(("work.do",), 403, id="less, though enough for the route"),
        pytest.param(("credentials.manage",), 403, id="not even enough for the route"),
    ],
)
async def test_who_has_lost_a_permission_does_not_see_the_answer_again(
    keyed: Keyed, permissions: tuple[str, ...], status: int
) -> None:
    shop, sent = await keyed.workshop(), key()
    shop.work.go.set()
    api, caller = shop.served.client("work.do", "credentials.manage")
    (await api.post("/never", headers=sent)).expect(200)
    assert api.token is not None
    shop.served.callers[api.token] = replace(caller, permissions=frozenset(permissions))
    again = await api.post("/never", headers=sent)
    assert again.status == status
    assert (REPLAYED in again.headers) == (status == 200)
    assert shop.work.starts == 1


@pytest.mark.parametrize("refusal", [InvalidInput("no"), Conflict("no")], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("path", ["/again", "/never"])
async def test_a_refusal_is_not_kept(
    workshop: Workshop, rows: Collection, path: str, refusal: Exception
) -> None:
    sent, kept = key(), await rows.count({})
    workshop.work.failure = refusal
    assert (await workshop.api.post(path, headers=sent)).status >= 400
    assert await rows.count({}) == kept
    done = await workshop.other.post(path, {"note": {}}, headers=sent)
    assert done.status < 300
    assert is_replay_of(await workshop.api.post(path, {"note": {}}, headers=sent), done)


async def test_a_body_that_is_refused_before_leaves_the_key_free(workshop: Workshop) -> None:
    sent = key()
    assert_error(await workshop.api.post("/again", {"nonsense": 1}, headers=sent), 400, "nonsense")
    assert_error(await workshop.api.post("/again", raw=b"{", headers=sent), 400)
    (await workshop.api.post("/again", {}, headers=sent)).expect(202)


@pytest.mark.parametrize("path", ["/nothing", "/listing", "/again", "/named/x"])
async def test_every_kind_of_answer_is_given_again(workshop: Workshop, path: str) -> None:
    sent = key()
    workshop.work.answer = {"ids": list(range(1200))}
    first = await workshop.api.post(path, headers=sent)
    again = await workshop.other.post(path, headers=sent)
    assert is_replay_of(again, first)
    assert first.status == {"/nothing": 204, "/again": 202}.get(path, 200)
    if path == "/again":
        assert first.headers["Location"].startswith("/work/")
    if path == "/listing":
        assert first.json["ids"] == list(range(1200))


async def test_an_answer_that_is_too_large_is_not_kept_and_not_done_again(workshop: Workshop) -> None:
    sent = key()
    workshop.work.answer = {"ids": ["x" * 1000] * 1100}
    first = await workshop.api.post("/again", headers=sent)
    assert len(first.expect(202)["ids"]) == 1100
    assert_error(await workshop.other.post("/again", headers=sent), 409, "answered with 202")
    assert workshop.work.starts == 1


async def test_a_form_may_be_written_anew(workshop: Workshop) -> None:
    """Repeat with another boundary, as clients do for each request."""
    sent, answers = key(), list[Response]()
    for boundary, content in (("aaa", "1,2"), ("bbb", "1,2"), ("ccc", "1,3")):
        part = f'Content-Disposition: form-data; name="file"; filename="f"\r\n\r\n{content}'
        form = f"--{boundary}\r\n{part}\r\n--{boundary}--\r\n"
        head = {**sent, "Content-Type": f"multipart/form-data; boundary={boundary}"}
        answers.append(await workshop.api.post("/listing", raw=form.encode(), headers=head))
    assert is_replay_of(answers[1], answers[0])
    assert_error(answers[2], 409, "another body")
    other_kind = {**sent, "Content-Type": "text/csv"}
    assert_error(await workshop.api.post("/listing", raw=form.encode(), headers=other_kind), 409)


async def test_a_large_body_is_compared_to_its_last_byte(workshop: Workshop) -> None:
    sent, body = key(), b"x" * (5 * MIB)
    first = await workshop.api.post("/listing", raw=body, headers=sent)
    assert first.expect()["size"] == 5 * MIB
    assert is_replay_of(await workshop.other.post("/listing", raw=body, headers=sent), first)
    assert_error(await workshop.other.post("/listing", raw=body[:-1] + b"y", headers=sent), 409)
    assert_error(await workshop.other.post("/listing", raw=body[:-1], headers=sent), 409)
    assert workshop.work.starts == 1


async def test_after_a_day_the_key_is_new(
    nodes: Nodes, apis: tuple[ApiClient, ApiClient], rows: Collection
) -> None:
    """Use the key again, whether or not the server has removed it by then."""
    sent, resource = key(), RESOURCES[3]
    first = (await apis[0].post(resource.path, resource.body, headers=sent)).expect(201)
    newest = (await rows.find({}, sort=[("expires_at", -1)], limit=1))[0]
    left = newest["expires_at"] - await nodes[0].database.now()
    assert 23.5 * 3600 < left.total_seconds() <= 24 * 3600
    await rows.update_many({}, [{"$set": {"expires_at": PAST}}])
    body = {**resource.body, "name": "of the next day"}
    second = await apis[1].post(resource.path, body, headers=sent)
    assert REPLAYED not in second.headers
    assert second.expect(201)["id"] != first["id"]
    assert is_replay_of(await apis[0].post(resource.path, body, headers=sent), second)


async def test_a_route_without_keys_ignores_the_header(workshop: Workshop) -> None:
    for text in ("same", "same", "", "x" * 300):
        answer = await workshop.api.post("/unkeyed", headers={"Idempotency-Key": text})
        assert answer.status == 200
        assert REPLAYED not in answer.headers
    assert workshop.work.starts == 4


async def test_a_replay_leaves_no_second_event(nodes: Nodes, apis: tuple[ApiClient, ApiClient]) -> None:
    sent, resource = key(), RESOURCES[2]
    made = (await apis[0].post(resource.path, resource.body, headers=sent)).expect(201)
    (await apis[1].post(resource.path, resource.body, headers=sent)).expect(201)
    events = nodes[0].database.collection("audit_events")
    assert await events.count({"resource_id": made["id"], "action": "device.create"}) == 1


async def test_what_is_kept_is_sealed_and_is_read_after_a_rotation(
    nodes: Nodes, apis: tuple[ApiClient, ApiClient], rows: Collection
) -> None:
    node, sent, resource = nodes[0], key(), RESOURCES[2]
    made = await apis[0].post(resource.path, {**resource.body, "description": "canary-7f3a"}, headers=sent)
    org_id = made.expect(201)["org_id"]
    row = await rows.find_one({"org_id": org_id})
    assert row is not None
    assert "canary" not in repr(row)
    assert sent["Idempotency-Key"] not in repr(row)
    before = row["answer"]["key_version"]
    await node.installation.vault.rotate_organization_key(org_id)
    field = SealedField(collection="idempotency_keys", path="answer")
    assert (await rewrap(node.installation.vault, node.database, [field])).failed == 0
    row = await rows.find_one({"org_id": org_id})
    assert row is not None
    assert row["answer"]["key_version"] == before + 1
    body = {**resource.body, "description": "canary-7f3a"}
    assert is_replay_of(await apis[1].post(resource.path, body, headers=sent), made)


HOSTILE = {
    "empty": [b""],
    "blanks": [b"   "],
    "256 characters": [b"k" * 256],
    "60 KiB": [b"k" * 60_000],
    "a blank inside": [b"a b"],
    "a tab inside": [b"a\tb"],
    "UTF-8": ["schl\u00fcssel".encode()],
    "Latin-1": [b"\xe9"],
    "two of them": [b"a", b"b"],
    "twice the same": [b"a", b"a"],
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_bad_key_is_a_400_that_names_the_header(workshop: Workshop, name: str) -> None:
    status, body = await raw_post(workshop.api, HOSTILE[name])
    assert (status, body["error"].partition(":")[0]) == (400, "Idempotency-Key"), body
    assert workshop.work.starts == 0


@pytest.mark.parametrize("character", [b"\x00", b"\x01", b"\n x", b"\x1b", b"\x7f"])
async def test_a_control_character_is_no_request_at_all(workshop: Workshop, character: bytes) -> None:
    status, _ = await raw_post(workshop.api, [b"a" + character + b"b"])
    assert status == 400
    assert workshop.work.starts == 0


@pytest.mark.parametrize("text", [b"k", b"k" * 255, bytes(range(0x21, 0x7F)), b'"quoted"', b"$ne", b"a,b"])
async def test_every_visible_character_is_good(workshop: Workshop, text: bytes) -> None:
    status, _ = await raw_post(workshop.api, [text])
    assert status == 202
    again = await workshop.other.post("/again", headers={"Idempotency-Key": text.decode()})
    assert again.headers[REPLAYED] == "true"


async def test_a_key_without_a_token_needs_the_token_first(workshop: Workshop) -> None:
    answer = await workshop.api.with_token(None).post("/again", headers={"Idempotency-Key": "a b"})
    assert_error(answer, 401)


async def raw_post(api: ApiClient, keys: list[bytes]) -> tuple[int, Any]:
    """Send it as bytes: a client's library would refuse some of these."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(api.base_url.rpartition(":")[2]))
    lines = [b"POST /again HTTP/1.1", b"Host: x", f"Authorization: Bearer {api.token}".encode()]
    lines += [b"Idempotency-Key: " + one for one in keys] + [b"Content-Length: 0", b"Connection: close"]
    writer.write(b"\r\n".join([*lines, b"", b""]))
    received = await reader.read()
    writer.close()
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)
