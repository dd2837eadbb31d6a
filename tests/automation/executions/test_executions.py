"""The execution routes: run, cancel, decide, filter and read."""

from tests.automation.tasks.conftest import AGENTS, OPERATOR, SCHEDULES, Tasks, created, operator
from tests.support.client import assert_error


async def test_run_answers_a_pending_execution(tasks: Tasks) -> None:
    client = operator(tasks)
    task = await created(client, enabled=False)
    for raw in (b"", b"{}"):
        response = await client.post(
            f"{SCHEDULES}/{task['id']}/run", raw=raw, headers={"Content-Type": "application/json"}
        )
        assert response.status == 202
        run = response.json
        assert (run["state"], run["triggered_by"], run["retry_count"]) == ("pending", "manual", 0)
        for empty in ("started_at", "completed_at", "output", "error_message", "scheduled_for"):
            assert run[empty] is None
    listed = (await client.get(f"{SCHEDULES}/{task['id']}/executions")).json
    assert listed["total"] == 2
    assert "output" not in listed["executions"][0]
    assert (await client.get(f"/api/tasks/executions/{run['id']}")).json == run


async def test_delete_keeps_executions_and_cancels_the_pending_ones(tasks: Tasks) -> None:
    client = operator(tasks)
    task = await created(client)
    run = (await client.post(f"{SCHEDULES}/{task['id']}/run")).json
    assert (await client.delete(f"{SCHEDULES}/{task['id']}")).status == 204
    assert_error(await client.get(f"{SCHEDULES}/{task['id']}"), 404)
    kept = (await client.get(f"/api/tasks/executions/{run['id']}")).json
    assert (kept["state"], kept["error_message"]) == ("cancelled", "the task was deleted")


async def test_cancel(tasks: Tasks) -> None:
    client, caller = tasks.served.client(*OPERATOR)
    task = await created(client)
    run = (await client.post(f"{SCHEDULES}/{task['id']}/run")).json
    path = f"/api/tasks/executions/{run['id']}"
    assert_error(await operator(tasks).post(f"{path}/cancel"), 404, "Execution not found")
    assert (await client.post(f"{path}/cancel")).status == 204
    cancelled = (await client.get(path)).json
    assert (cancelled["state"], cancelled["cancelled_by"]) == ("cancelled", caller.user_id)
    assert cancelled["attempts"] == []
    assert_error(await client.post(f"{path}/cancel"), 409, "cancelled")
    assert_error(await client.post(f"/api/tasks/executions/{task['id']}/cancel"), 404)


async def test_observers_are_notified_of_what_a_person_ends(tasks: Tasks) -> None:
    client, _ = tasks.served.client(*OPERATOR, "config.deploy")
    task = await created(client)
    ids = [(await client.post(f"{SCHEDULES}/{task['id']}/run")).json["id"] for _ in range(3)]
    waiting = {"$set": {"state": "approval_pending"}}
    await tasks.database.collection("executions").update_many({"_id": {"$in": ids[:2]}}, waiting)
    for execution_id, decision in zip(ids, ("approve", "reject", "cancel"), strict=True):
        response = await client.post(f"/api/tasks/executions/{execution_id}/{decision}")
        assert response.status in (200, 204), response.content
    assert [(one.id, one.state, one.error_message) for one in tasks.finished] == [(ids[2], "cancelled", None)]


async def test_execution_filters(tasks: Tasks) -> None:
    client = operator(tasks)
    task = await created(client)
    other = await created(client, AGENTS)
    first = (await client.post(f"{SCHEDULES}/{task['id']}/run")).json
    await client.post(f"{AGENTS}/{other['id']}/run")
    await client.post(f"/api/tasks/executions/{first['id']}/cancel")

    async def total(query: str) -> int:
        response = await client.get(f"/api/tasks/executions?{query}")
        assert response.status == 200, response.content
        count: int = response.json["total"]
        return count

    assert await total("") == 2
    assert await total(f"task_id={task['id']}") == 1
    assert await total("task_type=agent_task") == 1
    assert await total("state=cancelled") == 1
    assert await total("triggered_by=schedule") == 0
    assert await total("since=2020-01-01T00:00:00Z&until=2021-01-01T00:00:00Z") == 0
    assert await total("since=2020-01-01T00:00:00Z") == 2
    bad = ("state=done", "task_id=abc", "since=yesterday", "since=2020-01-01", "limit=0")
    for query in (*bad, "since=0001-01-01T00:00:00%2B14:00"):
        assert_error(await client.get(f"/api/tasks/executions?{query}"), 400, query.split("=")[0])


async def test_agent_history(tasks: Tasks) -> None:
    client, caller = tasks.served.client(*OPERATOR)
    admin = tasks.served.client("system.manage", org_id=caller.org_id)[0]
    agent = await created(client, AGENTS)
    run = (await client.post(f"{AGENTS}/{agent['id']}/run")).json
    backup = await created(client)
    other = (await client.post(f"{SCHEDULES}/{backup['id']}/run")).json
    assert_error(await client.get("/api/admin/agent-tasks/history"), 403)
    listed = (await admin.get("/api/admin/agent-tasks/history")).json
    assert [(item["id"], item["prompt"]) for item in listed["executions"]] == [(run["id"], "look around")]
    one = (await admin.get(f"/api/admin/agent-tasks/history/{run['id']}")).json
    assert (one["prompt"], one["transcript"]) == ("look around", [])
    assert_error(await admin.get(f"/api/admin/agent-tasks/history/{other['id']}"), 404)
    assert (await admin.get(f"/api/admin/agent-tasks/history?task_id={backup['id']}")).json["total"] == 0
