"""Tasks whose owner is disabled or gone: shown as blocked, not run, and healed by another owner."""

from collections.abc import Callable
from typing import Any

import pytest

from netautod.core.identity.caller import Caller, UsedToken
from tests.automation.tasks.conftest import AGENTS, MISSING, OPERATOR, SCHEDULES, Tasks, created
from tests.support.client import ApiClient, assert_error

DISABLED, DELETED = "owner disabled", "owner deleted"
Removal = Callable[[Tasks, str], None]


def disabled(tasks: Tasks, user_id: str) -> None:
    tasks.disable(user_id)


def deleted(tasks: Tasks, user_id: str) -> None:
    tasks.set_user(user_id, None)


GONE = [pytest.param(disabled, DISABLED, id="disabled"), pytest.param(deleted, DELETED, id="deleted")]
VIEWS = [pytest.param(SCHEDULES, id="tasks"), pytest.param(AGENTS, id="agent schedules")]


def colleague(tasks: Tasks, of: Caller, *permissions: str) -> tuple[ApiClient, Caller]:
    """Return another user of the organization, whom runs can act for."""
    client, caller = tasks.served.client(*(permissions or OPERATOR), org_id=of.org_id)
    tasks.set_user(caller.user_id, caller)
    return client, caller


@pytest.mark.parametrize(("remove", "reason"), GONE)
@pytest.mark.parametrize("view", VIEWS)
async def test_a_task_without_its_owner_is_shown_as_blocked_and_not_run(
    tasks: Tasks, view: str, remove: Removal, reason: str
) -> None:
    ann, owner = tasks.served.client(*OPERATOR)
    bob, _ = colleague(tasks, owner)
    task = await created(ann, view)
    assert task["blocked"] is None
    remove(tasks, owner.user_id)
    path = f"{view}/{task['id']}"
    assert (await bob.get(path)).expect()["blocked"] == reason
    listed = (await bob.get(f"{view}?scope=organization")).expect()["tasks"]
    assert [one["blocked"] for one in listed] == [reason]
    assert_error(await bob.post(f"{path}/run"), 409, f"The task is blocked: {reason}")
    assert await tasks.database.collection("executions").count({}) == 0
    assert (await bob.put(path, {"description": "still here"})).expect()["blocked"] == reason


@pytest.mark.parametrize("view", VIEWS)
async def test_another_owner_heals_it(tasks: Tasks, view: str) -> None:
    ann, owner = tasks.served.client(*OPERATOR)
    bob, caller = colleague(tasks, owner)
    task = await created(ann, view)
    tasks.set_user(owner.user_id, None)
    path = f"{view}/{task['id']}"
    assert (await bob.put(path, {"owner_id": caller.user_id.upper()})).expect()["blocked"] is None
    assert (await bob.get(f"{SCHEDULES}/{task['id']}")).expect()["owner_id"] == caller.user_id
    run = (await bob.post(f"{path}/run")).expect(202)
    row = await tasks.database.collection("executions").find_one({"_id": run["id"]})
    assert row is not None
    assert row["owner_id"] == caller.user_id


async def test_a_user_who_is_enabled_again_heals_it_too(tasks: Tasks) -> None:
    ann, owner = tasks.served.client(*OPERATOR)
    path = f"{SCHEDULES}/{(await created(ann))['id']}"
    tasks.disable(owner.user_id)
    assert (await ann.get(path)).expect()["blocked"] == DISABLED
    tasks.set_user(owner.user_id, owner)
    assert (await ann.get(path)).expect()["blocked"] is None


WEAK, STRONG = ("tasks.operate",), ("tasks.operate", "credentials.manage", "users.manage")


