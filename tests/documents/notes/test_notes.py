"""Notes and their vault: what is encrypted, what a lock stops, and that it does so on every node."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from netautod.assembly.identity import build_lockout
from netautod.core.errors import Conflict, Unauthenticated
from netautod.documents.notes import store as notes_store
from netautod.documents.version_store import VersionStore
from netautod.maintenance.deletion.notes import NotesReset
from netautod.secrets.vault.rewrapping import rewrap
from netautod.secrets.vault.vault import Vault
from tests.documents.library import ABSENT_ID, NOTE, PASSPHRASE, TEMPLATE, TEXT, Library, Node
from tests.support.client import Response, assert_error
from tests.support.clock import MovableClock

LOCKED = b'{"error":"Vault is locked"}'
OTHER = "another long passphrase"
SECRET = "the core router's secret"


async def set_password(node: Node, password: str = PASSPHRASE) -> None:
    assert (await node.api.post("/api/vault/password", {"password": password})).status == 204


async def unlock(node: Node, password: str = PASSPHRASE) -> Response:
    return await node.api.post("/api/vault/unlock", {"password": password})


async def lock(node: Node) -> None:
    assert (await node.api.post("/api/vault/lock")).status == 204


async def status(node: Node) -> tuple[bool, bool]:
    answer = (await node.api.get("/api/vault/status")).json
    return answer["unlocked"], answer["has_master_password"]


async def test_notes_work_at_once_and_nothing_of_them_is_stored_in_clear(
    library: Library, node: Node
) -> None:
    assert await status(node) == (True, False)
    made = await node.create(NOTE, content=SECRET)
    assert (made["encrypted"], made["locked"], made["content"]) == (True, False, SECRET)
    await node.put(made, content=f"{SECRET} 2")
    await node.put(made, name="renamed")
    (_, oldest) = await node.versions(made)
    assert (await node.restore(made, oldest)).json["content"] == SECRET
    assert await node.contents(made) == [f"{SECRET} 2", f"{SECRET} 2", SECRET]
    await set_password(node)
    assert await status(node) == (True, True)
    assert (await node.get(made))["content"] == SECRET
    dump = await library.dump()
    assert b"secret" not in dump
    assert PASSPHRASE.encode() not in dump
    assert b"renamed" in dump


async def everything_that_needs_the_key(node: Node, note: Any, version: Any, plain: Any) -> list[Response]:
    one = f"/api/docs/{note['id']}"
    return [
        await node.api.post("/api/docs", NOTE),
        await node.api.put(one, {"content": "x"}),
        await node.api.put(one, {"name": "x"}),
        await node.api.put(one, {"category": "outputs"}),
        await node.api.put(f"/api/docs/{plain['id']}", {"category": "notes"}),
        await node.version(version),
        await node.restore(note, version),
        await node.api.post(f"{one}/render", {}),
    ]


async def test_a_locked_vault_stops_what_needs_the_key_and_leaves_no_trace(
    library: Library, node: Node
) -> None:
    note = await node.create({**NOTE, "content_type": "jinja"}, content=SECRET)
    await node.put(note, content=f"{SECRET} 2")
    (version,) = await node.versions(note)
    plain = await node.create()
    await set_password(node)
    await lock(node)
    assert await status(node) == (False, True)
    before, events = await library.dump(), len(await library.events())
    for response in await everything_that_needs_the_key(node, note, version, plain):
        assert (response.status, response.content) == (403, LOCKED)
    assert await library.dump() == before
    assert len(await library.events()) == events
    read = await node.get(note)
    assert (read["content"], read["encrypted"], read["locked"]) == ("", True, True)
    listed = (await node.api.get("/api/docs")).json
    assert {(item["category"], item["content"], item["locked"]) for item in listed} == {
        ("notes", "", True),
        ("outputs", "first", False),
    }
    bare = (await node.api.get("/api/docs?content=false&category=notes")).json
    assert [item["locked"] for item in bare] == [True]
    assert await node.versions(note) == [version]
    assert (await node.put(plain, content="second"))["content"] == "second"
    assert (await unlock(node)).status == 204
    assert (await node.get(note))["content"] == f"{SECRET} 2"
    assert (await node.version(version)).json["content"] == SECRET
    await lock(node)
    assert (await node.api.delete(f"/api/docs/{note['id']}")).status == 204
    assert await library.versions_of(note) == 0


async def test_the_key_is_gone_from_the_database_while_it_is_locked(library: Library, node: Node) -> None:
    await node.create(NOTE)
    await set_password(node)
    vaults = library.database.collection(notes_store.COLLECTION)
    (unlocked,) = await vaults.find({})
    assert unlocked["open"]
    await lock(node)
    (locked,) = await vaults.find({})
    assert "open" not in locked


async def test_lock_and_unlock_reach_every_node_and_outlast_a_restart(library: Library) -> None:
    first = await library.node()
    second = await library.node(org_id=first.org_id)
    elsewhere = await library.node()
    note = await first.create(NOTE, content=SECRET)
    await set_password(first)
    await lock(second)
    assert (await first.get(note))["locked"]
    restarted = await library.node(org_id=first.org_id)
    assert await status(restarted) == (False, True)
    assert (await unlock(restarted)).status == 204
    for node in (first, second, restarted):
        assert (await node.get(note))["content"] == SECRET
    assert await status(elsewhere) == (True, False)


async def test_a_node_that_knew_the_document_before_it_became_a_note(library: Library) -> None:
    first = await library.node()
    second = await library.node(org_id=first.org_id)
    made = await first.create(content=SECRET)
    await first.put(made, content=f"{SECRET} 2")
    await second.put(made, category="notes")
    await set_password(second)
    await lock(second)
    before = await library.dump()
    refused = await first.api.put(f"/api/docs/{made['id']}", {"content": "in clear"})
    assert (refused.status, refused.content) == (403, LOCKED)
    assert await library.dump() == before
    assert (await unlock(second)).status == 204
    assert (await second.put(made, category="mops"))["content"] == f"{SECRET} 2"
    await lock(second)
    assert (await first.put(made, content="in clear"))["content"] == "in clear"


async def test_the_vault_locks_itself(library: Library) -> None:
    clock = MovableClock()
    node = await library.node(clock=clock, auto_lock=timedelta(minutes=15))
    note = await node.create(NOTE)
    clock.move(3600)
    assert await status(node) == (True, False)
    await set_password(node)
    for begin in (lambda: asyncio.sleep(0), lambda: unlock(node)):
        await begin()
        clock.move(14 * 60)
        assert await status(node) == (True, True)
        clock.move(61)
        assert await status(node) == (False, True)
        assert (await node.get(note))["locked"]
    vaults = library.database.collection(notes_store.COLLECTION)
    assert await vaults.count({"open": {"$exists": True}}) == 1
    await node.upkeep.run()
    assert await vaults.count({"open": {"$exists": True}}) == 0


async def test_a_new_password_only_wraps_the_key_anew(library: Library, node: Node) -> None:
    note = await node.create(NOTE, content=SECRET)
    await set_password(node)
    documents = await library.database.collection("documents").find({})
    change = {"old_password": PASSPHRASE, "new_password": OTHER}
    await lock(node)
    assert (await node.api.put("/api/vault/password", change)).status == 204
    assert await status(node) == (False, True)
    assert await library.database.collection("documents").find({}) == documents
    assert_error(await unlock(node), 401, "Wrong vault password")
    assert (await unlock(node, OTHER)).status == 204
    assert (await node.get(note))["content"] == SECRET
    assert_error(await node.api.put("/api/vault/password", change), 401, "Wrong vault password")


@pytest.mark.parametrize(
    ("method", "path", "body", "code", "text"),
    [
        pytest.param("POST", "password", {"password": "x" * 11}, 400, "password: at least 12", id="short"),
        pytest.param("POST", "password", {}, 400, "password: Missing", id="no password"),
        pytest.param("POST", "password", {"password": 5}, 400, "password: Not a valid", id="a number"),
        pytest.param("POST", "unlock", {"password": {"$ne": 1}}, 400, "password", id="operator object"),
        pytest.param("POST", "unlock", {"password": "x" * 2000}, 400, "password", id="2000 characters"),
        pytest.param("POST", "unlock", {"password": PASSPHRASE}, 409, "No vault password", id="unlock"),
        pytest.param("POST", "lock", None, 409, "No vault password is set", id="lock"),
        pytest.param(
            "PUT",
            "password",
            {"old_password": PASSPHRASE, "new_password": OTHER},
            409,
            "No vault password is set",
            id="change",
        ),
        pytest.param(
            "PUT",
            "password",
            {"old_password": PASSPHRASE, "new_password": "short"},
            400,
            "new_password: at least 12",
            id="change to a short one",
        ),
    ],
)
async def test_what_a_vault_without_a_password_refuses(
    node: Node, method: str, path: str, body: Any, code: int, text: str
) -> None:
    assert_error(await node.api.request(method, f"/api/vault/{path}", body), code, text)
    assert await status(node) == (True, False)


async def test_of_two_first_passwords_one_is_set(node: Node) -> None:
    answers = await asyncio.gather(
        *(node.api.post("/api/vault/password", {"password": word}) for word in (PASSPHRASE, OTHER))
    )
    assert sorted(answer.status for answer in answers) == [204, 409]
    await lock(node)
    right, wrong = (PASSPHRASE, OTHER) if answers[0].status == 204 else (OTHER, PASSPHRASE)
    assert (await unlock(node, wrong)).status == 401
    assert (await unlock(node, right)).status == 204
    assert_error(await node.api.post("/api/vault/password", {"password": OTHER}), 409, "set already")


async def test_first_notes_at_once_share_one_key(library: Library) -> None:
    first = await library.node()
    second = await library.node(org_id=first.org_id)
    notes = await asyncio.gather(*((first, second)[n % 2].create(NOTE, content=str(n)) for n in range(20)))
    assert [(await first.get(note))["content"] for note in notes] == [str(n) for n in range(20)]


TOO_MANY = "Too many failed attempts. Please try again later."


def change(node: Node, password: str) -> Any:
    return node.api.put("/api/vault/password", {"old_password": password, "new_password": PASSPHRASE})


@pytest.mark.parametrize("guess", [pytest.param(unlock, id="unlock"), pytest.param(change, id="change")])
async def test_ten_wrong_passphrases_lock_an_address_out_of_these_notes_alone(
    library: Library, guess: Any
) -> None:
    clock = MovableClock()
    node, other = await library.node(clock=clock), await library.node(clock=clock)
    for one in (node, other):
        await set_password(one)
        await lock(one)
    for _ in range(10):
        assert_error(await guess(node, OTHER), 401, "Wrong vault password")
    for word in (OTHER, PASSPHRASE):
        refused = await guess(node, word)
        assert_error(refused, 429, TOO_MANY)
        assert refused.json["retry_after_secs"] == int(refused.headers["Retry-After"]) == 900
    assert (await status(node), node.slept) == ((False, True), [])
    assert (await unlock(other)).status == 204
    await build_lockout(node.installation).admit("127.0.0.1", "admin")  # no login is counted
    clock.move(900)
    assert (await guess(node, PASSPHRASE)).status == 204
    actions = [action for action, _ in await library.events()]
    assert (actions.count("vault.wrong_password"), actions.count("vault.lockout")) == (10, 1)


async def test_addresses_that_never_opened_the_notes_slow_each_other_down(library: Library) -> None:
    node = await library.node(clock=MovableClock())
    await set_password(node)

    async def opened(address: str, word: str = OTHER) -> bool:
        with suppress(Unauthenticated):
            await node.notes.unlock(replace(node.caller, ip_address=address), word)
            return True
        return False

    assert await opened("192.0.2.1", PASSPHRASE)
    for number in range(12):
        assert not await opened(f"198.51.100.{number}")
    assert node.slept == [0, 1]
    assert await opened("192.0.2.1", PASSPHRASE)
    assert not await opened("192.0.2.1")
    assert node.slept == [0, 1]
    assert await opened("203.0.113.9", PASSPHRASE)
    assert node.slept == [0, 1, 2]


async def test_parallel_guesses_are_answered_ten_times(library: Library) -> None:
    node = await library.node(clock=MovableClock())
    await set_password(node)
    answers = await asyncio.gather(*(unlock(node, OTHER) for _ in range(20)))
    assert sorted(answer.status for answer in answers) == [401] * 10 + [429] * 10


@pytest.mark.parametrize("fields", [pytest.param(TEXT, id="text"), pytest.param(TEMPLATE, id="template")])
async def test_a_document_that_becomes_a_note_takes_its_versions_along(
    library: Library, node: Node, fields: dict[str, Any]
) -> None:
    made = await node.create(fields, content="secret 0")
    for number in range(1, 130):
        await node.documents.update(node.caller, made["id"], {"content": f"secret {number}"})
    assert b"secret" in await library.dump()
    changed = await node.put(made, category="notes")
    assert (changed["encrypted"], changed["content"]) == (True, "secret 129")
    assert b"secret" not in await library.dump()
    assert await node.contents(made) == [f"secret {number}" for number in range(129, -1, -1)]
    await set_password(node)
    back = await node.put(made, category="mops", content="secret 130")
    assert (back["encrypted"], back["content"]) == (False, "secret 130")
    await lock(node)
    assert (await node.contents(made))[:2] == ["secret 129", "secret 129"]
    assert (await node.get(made))["content"] == "secret 130"
    assert await library.database.collection("documents").count({"resealing": {"$exists": True}}) == 0


async def test_opposite_changes_of_category_at_once_agree_in_the_end(library: Library) -> None:
    first = await library.node()
    second = await library.node(org_id=first.org_id)
    made = await first.create(content="secret 0")
    for number in range(1, 30):
        await first.put(made, content=f"secret {number}")
    await asyncio.gather(
        *(node.put(made, category=category) for node in (first, second) for category in ("notes", "mops") * 2)
    )
    live = await first.get(made)
    rows = await library.database.collection("document_versions").find({})
    assert {row["sealed"] is not None for row in rows} == {live["encrypted"]}
    assert (await first.put(made, category="notes"))["encrypted"]
    assert b"secret" not in await library.dump()


async def test_versions_written_after_an_opposite_change_has_ended_are_brought_back(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await library.node()
    second = await library.node(org_id=first.org_id)
    made = await first.create(content="secret 0")
    await first.put(made, content="secret 1")
    replace_contents, opposite = VersionStore.replace_contents, [second]

    async def late(*args: Any) -> None:
        if opposite:
            await opposite.pop().put(made, category="mops")
        await replace_contents(*args)

    monkeypatch.setattr(VersionStore, "replace_contents", late)
    await first.put(made, category="notes")
    assert opposite == []
    assert not (await first.get(made))["encrypted"]
    rows = await library.database.collection("document_versions").find({})
    assert {row["sealed"] for row in rows} == {None}
    assert await library.database.collection("documents").count({"resealing": {"$exists": True}}) == 0


async def test_a_note_opens_only_where_it_belongs(library: Library, node: Node) -> None:
    note = await node.create(NOTE, content=SECRET)
    other = await node.create(NOTE, content="mine")
    documents = library.database.collection("documents")
    stolen = await documents.find_one({"_id": note["id"]})
    assert stolen is not None
    await documents.update({"_id": other["id"]}, {"$set": {"sealed": stolen["sealed"]}})
    assert_error(await node.api.get(f"/api/docs/{other['id']}"), 500)


async def test_notes_outlast_a_rotation_of_the_organization_key(library: Library, node: Node) -> None:
    note = await node.create(NOTE, content=SECRET)
    vault = await Vault.open(library.database, data_dir=library.data_dir, environ={})
    await vault.rotate_organization_key(node.org_id)
    result = await rewrap(vault, library.database, notes_store.SEALED_FIELDS)
    assert (result.rewrapped, result.failed) == (1, 0)
    restarted = await library.node(org_id=node.org_id)
    assert (await restarted.get(note))["content"] == SECRET


async def test_vault_events_are_audited_without_secrets(library: Library, node: Node) -> None:
    await set_password(node)
    await lock(node)
    await unlock(node)
    await node.api.put("/api/vault/password", {"old_password": PASSPHRASE, "new_password": OTHER})
    assert [action for action, _ in await library.events()] == [
        "vault.password_set",
        "vault.lock",
        "vault.unlock",
        "vault.password_change",
    ]
    assert_error(await node.api.get(f"/api/docs/{ABSENT_ID}"), 404)


@pytest.fixture
def reset(node: Node) -> NotesReset:
    made = node.installation
    return NotesReset(stores=made.stores, clock=made.clock, audit=made.audit)


async def test_notes_whose_passphrase_is_lost_are_deleted_and_new_ones_work(
    node: Node, reset: NotesReset
) -> None:
    kept, note = await node.create(TEXT), await node.create(NOTE, content=SECRET)
    await node.put(note, content=OTHER)
    await set_password(node)
    await lock(node)
    assert await reset.count(node.org_id) == await reset.run(node.org_id) == 1
    assert await status(node) == (True, False)
    assert (await node.api.get(f"/api/docs/{note['id']}")).status == 404
    assert await node.installation.database.collection("document_versions").count({}) == 0
    assert (await node.get(kept))["content"] == kept["content"]
    again = await node.create(NOTE, content=SECRET)
    assert (await node.get(again))["content"] == SECRET


async def test_a_reset_that_was_interrupted_goes_on(
    node: Node, reset: NotesReset, monkeypatch: pytest.MonkeyPatch
) -> None:
    await node.create(NOTE, content=SECRET)
    await set_password(node)

    async def die(org_id: str) -> bool:
        raise ConnectionError

    with monkeypatch.context() as patch, suppress(ConnectionError):
        patch.setattr(node.installation.stores.notes, "forget", die)
        await reset.run(node.org_id)
    assert await status(node) == (False, True)
    assert await reset.run(node.org_id) == 0
    assert await status(node) == (True, False)


async def test_notes_without_a_passphrase_are_not_reset(node: Node, reset: NotesReset) -> None:
    note = await node.create(NOTE, content=SECRET)
    with pytest.raises(Conflict, match="No vault password is set"):
        await reset.count(node.org_id)
    assert (await node.get(note))["content"] == SECRET
