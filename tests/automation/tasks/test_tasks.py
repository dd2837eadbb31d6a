"""The task routes: every status, envelope, cap and permission of the API."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from netautod.core.identity.caller import UsedToken
from tests.automation.tasks.conftest import (
    AGENT,
    AGENTS,
    BODY,
    CREDENTIAL,
    MISSING,
    OPERATOR,
    SCHEDULES,
    Tasks,
    created,
    operator,
)
from tests.support.client import assert_error


async def test_create_applies_the_defaults_and_answers_the_whole_task(tasks: Tasks) -> None:
    client, caller = tasks.served.client(*OPERATOR)
    task = await created(client, timezone="Europe/Berlin")
    assert task | {"id": "", "next_run_at": "", "created_at": ""} == {
        "id": "",
        "name": "nightly",
        "description": None,
        "task_type": "backup",
        "cron_expression": "30 2 * * *",
        "timezone": "Europe/Berlin",
        "parameters": {},
        "enabled": True,
        "max_retries": 3,
        "retry_delay_seconds": 60,
        "timeout_seconds": 3600,
        "next_run_at": "",
        "last_run_at": None,
        "owner_id": caller.user_id,
        "blocked": None,
        "created_at": "",
    }
    next_run = datetime.fromisoformat(task["next_run_at"])
    assert datetime.now(UTC) < next_run <= datetime.now(UTC) + timedelta(days=1, hours=1)
    assert (next_run.minute, next_run.second) == (30, 0)
    assert (await client.get(f"{SCHEDULES}/{task['id']}")).json == task


@pytest.mark.parametrize(
    ("change", "text"),
    [
        pytest.param({"name": None}, "name", id="no name"),
        pytest.param({"task_type": None}, "task_type", id="no type"),
        pytest.param({"cron_expression": None}, "cron_expression", id="no cron"),
        pytest.param({"task_type": "telepathy"}, "task_type", id="unknown type"),
        pytest.param({"cron_expression": "* * * * * *"}, "cron_expression", id="six fields"),
        pytest.param({"cron_expression": "@daily"}, "cron_expression", id="macro"),
        pytest.param({"cron_expression": "0 0 31 2 *"}, "cron_expression", id="never"),
        pytest.param({"timezone": "EST"}, "timezone", id="abbreviation"),
        pytest.param({"timezone": "GMT"}, "timezone", id="GMT"),
        pytest.param({"timezone": "Europe/Berlin "}, "timezone", id="blank after the zone"),
        pytest.param({"max_retries": 21}, "max_retries", id="too many retries"),
        pytest.param({"max_retries": "3"}, "max_retries", id="retries as text"),
        pytest.param({"timeout_seconds": 0}, "timeout_seconds", id="no timeout"),
        pytest.param({"enabled": "yes"}, "enabled", id="enabled as text"),
        pytest.param({"parameters": []}, "parameters", id="parameters a list"),
        pytest.param({"parameters": {"snapshot_name": 7}}, "parameters.snapshot_name", id="snapshot"),
        pytest.param(
            {"parameters": {"device_filter": {"sites": "x"}}}, "parameters.device_filter.sites", id="typo"
        ),
        pytest.param({"parameters": {"device_filter": {"site": {"$ne": 1}}}}, "site", id="operator"),
        pytest.param({"parameters": {"credential_id": MISSING}}, "credential_id", id="no such credential"),
        pytest.param({"parameters": {"credential_id": "x"}}, "credential_id", id="no uuid"),
        pytest.param({"task_type": "agent_task"}, "parameters.prompt", id="agent without prompt"),
        pytest.param({"org_ID": "x"}, "org_ID", id="unknown field"),
    ],
)
async def test_a_bad_task_is_refused_with_its_field(tasks: Tasks, change: Any, text: str) -> None:
    client = operator(tasks)
    assert_error(await client.post(SCHEDULES, {**BODY, **change}), 400, text)
    task = await created(client)
    if "task_type" not in change and None not in change.values():
        assert_error(await client.put(f"{SCHEDULES}/{task['id']}", change), 400, text)


async def test_names_are_unique_within_the_organization(tasks: Tasks) -> None:
    client = operator(tasks)
    first = await created(client)
    assert_error(await client.post(SCHEDULES, BODY), 409, "Task with this name already exists")
    other = await created(client, name="Nightly")
    assert_error(await client.put(f"{SCHEDULES}/{other['id']}", {"name": "nightly"}), 409)
    await created(operator(tasks))
    assert (await client.get(f"{SCHEDULES}/{first['id']}")).status == 200


async def test_put_changes_only_what_is_sent(tasks: Tasks) -> None:
    client = operator(tasks)
    task = await created(client, description="old")
    path = f"{SCHEDULES}/{task['id']}"
    changed = (await client.put(path, {"description": None, "id": "ignored"})).json
    assert changed == {**task, "description": None}
    moved = (await client.put(path, {"cron_expression": "0 4 * * *"})).json
    assert moved["next_run_at"] != task["next_run_at"]
    assert moved["next_run_at"][11:16] == "04:00"
    zoned = (await client.put(path, {"timezone": "Asia/Kathmandu"})).json
    assert zoned["next_run_at"][11:16] == "22:15"
    assert (await client.put(path, zoned)).json == zoned
    assert_error(await client.put(path, {"task_type": "deployment"}), 400, "task_type")
    assert (await client.put(path, {"task_type": "backup"})).status == 200
    for field in ("name", "cron_expression", "timezone", "parameters", "enabled", "max_retries"):
        assert_error(await client.put(path, {field: None}), 400, field)


async def test_put_of_parameters_by_another_user_moves_the_ownership(tasks: Tasks) -> None:
    ann, caller = tasks.served.client(*OPERATOR)
    bob, bob_caller = tasks.served.client("tasks.operate", org_id=caller.org_id)
    task = await created(ann, parameters={"credential_id": CREDENTIAL})
    path = f"{SCHEDULES}/{task['id']}"
    assert (await bob.put(path, {"description": "x"})).json["owner_id"] == caller.user_id
    unchanged = {"credential_id": CREDENTIAL, "device_filter": {"site": "lab"}}
    assert (await bob.put(path, {"parameters": unchanged})).json["owner_id"] == bob_caller.user_id
    assert (await bob.put(path, {"parameters": {}})).status == 200
    assert_error(await bob.put(path, {"parameters": {"credential_id": CREDENTIAL}}), 403)


async def test_what_an_api_token_says_of_a_task_is_kept_with_the_permissions_of_the_token(
    tasks: Tasks,
) -> None:
    """Check that a run does nothing in its owner's name that the token may not do."""
    person, caller = tasks.served.client(*OPERATOR)
    machine, used = tasks.served.client("tasks.operate", org_id=caller.org_id, user_id=caller.user_id)
    token = UsedToken(id="t", name="ci", expires_at=None)
    tasks.served.callers[machine.token or ""] = replace(used, token=token)

    async def scope_of(task: dict[str, Any]) -> Any:
        (row,) = await tasks.database.collection("tasks").find({"_id": task["id"]})
        return row["scope"]

    made, theirs = await created(machine), await created(person, name="by hand")
    assert [await scope_of(made), await scope_of(theirs)] == [["tasks.operate"], None]
    path = f"{SCHEDULES}/{theirs['id']}"
    for change, scope in (
        ({"description": "x"}, None),
        ({"parameters": {"device_filter": {"site": "lab"}}}, ["tasks.operate"]),
    ):
        (await machine.put(path, change)).expect()
        assert await scope_of(theirs) == scope
    (await person.put(path, {"parameters": {}})).expect()
    assert await scope_of(theirs) is None
    (await machine.post(f"{SCHEDULES}/{made['id']}/run")).expect(202)
    (run,) = await tasks.database.collection("executions").find({})
    assert run["scope"] == ["tasks.operate"]