@pytest.mark.parametrize(
    ("holds", "status"),
    [
        pytest.param(WEAK, 200, id="who holds less"),
        pytest.param(OPERATOR, 200, id="who holds the same"),
        pytest.param(STRONG, 403, id="who holds more"),
        pytest.param(("*",), 403, id="who may do everything"),
    ],
)
async def test_a_task_is_given_to_users_whose_permissions_the_caller_holds(
    tasks: Tasks, holds: tuple[str, ...], status: int
) -> None:
    ann, owner = tasks.served.client(*OPERATOR)
    _, other = colleague(tasks, owner, *holds)
    path = f"{SCHEDULES}/{(await created(ann))['id']}"
    sent = await ann.put(path, {"owner_id": other.user_id})
    assert sent.status == status
    expected = other if status == 200 else owner
    assert (await ann.get(path)).expect()["owner_id"] == expected.user_id


@pytest.mark.parametrize(
    "owner_id",
    [
        pytest.param("disabled", id="a disabled user"),
        pytest.param(MISSING, id="nobody"),
        pytest.param("not an id", id="no id"),
        pytest.param(7, id="a number"),
        pytest.param(None, id="null"),
    ],
)
async def test_an_owner_who_cannot_act_is_refused(tasks: Tasks, owner_id: Any) -> None:
    ann, owner = tasks.served.client("*")
    _, other = colleague(tasks, owner)
    tasks.disable(other.user_id)
    tasks.set_user(MISSING, None)
    path = f"{SCHEDULES}/{(await created(ann))['id']}"
    sent = other.user_id if owner_id == "disabled" else owner_id
    assert_error(await ann.put(path, {"owner_id": sent}), 400, "owner_id")
    assert (await ann.get(path)).expect()["owner_id"] == owner.user_id


@pytest.mark.parametrize(
    ("beside", "takes_over"),
    [
        pytest.param({}, False, id="alone"),
        pytest.param({"description": "x"}, False, id="beside a description"),
        pytest.param({"parameters": {}}, True, id="beside parameters"),
    ],
)
@pytest.mark.parametrize("state", ["active", "disabled"])
async def test_the_value_read_back_changes_nothing(
    tasks: Tasks, state: str, beside: dict[str, Any], takes_over: bool
) -> None:
    ann, owner = tasks.served.client(*OPERATOR)
    bob, caller = colleague(tasks, owner, "tasks.operate")
    path = f"{SCHEDULES}/{(await created(ann))['id']}"
    if state == "disabled":
        tasks.disable(owner.user_id)
    sent = {"owner_id": owner.user_id, **beside}
    changed = (await bob.put(path, sent)).expect()
    assert changed["owner_id"] == (caller if takes_over else owner).user_id
    assert changed["blocked"] == (DISABLED if state == "disabled" and not takes_over else None)


async def test_the_value_read_back_beside_a_prompt_makes_the_caller_the_owner(tasks: Tasks) -> None:
    ann, owner = tasks.served.client(*OPERATOR)
    bob, caller = colleague(tasks, owner, "tasks.operate")
    agent = await created(ann, AGENTS)
    await bob.put(f"{AGENTS}/{agent['id']}", {"owner_id": owner.user_id, "prompt": "something else"})
    assert (await bob.get(f"{SCHEDULES}/{agent['id']}")).expect()["owner_id"] == caller.user_id


async def test_a_task_taken_over_through_a_token_runs_with_the_permissions_of_the_token(tasks: Tasks) -> None:
    ann, owner = tasks.served.client(*OPERATOR)
    machine, caller = colleague(tasks, owner, "tasks.operate")
    token = UsedToken(id="t", name="ci", expires_at=None)
    tasks.served.callers[machine.token or ""] = Caller(**{**vars(caller), "token": token})
    path = f"{SCHEDULES}/{(await created(ann))['id']}"
    (await machine.put(path, {"owner_id": caller.user_id})).expect()
    stored = await tasks.database.collection("tasks").find_one({})
    assert stored is not None
    assert (stored["owner_id"], stored["scope"]) == (caller.user_id, ["tasks.operate"])


