"""The reads of executions: every field in every state, the log by numbers, results of devices."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from netautod.automation.executions.logs.store import ExecutionLogStore
from netautod.automation.executions.models import LogEntry
from netautod.automation.executions.records.result_store import DeviceResultStore
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.work.context import Work
from netautod.plugin_api import DeviceResult, ResultTotals
from netautod.store.client import Database
from tests.automation.tasks.conftest import AGENTS, MISSING, OPERATOR, SCHEDULES, Tasks, created, operator
from tests.support.client import ApiClient, assert_error

EXECUTIONS = "/api/tasks/executions"
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
STARTED, LATER = "2026-03-01T12:00:00.000Z", "2026-03-01T12:00:05.000Z"
USER = "99999999-1111-4222-8333-444444444444"
ATTEMPT = {"number": 1, "started_at": START, "node": "node-a"}
ENDED = {**ATTEMPT, "completed_at": START + timedelta(seconds=5), "outcome": "failed", "error_message": "no"}
SHOWN_ATTEMPT = {
    "number": 1,
    "started_at": STARTED,
    "completed_at": None,
    "outcome": None,
    "error_message": None,
    "node": "node-a",
}
SHOWN_END = {**SHOWN_ATTEMPT, "completed_at": LATER, "outcome": "failed", "error_message": "no"}
DECISION = {"decision": "rejected", "by": "ann", "comment": None, "at": START}
LIST_KEYS = {
    *("id", "task_id", "task_name", "task_type", "state", "triggered_by", "scheduled_for", "started_at"),
    *("completed_at", "error_message", "retry_count", "cancelled_by", "created_at", "retry_of"),
}
WHOLE_KEYS = LIST_KEYS | {
    *("output", "attempts", "progress", "requested_by"),
    *("approval", "approval_request", "approval_expires_at"),
}


async def one_run(client: ApiClient, path: str = SCHEDULES) -> dict[str, Any]:
    task = await created(client, path)
    run: dict[str, Any] = (await client.post(f"{path}/{task['id']}/run")).expect(202)
    return run


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        pytest.param({}, {"state": "pending", "attempts": [], "approval": None}, id="that waits"),
        pytest.param(
            {
                "state": "running",
                "started_at": START,
                "attempt": ATTEMPT,
                "progress": {"done": 1, "total": 2},
            },
            {
                "state": "running",
                "started_at": STARTED,
                "attempts": [SHOWN_ATTEMPT],
                "progress": {"done": 1, "total": 2},
            },
            id="that runs",
        ),
        pytest.param(
            {"attempts": [ENDED], "attempt": {**ATTEMPT, "number": 2}, "retry_count": 1},
            {"attempts": [SHOWN_END, {**SHOWN_ATTEMPT, "number": 2}], "retry_count": 1},
            id="that is tried again",
        ),
        pytest.param(
            {
                "state": "failed",
                "completed_at": START + timedelta(seconds=5),
                "attempts": [ENDED],
                "output": [1],
                "error_message": "no",
                "triggered_by": "schedule",
                "scheduled_for": START,
            },
            {
                "state": "failed",
                "completed_at": LATER,
                "attempts": [SHOWN_END],
                "output": [1],
                "error_message": "no",
                "triggered_by": "schedule",
                "scheduled_for": STARTED,
            },
            id="of a tick, that failed",
        ),
        pytest.param(
            {"state": "cancelled", "cancelled_by": USER},
            {"state": "cancelled", "cancelled_by": USER},
            id="that was cancelled",
        ),
        pytest.param(
            {"state": "approval_pending", "approval_request": {"command": "reload"}, "approval": DECISION},
            {
                "state": "approval_pending",
                "approval_request": {"command": "reload"},
                "approval": {**DECISION, "at": STARTED},
            },
            id="that was decided",
        ),
        pytest.param(
            {"approval": {**DECISION, "comment": "not today"}},
            {"approval": {**DECISION, "comment": "not today", "at": STARTED}},
            id="that was decided with a comment",
        ),
    ],
)
async def test_every_field_of_a_run(tasks: Tasks, row: dict[str, Any], shown: dict[str, Any]) -> None:
    client = operator(tasks)
    run = await one_run(client)
    if row:
        await tasks.database.collection("executions").update({"_id": run["id"]}, {"$set": row})
    whole = (await client.get(f"{EXECUTIONS}/{run['id']}")).expect()
    assert set(whole) == WHOLE_KEYS
    assert whole == {**run, **shown}
    for path in (EXECUTIONS, f"{SCHEDULES}/{run['task_id']}/executions"):
        listed = (await client.get(path)).expect()["executions"]
        assert listed == [{key: whole[key] for key in LIST_KEYS}]


@pytest.mark.parametrize(
    ("query", "numbers", "following"),
    [
        pytest.param("", list(range(1, 51)), 50, id="the first fifty"),
        pytest.param("?limit=2", [1, 2], 2, id="as many as are asked for"),
        pytest.param("?after_seq=0&limit=1", [1], 1, id="from the beginning"),
        pytest.param("?after_seq=118", [119, 120], 120, id="the last ones"),
        pytest.param("?after_seq=120", [], 120, id="nothing new"),
        pytest.param("?limit=1000", list(range(1, 121)), 120, id="all of them"),
        pytest.param(f"?device_id={USER}&limit=2", [1, 3], 3, id="those about a device"),
        pytest.param(f"?device_id={MISSING}", [], 0, id="none about another one"),
        pytest.param("?level=info&limit=3", [1, 2, 3], 3, id="of a level"),
        pytest.param("?level=warning", [], 0, id="none that is worse"),
    ],
)
async def test_the_log_is_read_on_from_a_number(
    tasks: Tasks, query: str, numbers: list[int], following: int
) -> None:
    client, caller = tasks.served.client(*OPERATOR)
    run = await one_run(client)
    lines = [
        LogEntry(seq=seq, at=START, level="info", device_id=USER if seq % 2 else None, message=f"line {seq}")
        for seq in range(1, 121)
    ]
    await ExecutionLogStore(tasks.database).append(caller.org_id, run["id"], list(reversed(lines)))
    answer = (await client.get(f"{EXECUTIONS}/{run['id']}/log{query}")).expect()
    assert answer["entries"] == [
        {
            "seq": seq,
            "at": STARTED,
            "level": "info",
            "device_id": USER if seq % 2 else None,
            "message": f"line {seq}",
        }
        for seq in numbers
    ]
    assert (answer["next_seq"], answer["complete"]) == (following, False)


async def test_a_thousand_lines_at_most_are_read_at_once(tasks: Tasks) -> None:
    client, caller = tasks.served.client(*OPERATOR)
    run = await one_run(client)
    lines = [
        LogEntry(seq=seq, at=START, level="info", device_id=None, message="line") for seq in range(1, 1003)
    ]
    await ExecutionLogStore(tasks.database).append(caller.org_id, run["id"], lines)
    answer = (await client.get(f"{EXECUTIONS}/{run['id']}/log?limit=5000")).expect()
    assert (len(answer["entries"]), answer["next_seq"]) == (1000, 1000)


@pytest.mark.parametrize(
    ("level", "levels"),
    [
        ("debug", ["debug", "info", "warning", "error"]),
        ("info", ["info", "warning", "error"]),
        ("warning", ["warning", "error"]),
        ("error", ["error"]),
    ],
)
async def test_a_level_of_the_log_and_what_is_worse(tasks: Tasks, level: str, levels: list[str]) -> None:
    client, caller = tasks.served.client(*OPERATOR)
    run = await one_run(client)
    lines = [
        LogEntry(seq=seq, at=START, level=one, device_id=None, message="line")
        for seq, one in enumerate(("debug", "info", "warning", "error"), 1)
    ]
    await ExecutionLogStore(tasks.database).append(caller.org_id, run["id"], lines)
    answer = (await client.get(f"{EXECUTIONS}/{run['id']}/log?level={level}")).expect()
    assert [entry["level"] for entry in answer["entries"]] == levels


@pytest.mark.parametrize(
    "bad", ["after_seq=-1", "after_seq=x", "limit=0", "level=fatal", "level=", "device_id=sw1"]
)
async def test_a_bad_number_of_the_log_is_named(tasks: Tasks, bad: str) -> None:
    client = operator(tasks)
    run = await one_run(client)
    assert_error(await client.get(f"{EXECUTIONS}/{run['id']}/log?{bad}"), 400, bad.partition("=")[0])


async def test_a_log_is_complete_with_its_last_line_and_not_before(tasks: Tasks) -> None:
    client, caller = tasks.served.client(*OPERATOR)
    run = await one_run(client)
    path = f"{EXECUTIONS}/{run['id']}/log"
    line = LogEntry(seq=1, at=START, level="info", device_id=None, message="began")
    await ExecutionLogStore(tasks.database).append(caller.org_id, run["id"], [line])
    assert not (await client.get(path)).expect()["complete"]
    await tasks.database.collection("executions").update({"_id": run["id"]}, {"$set": {"state": "completed"}})
    assert (await client.get(path)).expect()["complete"]
    assert not (await client.get(f"{path}?limit=1")).expect()["complete"]  # there may be more
    assert (await client.get(f"{path}?limit=1&after_seq=1")).expect()["complete"]
    closing = {"level": "error", "text": "ends", "node": None, "since": START}
    await tasks.database.collection("executions").update({"_id": run["id"]}, {"$set": {"closing": closing}})
    assert not (await client.get(path)).expect()["complete"]


@pytest.mark.parametrize("part", ["", "/log", "/results"])
async def test_who_is_of_another_organization_reads_nothing(tasks: Tasks, part: str) -> None:
    client = operator(tasks)
    run = await one_run(client)
    assert (await client.get(f"{EXECUTIONS}/{run['id']}{part}")).status == 200
    assert_error(await operator(tasks).get(f"{EXECUTIONS}/{run['id']}{part}"), 404, "Execution not found")
    assert_error(await client.get(f"{EXECUTIONS}/{MISSING}{part}"), 404, "Execution not found")


@pytest.mark.parametrize(
    ("output", "transcript"),
    [
        pytest.param({"transcript": ["x", {"y": 1}]}, ["x", {"y": 1}], id="as the agent left it"),
        pytest.param({"final_answer": "none"}, [], id="none in its output"),
        pytest.param(["transcript"], [], id="of an output that is a list"),
        pytest.param(None, [], id="no output"),
    ],
)
async def test_the_transcript_of_an_agent(tasks: Tasks, output: Any, transcript: list[Any]) -> None:
    client, caller = tasks.served.client(*OPERATOR)
    admin = tasks.served.client("system.manage", org_id=caller.org_id)[0]
    run = await one_run(client, AGENTS)
    await tasks.database.collection("executions").update({"_id": run["id"]}, {"$set": {"output": output}})
    whole = (await client.get(f"{EXECUTIONS}/{run['id']}")).expect()
    shown = (await admin.get(f"/api/admin/agent-tasks/history/{run['id']}")).expect()
    assert shown == {**whole, "prompt": "look around", "transcript": transcript}
    listed = (await admin.get("/api/admin/agent-tasks/history")).expect()["executions"]
    hidden = {"task_type", "scheduled_for", "cancelled_by", "retry_of"}
    assert listed == [{**{key: whole[key] for key in LIST_KEYS - hidden}, "prompt": "look around"}]


TOKEN = "snmp-server community <secret:0a1b2c3d> RO"
HIDDEN = "snmp-server community <secret> RO"


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(
            {"final_answer": TOKEN, "transcript": [{"calls": [{"result": TOKEN}]}]}, id="an agent's"
        ),
        pytest.param([TOKEN], id="another one"),
    ],
)
async def test_tokens_that_earlier_releases_gave_to_agents_are_not_shown(tasks: Tasks, output: Any) -> None:
    client, caller = tasks.served.client(*OPERATOR)
    admin = tasks.served.client("system.manage", org_id=caller.org_id)[0]
    run = await one_run(client, AGENTS)
    await tasks.database.collection("executions").update({"_id": run["id"]}, {"$set": {"output": output}})
    paths = (
        f"{EXECUTIONS}/{run['id']}",
        f"/api/admin/agent-tasks/history/{run['id']}",
        "/api/agents/executions",
    )
    shown = [str((await admin.get(path)).json) + str((await client.get(path)).json) for path in paths]
    assert ["<secret:" in answer for answer in shown] == [False] * 3
    assert all(HIDDEN in answer for answer in shown[:2])


RESULT = DeviceResult(device_id="d1", device_name="sw1", success=True, duration_ms=5)


class Results:
    """The results of one execution, as its claims write them."""

    def __init__(self, database: Database, caller: Caller, execution_id: str) -> None:
        self.store, self._caller, self.id = DeviceResultStore(database), caller, execution_id

    async def record(self, epoch: int, *results: DeviceResult) -> None:
        work = Work(caller=self._caller)
        for result in results:
            await self.store.record(work, self.id, epoch, result)

    @property
    def org_id(self) -> OrgId:
        return self._caller.org_id


async def results_of(tasks: Tasks) -> tuple[ApiClient, Results]:
    client, caller = tasks.served.client(*OPERATOR)
    run = await one_run(client)
    return client, Results(tasks.database, caller, run["id"])


def named(number: int, **values: Any) -> DeviceResult:
    return replace(RESULT, device_id=f"d{number}", device_name=f"sw{number}", **values)


FLEET = (
    named(1, changed=True),
    named(2, success=False, error="no answer", error_kind="timeout"),
    named(3, changed=False),
    named(4, success=False, error="refused", error_kind="auth", final=True),
    named(5),
    named(6, success=False, error="no"),
)
COUNTS = {"succeeded": 3, "failed": 3, "by_kind": {"auth": 1, "timeout": 1, "unknown": 1}}


@pytest.mark.parametrize(
    ("query", "names", "total"),
    [
        pytest.param("", "sw2 sw4 sw6 sw1 sw3 sw5", 6, id="failures first"),
        pytest.param("?success=true", "sw1 sw3 sw5", 3, id="the good ones"),
        pytest.param("?success=false", "sw2 sw4 sw6", 3, id="the bad ones"),
        pytest.param("?limit=2&offset=2", "sw6 sw1", 6, id="a page"),
        pytest.param("?success=true&limit=1&offset=2", "sw5", 3, id="a page of the good ones"),
        pytest.param("?error_kind=auth", "sw4", 1, id="those that failed in one way"),
        pytest.param("?error_kind=unknown", "sw6", 1, id="those that failed in a way without a name"),
        pytest.param("?error_kind=dns", "", 0, id="none that failed so"),
        pytest.param("?error_kind=auth&success=true", "", 0, id="none is good and failed"),
    ],
)
async def test_results_are_listed(tasks: Tasks, query: str, names: str, total: int) -> None:
    client, results = await results_of(tasks)
    await results.record(1, *FLEET)
    answer = (await client.get(f"{EXECUTIONS}/{results.id}/results{query}")).expect()
    assert " ".join(item["device_name"] for item in answer["results"]) == names
    assert answer["total"] == total
    assert answer["counts"] == COUNTS  # of all, whatever is asked for


async def test_no_results_are_counted_as_none(tasks: Tasks) -> None:
    client, results = await results_of(tasks)
    answer = (await client.get(f"{EXECUTIONS}/{results.id}/results")).expect()
    assert answer["counts"] == {"succeeded": 0, "failed": 0, "by_kind": {}}


async def test_a_result_shows_what_clients_may_know(tasks: Tasks) -> None:
    client, results = await results_of(tasks)
    full = replace(
        RESULT, changed=True, version=3, config_id="c", config_hash="h", credential_id=USER, final=True
    )
    await results.record(1, full, named(2, success=False, error="no", error_kind="auth"))
    path = f"{EXECUTIONS}/{results.id}"
    failed, good = (await client.get(f"{path}/results")).expect()["results"]
    assert good == {
        "device_id": "d1",
        "device_name": "sw1",
        "success": True,
        "changed": True,
        "version": 3,
        "config_hash": "h",
        "credential_id": USER,
        "duration_ms": 5,
        "error": None,
        "error_kind": None,
    }
    nothing = dict.fromkeys(("changed", "version", "config_hash", "credential_id"))
    assert failed == {
        **good,
        **nothing,
        "device_id": "d2",
        "device_name": "sw2",
        "success": False,
        "error": "no",
        "error_kind": "auth",
    }
    for output, shown in (({"n": 1}, {"n": 1, "results": [failed, good]}), ("text", "text"), (None, None)):
        await tasks.database.collection("executions").update(
            {"_id": results.id}, {"$set": {"output": output}}
        )
        assert (await client.get(path)).expect()["output"] == shown


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        pytest.param(1, 1, "second", id="of the same claim: the later result"),
        pytest.param(1, 2, "second", id="of a later claim"),
        pytest.param(2, 1, "first", id="of an earlier claim: it comes too late"),
    ],
)
async def test_of_two_results_of_a_device_one_stays(tasks: Tasks, first: int, second: int, kept: str) -> None:
    client, results = await results_of(tasks)
    await results.record(first, replace(RESULT, error="first"))
    await results.record(second, replace(RESULT, error="second"))
    answer = (await client.get(f"{EXECUTIONS}/{results.id}/results")).expect()
    assert [item["error"] for item in answer["results"]] == [kept]


async def test_sums_and_what_is_settled(tasks: Tasks) -> None:
    _, results = await results_of(tasks)
    store, org_id = results.store, results.org_id
    await results.record(1, *FLEET)
    assert await store.settled(org_id, results.id) == {"d1", "d3", "d4", "d5"}
    assert await store.totals(org_id, results.id) == ResultTotals(
        devices_total=6, succeeded=3, failed=3, changed=1, unchanged=1
    )
    other = OrgId("other")
    assert await store.settled(other, results.id) == frozenset()
    assert (await store.totals(other, results.id)).devices_total == 0
    await store.delete_of(org_id, [results.id])
    assert (await store.totals(org_id, results.id)).devices_total == 0


async def test_the_hash_of_an_earlier_release_is_not_answered(tasks: Tasks) -> None:
    """It was that of the text with its secrets."""
    client, results = await results_of(tasks)
    await results.record(1, replace(RESULT, config_hash="h"))
    of_before = {"$unset": {"shown_hash": ""}, "$set": {"config_hash": "of the secrets"}}
    await tasks.database.collection("execution_results").update_many({}, of_before)
    [answer] = (await client.get(f"{EXECUTIONS}/{results.id}/results")).expect()["results"]
    assert answer["config_hash"] is None


@pytest.mark.parametrize(
    "rules", [pytest.param("others", id="by other rules"), pytest.param(None, id="before")]
)
async def test_the_hash_of_a_text_that_other_rules_redacted_is_not_answered(
    tasks: Tasks, rules: str | None
) -> None:
    client, results = await results_of(tasks)
    results.store.rules = rules or ""
    await results.record(1, replace(RESULT, config_hash="h"))
    if rules is None:
        await tasks.database.collection("execution_results").update_many({}, {"$unset": {"shown_rules": ""}})
    [answer] = (await client.get(f"{EXECUTIONS}/{results.id}/results")).expect()["results"]
    assert answer["config_hash"] is None