async def test_toggle_recomputes_next_run(tasks: Tasks) -> None:
    client = operator(tasks)
    task = await created(client)
    path = f"{SCHEDULES}/{task['id']}"
    await tasks.database.collection("tasks").update(
        {"_id": task["id"]}, {"$set": {"next_run_at": datetime(2020, 1, 1, tzinfo=UTC)}}
    )
    off = await client.post(f"{path}/toggle", {"enabled": False})
    assert (off.status, off.json["enabled"]) == (200, False)
    assert off.json["next_run_at"] > task["created_at"]
    on = await client.post(f"{path}/toggle", {"enabled": True})
    assert on.json["next_run_at"] > task["created_at"]
    assert_error(await client.post(f"{path}/toggle"), 400, "enabled")
    assert_error(await client.post(f"{path}/toggle", {"enabled": 1}), 400, "enabled")


async def test_the_list_has_the_prescribed_constants_and_caps(tasks: Tasks) -> None:
    client = operator(tasks)
    for name in ("b", "a", "C"):
        await created(client, name=name, max_retries=7, timeout_seconds=9)
    listed = (await client.get(f"{SCHEDULES}?limit=500")).json
    assert [task["name"] for task in listed["tasks"]] == ["C", "a", "b"]
    assert (listed["total"], listed["limit"], listed["offset"]) == (3, 100, 0)
    assert listed["tasks"][0] | {"id": "", "next_run_at": ""} == {
        "id": "",
        "name": "C",
        "task_type": "backup",
        "cron_expression": "30 2 * * *",
        "timezone": "UTC",
        "enabled": True,
        "blocked": None,
        "last_run_at": None,
        "next_run_at": "",
        "max_retries": 3,
        "retry_delay_seconds": 60,
        "timeout_seconds": 300,
    }
    second = (await client.get(f"{SCHEDULES}?limit=1&offset=1")).json
    assert [task["name"] for task in second["tasks"]] == ["a"]
    assert (await operator(tasks).get(SCHEDULES)).json["total"] == 0