@pytest.mark.parametrize(
    ("anns", "bobs", "status"),
    [
        pytest.param([{"prompt": "go", "owner_id": "bob"}], [], 403, id="set and given away at once"),
        pytest.param([{"prompt": "go"}, {"owner_id": "bob"}], [], 403, id="one after the other"),
        pytest.param([{"owner_id": "bob"}], [], 403, id="created, then given away"),
        pytest.param(
            [{"prompt": "go", "owner_id": "bob"}, {"name": "new"}], [], 403, id="and changed in its name"
        ),
        pytest.param(
            [{"prompt": "go", "owner_id": "bob"}],
            [{"owner_id": "cid"}],
            403,
            id="and given on by the new owner",
        ),
        pytest.param(
            [{"prompt": "go", "owner_id": "bob"}], [{"prompt": "look"}], 200, id="and set by the new owner"
        ),
    ],
)
async def test_who_has_set_a_prompt_does_not_approve_its_changes(
    tasks: Tasks, anns: list[dict[str, str]], bobs: list[dict[str, str]], status: int
) -> None:
    ann, caller = tasks.served.client(*OPERATOR, "config.deploy")
    (bob, bob_caller), (_, cid) = colleague(tasks, caller), colleague(tasks, caller)
    ids = {"bob": bob_caller.user_id, "cid": cid.user_id}
    path = f"{AGENTS}/{(await created(ann, AGENTS))['id']}"
    # As a version wrote it that did not know who had set it.
    await tasks.database.collection("tasks").update({}, {"$unset": {"set_by": ""}})
    for client, sent in [*((ann, one) for one in anns), *((bob, one) for one in bobs)]:
        (await client.put(path, {name: ids.get(value, value) for name, value in sent.items()})).expect()
    run = (await bob.post(f"{path}/run")).expect(202)
    parked = {"state": "approval_pending", "holds_task": True, "approved_by_others": True}
    await tasks.database.collection("executions").update({"_id": run["id"]}, {"$set": parked})
    assert (await ann.post(f"/api/tasks/executions/{run['id']}/approve")).status == status


async def test_the_creator_owns_a_task_whatever_a_copy_says(tasks: Tasks) -> None:
    ann, owner = tasks.served.client(*OPERATOR)
    _, other = colleague(tasks, owner)
    assert (await created(ann, owner_id=other.user_id, blocked=DELETED))["owner_id"] == owner.user_id


async def test_tasks_are_listed_by_whether_they_are_blocked(tasks: Tasks) -> None:
    ann, owner = tasks.served.client(*OPERATOR)
    bob, _ = colleague(tasks, owner)
    await created(ann, name="left behind")
    await created(bob, name="lives")
    tasks.set_user(owner.user_id, None)
    for wanted, names in (("true", ["left behind"]), ("false", ["lives"])):
        found = (await bob.get(f"{SCHEDULES}?blocked={wanted}")).expect()
        assert [one["name"] for one in found["tasks"]] == names
    assert_error(await bob.get(f"{SCHEDULES}?blocked=maybe"), 400, "blocked")


async def test_failed_devices_of_a_blocked_task_are_not_run_again(tasks: Tasks) -> None:
    ann, owner = tasks.served.client(*OPERATOR)
    bob, _ = colleague(tasks, owner)
    path = f"{SCHEDULES}/{(await created(ann))['id']}"
    run = (await bob.post(f"{path}/run")).expect(202)
    rows = tasks.database.collection("executions")
    await rows.update({"_id": run["id"]}, {"$set": {"state": "failed"}})
    result = {"execution_id": run["id"], "org_id": owner.org_id, "device_id": MISSING, "success": False}
    await tasks.database.collection("execution_results").insert({"_id": "r", "device_name": "sw1", **result})
    tasks.disable(owner.user_id)
    again = await bob.post(f"/api/tasks/executions/{run['id']}/retry-failed")
    assert_error(again, 409, f"The task is blocked: {DISABLED}")
