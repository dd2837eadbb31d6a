"""The pages of tasks: the list, one task, the editor with its preview, and what is done with a task."""

import pytest

from tests.console.site import Site
from tests.support.execution import eventually

NIGHTLY = {
    "name": "nightly",
    "task_type": "backup",
    "cron_expression": "30 2 * * *",
    "timezone": "Europe/Berlin",
    "parameters": {"device_filter": {"site": "Ulm"}, "of_a_plugin": [1, "<b>"]},
}
OPERATOR = ("tasks.operate", "devices.access")


async def _made(site: Site, **changed: object) -> str:
    created = await site.api().post("/api/tasks/schedules", {**NIGHTLY, **changed})
    return str(created.expect(201)["id"])


async def test_a_task_is_made_edited_and_deleted(site: Site) -> None:
    browser = site.browser(*OPERATOR)
    page = await browser.get("/tasks/new")
    assert {"Save", "Preview"} <= page.controls
    assert {"Name", "Task type", "Cron expression"} <= {label.text for label in page.all("label")}
    sent = {
        "name": "by <i>form</i>",
        "task_type": "backup",
        "cron_expression": "15  3 * * *",
        "timezone": "Europe/Berlin",
        "enabled": ["", "on"],
        "max_retries": "1",
        "retry_delay_seconds": "5",
        "timeout_seconds": "60",
        "parameters.backup.device_filter.site": "Ulm",
        "parameters.backup.device_filter.device_type": "",
        "parameters.backup": '{"extra": {"a": 1}}',
        "parameters.agent_task.prompt": "of another type",
    }
    made = await browser.post("/tasks/new", sent)
    path = made.headers["Location"]
    task = (await site.api().get(f"/api/tasks/schedules/{path.rsplit('/', 1)[1]}")).expect()
    assert task["name"] == "by <i>form</i>"
    assert task["enabled"] is True
    assert task["cron_expression"] == "15 3 * * *"
    assert task["max_retries"] == 1
    assert task["parameters"] == {"device_filter": {"site": "Ulm"}, "extra": {"a": 1}}
    assert task["owner_id"] == browser.caller.user_id

    page = await browser.get(f"{path}/edit")
    assert [
        one.attributes["value"] for one in page.all("input", name="parameters.backup.device_filter.site")
    ] == ["Ulm"]
    (tag,) = page.all("input", name="_tag")
    changed = {
        **sent,
        "_tag": tag.attributes["value"],
        "parameters.backup.device_filter.site": "",
        "enabled": "",
    }
    del changed["task_type"]
    await browser.post(f"{path}/edit", changed)
    task = (await site.api().get(f"/api/tasks/schedules/{path.rsplit('/', 1)[1]}")).expect()
    assert task["parameters"] == {"extra": {"a": 1}}
    assert task["enabled"] is False
    await browser.post(f"{path}/delete")
    await browser.get(path, status=404)


async def test_what_was_typed_stays_after_an_error_that_names_its_field(site: Site) -> None:
    browser = site.browser(*OPERATOR)
    sent = {"name": "kept", "task_type": "backup", "cron_expression": "1 2", "timezone": "Europe/Berlin"}
    sent["parameters.backup"] = '{"snapshot_name": 5}'
    page = await browser.post("/tasks/new", sent, status=400)
    assert "parameters.snapshot_name: Not a valid string" in page.text
    assert page.all("input", name="name")[0].attributes["value"] == "kept"
    assert '"snapshot_name": 5' in page.text
    assert "Europe/Berlin" in [one.text for one in page.all("option", selected="")]
    for wrong, complaint in (
        ({"parameters.backup": "{"}, "parameters: Not valid JSON"),
        ({"parameters.backup": "[]"}, "parameters: Not a JSON object"),
        ({"parameters.backup.snapshot_name": "x"}, "parameters.snapshot_name: It is in the JSON as well"),
        ({"max_retries": "many"}, "max_retries: Not a valid integer"),
        ({"task_type": "nothing"}, "task_type: must be one of"),
        ({"name": ""}, "name: Missing data for required field"),
        ({"parameters.backup": ""}, "cron_expression must have exactly five fields"),
    ):
        page = await browser.post("/tasks/new", {**sent, **wrong}, status=400)
        assert complaint in page.text


