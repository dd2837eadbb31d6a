"""The history as clients ask for it: a search by text, and the runs of agents that a desktop client polls."""

from typing import Any

import pytest

from netautod.automation.executions.history import store as history_store
from tests.automation.tasks.conftest import AGENTS, OPERATOR, SCHEDULES, Tasks, created, operator
from tests.support.client import ApiClient, assert_error

RUNS = "/api/agents/executions"
SEARCH = "/api/tasks/history/search"


async def ran(tasks: Tasks, client: ApiClient, path: str, *, name: str, **row: Any) -> str:
    """Return the id of an execution of a new task, with these further fields in its row."""
    task = await created(client, path, name=name)
    execution_id: str = (await client.post(f"{path}/{task['id']}/run")).expect(202)["id"]
    if row:
        await tasks.database.collection("executions").update({"_id": execution_id}, {"$set": row})
    return execution_id


async def listed(client: ApiClient, path: str) -> list[str]:
    return [run["id"] for run in (await client.get(path)).expect()]


async def test_the_runs_of_agents_are_listed_newest_first_as_a_bare_array(tasks: Tasks) -> None:
    client, caller = tasks.served.client(*OPERATOR)
    output = {"final_answer": "all well", "iterations_used": 4, "tool_calls_made": 7, "transcript": ["x"]}
    done = await ran(tasks, client, AGENTS, name="done", state="completed", output=output)
    await ran(tasks, client, SCHEDULES, name="a backup")
    waiting = await ran(tasks, client, AGENTS, name="waiting")
    runs = (await client.get(RUNS)).expect()
    assert [run["id"] for run in runs] == [waiting, done]
    whole = (await client.get(f"/api/tasks/executions/{done}")).expect()
    assert runs[1] == {
        "id": done,
        "agent_id": whole["task_id"],
        "state": "completed",
        "input_task": "look around",
        "final_answer": "all well",
        "iterations_used": 4,
        "tool_calls_made": 7,
        "error_message": None,
        "started_at": None,
        "completed_at": None,
    }
    assert (runs[0]["final_answer"], runs[0]["iterations_used"], runs[0]["tool_calls_made"]) == (None, 0, 0)
    assert await listed(client, f"{RUNS}?limit=1") == [waiting]
    assert await listed(operator(tasks), RUNS) == []
    assert_error(await tasks.served.client("devices.access", org_id=caller.org_id)[0].get(RUNS), 403)


@pytest.mark.parametrize(
    "output",
    [
        pytest.param("a text", id="a text"),
        pytest.param([{"final_answer": "no"}], id="a list"),
        pytest.param(
            {"final_answer": {"deep": 1}, "iterations_used": "4", "tool_calls_made": True}, id="odd"
        ),
        pytest.param({}, id="nothing"),
    ],
)
async def test_an_output_that_says_otherwise_is_shown_as_none(tasks: Tasks, output: Any) -> None:
    client = operator(tasks)
    await ran(tasks, client, AGENTS, name="odd", output=output)
    run = (await client.get(RUNS)).expect()[0]
    assert (run["final_answer"], run["iterations_used"], run["tool_calls_made"]) == (None, 0, 0)


async def test_the_list_of_agent_runs_has_fifty_and_two_hundred_at_most(tasks: Tasks) -> None:
    client = operator(tasks)
    execution_id = await ran(tasks, client, AGENTS, name="often")
    rows = tasks.database.collection("executions")
    row = await rows.find_one({"_id": execution_id})
    assert row is not None
    await rows.insert_many([{**row, "_id": f"{execution_id[:-4]}{number:04}"} for number in range(1, 250)])
    assert len(await listed(client, RUNS)) == 50
    assert len(await listed(client, f"{RUNS}?limit=10000")) == 200
    for bad in ("limit=0", "limit=abc", "limit=-1"):
        assert_error(await client.get(f"{RUNS}?{bad}"), 400, "limit")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("q=core", ["core-1", "Core (2)"], id="in the name, whatever its case"),
        pytest.param("q=REFUSED", ["edge"], id="in the error, whatever its case"),
        pytest.param("q=%C3%BCber", ["edge"], id="other letters, whatever their case"),
        pytest.param("q=(2)", ["Core (2)"], id="what means something in patterns is text"),
        pytest.param("q=.*", [], id="a pattern is text"),
        pytest.param("q=core%5C", [], id="an open escape is text"),
        pytest.param("q=%5BA-", [], id="an open class is text"),
        pytest.param("q=%24where", [], id="an operator is text"),
        pytest.param("q=", ["core-1", "Core (2)", "edge"], id="an empty text is none"),
        pytest.param("", ["core-1", "Core (2)", "edge"], id="no text"),
        pytest.param("q=core&state=failed", [], id="with a state that none of them has"),
        pytest.param("q=core&task_type=backup", ["core-1"], id="of a type"),
        pytest.param("q=core&triggered_by=manual", ["core-1", "Core (2)"], id="by hand"),
        pytest.param("q=core&until=2020-01-01T00:00:00Z", [], id="long ago"),
        pytest.param("q=core&since=2020-01-01T00:00:00Z", ["core-1", "Core (2)"], id="since then"),
        pytest.param("q=core&bananas=1", ["core-1", "Core (2)"], id="with an unknown key"),
    ],
)
async def test_a_search_finds_text_in_names_and_errors(tasks: Tasks, query: str, found: list[str]) -> None:
    client = operator(tasks)
    await ran(tasks, client, SCHEDULES, name="core-1")
    await ran(tasks, client, AGENTS, name="Core (2)")
    error = "\u00dcBER: connection refused"
    await ran(tasks, client, SCHEDULES, name="edge", state="failed", error_message=error)
    answer = (await client.get(f"{SEARCH}?{query}")).expect()
    assert [item["task_name"] for item in answer["executions"]] == list(reversed(found))
    assert (answer["total"], answer["limit"], answer["offset"]) == (len(found), 50, 0)
    assert (await operator(tasks).get(f"{SEARCH}?{query}")).expect()["total"] == 0