async def test_another_organizations_task_is_not_found(tasks: Tasks) -> None:
    task = await created(operator(tasks))
    stranger = operator(tasks)
    for path in (f"{SCHEDULES}/{task['id']}", f"{SCHEDULES}/{MISSING}", f"{SCHEDULES}/x"):
        assert_error(await stranger.get(path), 404, "Task not found")
        assert_error(await stranger.put(path, {"description": "x"}), 404, "Task not found")
        assert_error(await stranger.delete(path), 404, "Task not found")
        assert_error(await stranger.post(f"{path}/run"), 404, "Task not found")
        assert_error(await stranger.post(f"{path}/toggle", {"enabled": True}), 404, "Task not found")
        assert_error(await stranger.get(f"{path}/executions"), 404, "Task not found")


async def test_agent_schedules_are_a_view_of_the_same_tasks(tasks: Tasks) -> None:
    client = operator(tasks)
    agent = await created(client, AGENTS, description="d")
    assert agent | {"id": "", "next_run_at": "", "created_at": ""} == {
        "id": "",
        "name": "agent",
        "description": "d",
        "prompt": "look around",
        "cron_expression": "0 6 * * *",
        "timezone": "UTC",
        "enabled": True,
        "blocked": None,
        "last_run_at": None,
        "next_run_at": "",
        "created_at": "",
    }
    whole = (await client.get(f"{SCHEDULES}/{agent['id']}")).json
    assert whole["parameters"] == {"prompt": "look around"}
    assert (whole["max_retries"], whole["retry_delay_seconds"], whole["timeout_seconds"]) == (3, 60, 3600)
    for field in ("max_retries", "retry_delay_seconds", "timeout_seconds"):
        assert_error(await client.post(AGENTS, {**AGENT, field: 3}), 400, field)
    changed = (await client.put(f"{AGENTS}/{agent['id']}", {"prompt": "again"})).json
    assert changed["prompt"] == "again"
    toggled = await client.post(f"{AGENTS}/{agent['id']}/toggle", {"enabled": False})
    assert (toggled.status, toggled.json["enabled"]) == (200, False)
    backup = await created(client)
    assert_error(await client.get(f"{AGENTS}/{backup['id']}"), 404, "Task not found")
    assert_error(await client.delete(f"{AGENTS}/{backup['id']}"), 404, "Task not found")
    assert (await client.delete(f"{AGENTS}/{agent['id']}")).status == 204
    assert (await client.get(AGENTS)).json["total"] == 0


@pytest.mark.parametrize(
    ("query", "names"),
    [
        pytest.param("", ["own"], id="the caller's own"),
        pytest.param("?mine=true", ["own"], id="mine"),
        pytest.param("?mine=false", ["own"], id="not only mine is no scope"),
        pytest.param("?scope=organization", ["own", "of ann"], id="the organization's"),
        pytest.param("?scope=organization&limit=1", ["own"], id="a page of the organization's"),
        pytest.param("?scope=organization&mine=true", ["own"], id="mine of the organization's"),
    ],
)
async def test_agent_schedules_are_listed_by_their_owner(tasks: Tasks, query: str, names: list[str]) -> None:
    ann, caller = tasks.served.client(*OPERATOR)
    bob, _ = tasks.served.client(*OPERATOR, org_id=caller.org_id)
    stranger = operator(tasks)
    await created(ann, AGENTS, name="of ann")
    await created(bob, AGENTS, name="own")
    await created(stranger, AGENTS, name="elsewhere")
    listed = (await bob.get(f"{AGENTS}{query}")).expect()
    assert [one["name"] for one in listed["tasks"]] == names


async def test_an_agent_schedule_that_is_taken_over_is_listed_as_ones_own(tasks: Tasks) -> None:
    ann, caller = tasks.served.client(*OPERATOR)
    bob, _ = tasks.served.client(*OPERATOR, org_id=caller.org_id)
    agent = await created(ann, AGENTS)
    (await bob.put(f"{AGENTS}/{agent['id']}", {"prompt": "again"})).expect()
    assert [(await one.get(AGENTS)).expect()["total"] for one in (ann, bob)] == [0, 1]


@pytest.mark.parametrize("scope", ["mine", "Organization", "", "all"])
async def test_an_unknown_scope_of_agent_schedules_is_refused(tasks: Tasks, scope: str) -> None:
    assert_error(await operator(tasks).get(f"{AGENTS}?scope={scope}"), 400, "scope")