async def test_an_edit_does_not_undo_that_of_somebody_else(site: Site) -> None:
    browser, task_id = site.browser(*OPERATOR), await _made(site, name="two editors")
    page = await browser.get(f"/tasks/{task_id}/edit")
    tag = page.all("input", name="_tag")[0].attributes["value"]
    (await site.api().put(f"/api/tasks/schedules/{task_id}", {"max_retries": 9})).expect()
    sent = {"name": "mine", "cron_expression": "1 2 * * *", "timezone": "UTC", "_tag": tag}
    page = await browser.post(f"/tasks/{task_id}/edit", sent, status=412)
    assert "The record was changed while the form was open" in page.text
    assert page.all("input", name="name")[0].attributes["value"] == "mine"
    # Nor does a second try, of which the form is the answer to the first.
    assert page.all("input", name="_tag")[0].attributes["value"] == tag


async def test_who_changes_no_parameters_does_not_become_the_owner(site: Site) -> None:
    task_id = await _made(site, name="owned")
    other = site.browser(*OPERATOR, user_id="11111111-1111-4111-8111-111111111111")
    page = await other.get(f"/tasks/{task_id}/edit")
    fields = {
        one.attributes["name"]: one.attributes.get("value", "")
        for one in page.all("input")
        if "name" in one.attributes
    }
    fields |= {one.attributes["name"]: one.text for one in page.all("textarea")}
    await other.post(f"/tasks/{task_id}/edit", {**fields, "timezone": "UTC", "max_retries": "7"})
    task = (await site.api().get(f"/api/tasks/schedules/{task_id}")).expect()
    assert (task["max_retries"], task["timezone"]) == (7, "UTC")
    assert task["owner_id"] == site.admin.user_id
    assert task["parameters"] == NIGHTLY["parameters"]


@pytest.mark.parametrize("path", ["/tasks/preview", "/tasks/{}/preview"])
async def test_a_preview_saves_nothing(site: Site, path: str) -> None:
    browser = site.browser(*OPERATOR)
    task_id = await _made(site, name=f"previewed by {len(path)}")
    for name, place in (("in ulm", "Ulm"), ("in bonn", "Bonn")):
        body = {"name": f"{name} {len(path)}", "host": "192.0.2.1", "device_type": "cisco_ios", "site": place}
        (await site.api().post("/api/devices", body)).expect(201)
    before = (await site.api().get("/api/tasks/schedules?limit=100")).expect()
    sent = {
        "name": "",
        "task_type": "backup",
        "cron_expression": "30 2 29 3 *",
        "timezone": "Europe/Berlin",
        "parameters.backup.device_filter.site": "Ulm",
    }
    page = await browser.post(path.format(task_id), sent, status=200)
    assert sum("02:30" in row[0] or "03:00" in row[0] for row in page.rows) == 10
    assert f"in ulm {len(path)}" in page.links
    assert f"in bonn {len(path)}" not in page.links
    assert page.all("input", name="parameters.backup.device_filter.site")[0].attributes["value"] == "Ulm"
    page = await browser.post(path.format(task_id), {**sent, "timezone": "Mars/Olympus"}, status=400)
    assert "timezone must be UTC or an IANA name" in page.text
    assert (await site.api().get("/api/tasks/schedules?limit=100")).expect() == before


async def test_a_task_shows_when_it_runs_and_what_came_of_it(site: Site) -> None:
    browser, task_id = site.browser(*OPERATOR), await _made(site, name="shown")
    page = await browser.get(f"/tasks/{task_id}")
    assert page.heading == "shown"
    assert "Not run yet." in page.text
    assert "In Europe/Berlin" in page.text
    assert {"Run", "Disable"} <= page.controls
    assert page.links["Edit"] == f"/tasks/{task_id}/edit"
    run = await browser.post(f"/tasks/{task_id}/run")
    execution_id = run.headers["Location"].rsplit("/", 1)[1]
    page = await browser.get(f"/tasks/{task_id}")
    assert f"/executions/{execution_id}" in page.links.values()
    listed = await browser.get("/tasks?q=SHOWN")
    (row,) = listed.rows
    assert row[0] == "shown"
    assert f"/executions/{execution_id}" in listed.links.values()
    moved = await browser.post(f"/tasks/{task_id}/toggle", {"enabled": ""})
    assert moved.headers["Location"] == f"/tasks/{task_id}"
    assert [row[0] for row in (await browser.get("/tasks?q=shown&enabled=false")).rows] == ["shown"]
    assert (await browser.get("/tasks?q=shown&enabled=true")).rows == []
    assert "No task fits" in (await browser.get("/tasks?task_type=agent_task&q=shown")).text
    await browser.get("/tasks?task_type=typo", status=400)