async def test_a_search_pages_and_shows_what_the_list_shows(tasks: Tasks) -> None:
    client = operator(tasks)
    ids = [await ran(tasks, client, SCHEDULES, name=f"core-{number}") for number in range(3)]
    answer = (await client.get(f"{SEARCH}?q=core&limit=1&offset=1")).expect()
    assert ([item["id"] for item in answer["executions"]], answer["total"]) == ([ids[1]], 3)
    everything = (await client.get("/api/tasks/executions")).expect()
    assert (await client.get(f"{SEARCH}?q=core")).expect() == everything


async def test_a_search_looks_at_so_many_executions_and_no_more(
    tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = operator(tasks)
    ids = [await ran(tasks, client, SCHEDULES, name=f"core-{number}") for number in range(3)]
    monkeypatch.setattr(history_store, "SEARCHED", 2)
    answer = (await client.get(f"{SEARCH}?q=core")).expect()
    assert ([item["id"] for item in answer["executions"]], answer["total"]) == ([ids[2], ids[1]], 2)
    assert (await client.get(f"{SEARCH}?q=core-0&until=2100-01-01T00:00:00Z")).expect()["total"] == 0


@pytest.mark.parametrize(
    ("path", "bad"),
    [
        pytest.param(path, bad, id=f"{bad} of {path}")
        for path in (SEARCH, "/api/tasks/executions")
        for bad in (
            "state=done",
            "task_type=bananas",
            "task_id=abc",
            "triggered_by=me",
            "since=now",
            "limit=0",
        )
    ]
    + [pytest.param(SEARCH, f"q={'x' * 256}", id="a text that is too long")],
)
async def test_a_bad_filter_is_a_400_that_names_it(tasks: Tasks, path: str, bad: str) -> None:
    assert_error(await operator(tasks).get(f"{path}?{bad}"), 400, bad.partition("=")[0])


async def test_a_search_needs_the_permission(tasks: Tasks) -> None:
    client, _ = tasks.served.client("devices.access", "system.manage")
    assert_error(await client.get(f"{SEARCH}?q=core"), 403)


async def test_the_history_of_agents_is_filtered(tasks: Tasks) -> None:
    client, caller = tasks.served.client(*OPERATOR)
    admin = tasks.served.client("system.manage", org_id=caller.org_id)[0]
    failed = await ran(tasks, client, AGENTS, name="one", state="failed", error_message="broken")
    await ran(tasks, client, AGENTS, name="two")
    path = "/api/admin/agent-tasks/history"
    answer = (await admin.get(f"{path}?state=failed")).expect()
    assert [(item["id"], item["error_message"]) for item in answer["executions"]] == [(failed, "broken")]
    for query, total in (
        ("", 2),
        ("state=pending", 1),
        ("since=2020-01-01T00:00:00Z", 2),
        ("until=2020-01-01T00:00:00Z", 0),
    ):
        assert (await admin.get(f"{path}?{query}")).expect()["total"] == total
        assert (await admin.get(f"{path}/search?{query}")).expect()["total"] == total
    for bad in ("state=done", "since=now", "until=now", "task_id=abc"):
        assert_error(await admin.get(f"{path}?{bad}"), 400, bad.partition("=")[0])
        assert_error(await admin.get(f"{path}/search?{bad}"), 400, bad.partition("=")[0])


async def test_the_history_of_agents_is_searched(tasks: Tasks) -> None:
    client, caller = tasks.served.client(*OPERATOR)
    admin = tasks.served.client("system.manage", org_id=caller.org_id)[0]
    first = await ran(tasks, client, AGENTS, name="core-1", state="failed", error_message="refused")
    await ran(tasks, client, SCHEDULES, name="core-2")
    second = await ran(tasks, client, AGENTS, name="edge", error_message="not REFUSED")
    path = "/api/admin/agent-tasks/history"
    for query, found in (
        ("q=CORE", [first]),
        ("q=refused", [second, first]),
        ("q=refused&state=failed", [first]),
        ("q=refused&limit=1&offset=1", [first]),
        ("q=nothing", []),
    ):
        answer = (await admin.get(f"{path}/search?{query}")).expect()
        assert [item["id"] for item in answer["executions"]] == found
    assert answer == {"executions": [], "total": 0, "limit": 50, "offset": 0}
    assert (await admin.get(f"{path}/search")).json == (await admin.get(path)).json
    assert_error(await admin.get(f"{path}/search?q={'x' * 256}"), 400, "q")
    assert_error(await client.get(f"{path}/search?q=core"), 403)