async def test_preview(tasks: Tasks) -> None:
    client = operator(tasks)
    body = {"cron_expression": "0 12 * * *", "timezone": "Australia/Lord_Howe", "count": 3}
    runs = (await client.post("/api/tasks/preview", body)).json["next_runs"]
    assert len(runs) == 3
    for run in runs:
        assert datetime.fromisoformat(run["utc"]) == datetime.fromisoformat(run["local"])
        assert run["local"][11:16] == "12:00"
    assert_error(await client.post("/api/tasks/preview", {**body, "count": 101}), 400, "count")
    assert_error(await client.post("/api/tasks/preview", {**body, "timezone": "EST"}), 400, "timezone")
    assert len((await client.post("/api/tasks/preview", {**body, "count": None})).json["next_runs"]) == 10


async def test_every_route_needs_the_operator_permission(tasks: Tasks) -> None:
    viewer = tasks.served.client("devices.access")[0]
    for path, operations in tasks.served.description["paths"].items():
        for method in operations.keys() - {"parameters"}:
            response = await viewer.request(method.upper(), path.replace("{id}", MISSING), {})
            assert_error(response, 403, "Insufficient permissions")
            anonymous = await viewer.with_token(None).request(method.upper(), path, {})
            assert_error(anonymous, 401, "Authentication required")


async def test_parameters_keep_other_keys_and_strange_names(tasks: Tasks) -> None:
    client = operator(tasks)
    parameters = {"note": "kept", "$where": "x", "a.b": {"$ne": 1}}
    task = await created(client, parameters=parameters)
    assert (await client.get(f"{SCHEDULES}/{task['id']}")).json["parameters"] == parameters
    run = (await client.post(f"{SCHEDULES}/{task['id']}/run")).json
    assert run["state"] == "pending"


async def test_agent_schedules_are_listed_newest_first_and_tasks_by_name(tasks: Tasks) -> None:
    client = operator(tasks)
    for name in ("b", "c", "a"):
        await created(client, AGENTS, name=name)
    listed = (await client.get(AGENTS)).expect()["tasks"]
    assert [task["name"] for task in listed] == ["a", "c", "b"]
    assert [task["name"] for task in (await client.get(f"{AGENTS}?limit=1&offset=1")).json["tasks"]] == ["c"]
    assert [task["name"] for task in (await client.get(SCHEDULES)).json["tasks"]] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["Core.backup", "edge", "off"]),
        ("q=CORE.B", ["Core.backup"]),
        ("q=e.g", []),
        ("task_type=health_check", ["edge"]),
        ("enabled=true", ["Core.backup", "edge"]),
        ("enabled=false&q=o", ["off"]),
    ],
)
async def test_tasks_are_narrowed(tasks: Tasks, query: str, names: list[str]) -> None:
    client = operator(tasks)
    await created(client, SCHEDULES, name="off", enabled=False)
    await created(client, SCHEDULES, name="edge", task_type="health_check")
    await created(client, SCHEDULES, name="Core.backup")
    listed = (await client.get(f"{SCHEDULES}?{query}")).expect()
    assert [task["name"] for task in listed["tasks"]] == names
    assert listed["total"] == len(names)
    assert_error(await client.get(f"{SCHEDULES}?task_type=typo"), 400, "task_type: must be one of")


async def test_a_cron_expression_is_stored_with_single_spaces(tasks: Tasks) -> None:
    client = operator(tasks)
    for path in (SCHEDULES, AGENTS):
        made = await created(client, path, cron_expression="  30   2 \t*  * * ")
        assert made["cron_expression"] == "30 2 * * *"
        one = f"{path}/{made['id']}"
        same = (await client.put(one, {"cron_expression": "30 2  * * *"})).expect()
        assert same == made
        other = (await client.put(one, {"cron_expression": "0  6 * *\t*"})).expect()
        assert other["cron_expression"] == "0 6 * * *"
        assert (await client.get(one)).expect() == other
    assert_error(
        await client.post(SCHEDULES, {**BODY, "name": "x", "cron_expression": "  "}), 400, "five fields"
    )


async def test_a_credential_is_named_by_its_id_in_either_case(tasks: Tasks) -> None:
    client = operator(tasks)
    upper = {"credential_id": CREDENTIAL.upper(), "note": "KEPT"}
    made = await created(client, parameters=upper)
    # As it is stored, so that whoever deletes the credential is told of the task.
    assert made["parameters"] == {"credential_id": CREDENTIAL, "note": "KEPT"}
    stored = await tasks.database.collection("tasks").find_one({"parameters.credential_id": CREDENTIAL})
    assert stored is not None
    assert stored["_id"] == made["id"]
    moved = await client.put(f"{SCHEDULES}/{made['id']}", {"parameters": upper})
    assert moved.expect()["parameters"] == made["parameters"]
