"""`netautod audit verify` and `netautod audit export`, as processes on a database of their own."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from netautod.activity.audit.documents import COLLECTION
from netautod.activity.audit.service import AuditLog
from netautod.activity.audit.store import AuditStore
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import Caller
from netautod.store.client import Database
from tests.activity.audit.chains import caller_of, record
from tests.support.programs.service import Finished, run

pytestmark = pytest.mark.slow

Command = Callable[..., Awaitable[Finished]]


@pytest.fixture
async def audit(mongo_uri: str, indexed: Database, tmp_path: Path) -> Command:
    """`done = await audit("verify")`, on the database of the test, with an installation."""
    place = ("--data-dir", str(tmp_path), "--mongodb-uri", mongo_uri)
    variables = {"NETAUTOD_MONGODB_DATABASE": indexed.name}
    first, given = ("user", "add", "first", "--role", "viewer"), "Quiet-harbour-91-violin"
    made = await run(*first, *place, variables=variables, given=given)
    assert made.code == 0, made.err

    async def call(*words: str, given: str = "") -> Finished:
        return await run("audit", *words, *place, variables=variables, given=given)

    return call


@pytest.fixture
async def caller(indexed: Database) -> Caller:
    """The caller of five events, of an organization that only the events know; one name is hostile."""
    made, log = (
        caller_of(username="ev\u202eil\x1b[2J"),
        AuditLog(store=AuditStore(indexed), clock=SystemClock()),
    )
    await record(log, made, 5)
    return made


def lines_of(done: Finished, caller: Caller) -> list[Any]:
    lines = [json.loads(line) for line in done.out.splitlines()]
    return [line for line in lines if line["org_id"] == caller.org_id]


async def test_a_whole_chain_verifies_until_an_event_is_changed(
    audit: Command, indexed: Database, caller: Caller
) -> None:
    done = await audit("verify")
    assert done.code == 0, done.err
    assert f"{caller.org_id}: whole; 5 events; newest 5:" in done.out
    assert "default: whole; " in done.out  # the first start has made it
    await indexed.collection(COLLECTION).update({"resource_id": "d2"}, {"$set": {"actor_name": "eve"}})
    done = await audit("verify")
    assert done.code == 1
    assert f"{caller.org_id}: NOT whole, 1 faults; 5 events" in done.out
    assert "  event 3 (device.update) was changed\n" in done.out


async def test_an_export_is_verified_alone_and_by_anybody(audit: Command, caller: Caller) -> None:
    done = await audit("export")
    assert done.out.isascii()
    assert "\x1b" not in done.out
    lines = lines_of(done, caller)
    assert [line["seq"] for line in lines] == [1, 2, 3, 4, 5]
    for before, line in pairwise(lines):
        assert line["prev"] == before["hash"]
    for line in lines:  # as the manual says that it is done
        claimed = line.pop("hash")
        written = json.dumps(line, sort_keys=True, separators=(",", ":"))
        assert hashlib.sha256(written.encode()).hexdigest() == claimed
    checked = await audit("verify", "--file", "-", given=done.out)
    assert (checked.code, f"{caller.org_id}: whole; 5 events" in checked.out) == (0, True)
    cut = "\n".join(line for line in done.out.splitlines() if '"d3"' not in line)
    checked = await audit("verify", "--file", "-", given=cut + "\nno json\n")
    assert checked.code == 1
    assert "  event 4 is missing\n" in checked.out
    assert "is no event" in checked.out


async def test_an_export_is_of_a_time(audit: Command, indexed: Database, caller: Caller) -> None:
    log = AuditLog(store=AuditStore(indexed), clock=SystemClock())
    moment = SystemClock().now().isoformat()
    await record(log, caller, 2, first=5)
    since = lines_of(await audit("export", "--since", moment), caller)
    assert [line["seq"] for line in since] == [6, 7]
    until = lines_of(await audit("export", "--until", moment), caller)
    assert [line["seq"] for line in until] == [1, 2, 3, 4, 5]
    assert lines_of(await audit("export", "--organization", "default"), caller) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(("export", "--since", "yesterday"), "Not an ISO 8601", id="a bad time"),
        pytest.param(("verify", "--expect", "17"), "NUMBER:HASH", id="half an expectation"),
        pytest.param(("verify", "--file", "/none"), "cannot be read", id="no such file"),
    ],
)
async def test_a_wrong_call_is_told(audit: Command, words: tuple[str, ...], told: str) -> None:
    done = await audit(*words)
    assert done.code == 2
    assert told in done.err


async def test_what_was_noted_outside_is_held_against_the_chain(audit: Command, caller: Caller) -> None:
    shown = next(line for line in (await audit("verify")).out.splitlines() if line.startswith("default"))
    noted = shown.rpartition(" ")[2]
    assert (await audit("verify", "--expect", noted)).code == 0
    other = f"{noted.partition(':')[0]}:{'0' * 64}"
    done = await audit("verify", "--expect", other)
    assert (done.code, "is another than the expected one" in done.out) == (1, True)