async def test_agent_schedules_of_all_owners_are_listed(site: Site) -> None:
    other = site.browser("*", user_id="22222222-2222-4222-8222-222222222222")
    schedule = {"name": "agent of another", "prompt": "look around", "cron_expression": "0 6 * * *"}
    made = (await site.api(other).post("/api/tasks/agent-schedules", schedule)).expect(201)
    listed = await site.browser(*OPERATOR).get("/tasks?task_type=agent_task")
    assert [row[0] for row in listed.rows] == ["agent of another"]
    assert (await site.api().get("/api/tasks/agent-schedules")).expect()["total"] == 0
    assert (await site.api().get("/api/tasks/agent-schedules?scope=organization")).expect()["total"] == 1
    assert (await site.api().delete(f"/api/tasks/schedules/{made['id']}")).status == 204


async def test_a_task_whose_owner_is_gone_is_taken_over(site: Site) -> None:
    ann = {"username": "ann.left", "password": "a long enough passphrase", "roles": ["operator"]}
    owner = (await site.api().post("/api/users", ann)).expect(201)
    task_id = await _made(site, name="left behind")
    (await site.api().put(f"/api/tasks/schedules/{task_id}", {"owner_id": owner["id"]})).expect()
    browser = site.browser(*OPERATOR)
    page = await browser.get(f"/tasks/{task_id}")
    assert "blocked" not in page.text
    assert "Take over" not in page.controls
    (await site.api().put(f"/api/users/{owner['id']}", {"is_active": False})).expect()

    page = await browser.get(f"/tasks/{task_id}")
    assert "The task is blocked: owner disabled." in page.text
    (row,) = (await browser.get("/tasks?blocked=true")).rows
    assert row[0] == "left behind"
    assert "blocked: owner disabled" in row[4]
    assert (await browser.get("/")).links["1blocked task"] == "/tasks?blocked=true"
    page = await browser.post(f"/tasks/{task_id}/run", status=409)
    assert "The task is blocked: owner disabled" in page.text

    async def audited() -> int:
        path = f"/api/audit?action=task_blocked&resource_id={task_id}"
        return int((await site.api().get(path)).expect()["total"])

    await eventually(audited)

    taken = await browser.post(f"/tasks/{task_id}/take-over")
    assert taken.headers["Location"] == f"/tasks/{task_id}"
    page = await browser.get(f"/tasks/{task_id}")
    assert "blocked" not in page.text
    task = (await site.api().get(f"/api/tasks/schedules/{task_id}")).expect()
    assert (task["owner_id"], task["blocked"]) == (browser.caller.user_id, None)
    assert (await browser.get("/tasks?blocked=true")).rows == []
    assert (await site.api().delete(f"/api/users/{owner['id']}")).status == 204


async def test_tasks_of_others_are_out_of_reach(site: Site) -> None:
    task_id = await _made(site, name="guarded")
    stranger = site.browser(*OPERATOR, org_id="99999999-9999-4999-8999-999999999999")
    viewer = site.browser("devices.access")
    for path in (f"/tasks/{task_id}", f"/tasks/{task_id}/edit", "/tasks/nonsense"):
        await stranger.get(path, status=404)
    for action in ("run", "toggle", "delete", "edit", "preview", "take-over"):
        await stranger.post(f"/tasks/{task_id}/{action}", {"enabled": "on"}, status=404)
        await viewer.post(f"/tasks/{task_id}/{action}", {"enabled": "on"}, status=403)
    for path in ("/tasks", "/tasks/new", f"/tasks/{task_id}", f"/tasks/{task_id}/edit"):
        await viewer.get(path, status=403)
    assert (await stranger.get("/tasks")).rows == []
    assert "There is no task yet" in (await stranger.get("/tasks")).text
    page = await site.browser("tasks.operate").get(f"/tasks/{task_id}")
    assert "Devices matched now" not in page.text
