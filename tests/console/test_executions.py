"""The pages of executions: the list, one of them with its results, its log by pages and by number."""

from typing import get_args

from netautod.automation.executions.records.result_store import UNKNOWN_KIND
from netautod.console.runs.advice import ADVICE, PLACES
from netautod.transport.ssh.failures import FailureKind
from tests.console import seeding
from tests.console.site import Site
from tests.support.pages import LoadedPage

LIVE = {"X-Live": "1"}
STRANGER = "99999999-9999-4999-8999-999999999999"


def numbers(page: LoadedPage) -> list[int]:
    return [int(one.attributes["data-seq"]) for one in page.all("div") if "data-seq" in one.attributes]


def test_every_kind_of_failure_has_its_advice() -> None:
    assert set(ADVICE) == {*get_args(FailureKind), UNKNOWN_KIND}
    assert {id(one.place) for one in ADVICE.values()} == {id(one) for one in PLACES.values()}


async def test_executions_are_listed_filtered_and_paged(site: Site) -> None:
    browser = site.browser("tasks.operate")
    of = seeding.task(site, name="listed <b>")
    for number in range(52):
        await seeding.execution(site, of, state="failed" if number else "completed", retry_count=2)
    page = await browser.get(f"/executions?task_id={of.id}")
    assert len(page.rows) == 50
    assert "1 to 50 of 52" in page.text
    assert page.rows[0][1:3] == ["listed <b>", "backup"]
    assert page.rows[0][-3:-1] == ["1 min 15 s", "3"]
    page = await browser.get(page.links["Next"])
    assert len(page.rows) == 2
    assert "51 to 52 of 52" in page.text
    page = await browser.get(f"/executions?task_id={of.id}&state=completed&q=&since=")
    assert len(page.rows) == 1
    assert len((await browser.get("/executions?q=LISTED+%3Cb")).rows) == 50
    assert "No execution fits" in (await browser.get("/executions?until=2020-01-01T00:00Z")).text
    assert "since" in (await browser.get("/executions?since=yesterday", status=400)).text
    await site.browser("devices.access").get("/executions", status=403)
    assert (await site.browser("tasks.operate", org_id=STRANGER).get("/executions")).rows == []


async def test_many_are_cancelled_at_once(site: Site) -> None:
    browser = site.browser("tasks.operate")
    ones = [await seeding.execution(site, state="running") for _ in range(3)]
    ended = await seeding.execution(site)
    page = await browser.get("/executions?state=running")
    assert {one.attributes["value"] for one in page.all("input", name="execution_id")} >= set(ones)
    answer = await browser.post("/executions/cancel?state=running", {"execution_id": [*ones[:2], ended]})
    assert answer.headers["Location"] == "/executions?state=running"
    states = [(await site.api().get(f"/api/tasks/executions/{one}")).expect()["state"] for one in ones]
    assert states == ["cancelled", "cancelled", "running"]
    await browser.post("/executions/cancel", status=400)
    await browser.post("/executions/cancel", {"execution_id": [ended]}, status=409)
    other = site.browser("tasks.operate", org_id=STRANGER)
    await other.post("/executions/cancel", {"execution_id": ones[2:]}, status=409)
    await site.browser("devices.access").post("/executions/cancel", {"execution_id": ones}, status=403)


async def test_an_execution_shows_what_came_of_each_device(site: Site) -> None:
    one = await seeding.execution(
        site,
        error_message="3 of 55 devices failed",
        output={"snapshot_name": "<i>", "results": []},
        attempts=[{"number": 1, "started_at": seeding.START, "node": "node-a", "outcome": "failed"}],
    )
    failed = [
        seeding.failure("r-auth", "auth", "login <refused>"),
        seeding.failure("r-key", "host_key"),
        seeding.failure("r-odd", None),
    ]
    await seeding.results(site, one, [*failed, *(seeding.success(f"s-{n:02}") for n in range(52))])
    browser = site.browser("tasks.operate", "devices.access", "credentials.manage")
    page = await browser.get(f"/executions/{one}")
    assert page.heading == "nightly"
    assert "3 of 55 devices failed" in page.text
    assert {"52 succeeded", "3 failed"} <= {badge.text for badge in page.all("span")}
    assert "login <refused>" in page.text
    assert "node-a" in page.text
    assert '"snapshot_name": "<i>"' in page.text
    assert page.links["Credentials"] == "/credentials"
    assert page.links["changed"].endswith("/diff?old_version=3&new_version=4")
    assert page.links["Host key"] == f"/devices/{failed[1].device_id}#host-key"
    assert {"Retry failed"} <= page.controls
    assert "Cancel" not in page.controls
    assert "1 to 50 of 55" in page.text
    assert "51 to 55 of 55" in (await browser.get(page.links["Next"])).text
    (row,) = [row for row in (await browser.get(page.links["Login refused"])).rows if row[0] == "r-auth"]
    assert row[1:3] == ["Login refused", "login <refused>"]
    only = await browser.get(f"/executions/{one}?error_kind=unknown")
    assert "r-odd" in only.text
    assert "r-auth" not in only.text
    assert "r-odd" not in (await browser.get(f"/executions/{one}?success=true")).text
    page = await site.browser("tasks.operate").get(f"/executions/{one}")
    assert "Host key" not in page.links
    assert "r-key" not in page.links
    for path in (f"/executions/{one}", f"/executions/{one}/log", "/executions/nonsense"):
        await site.browser("tasks.operate", org_id=STRANGER).get(path, status=404)
    for path in (f"/executions/{one}", f"/executions/{one}/log"):
        await site.browser("devices.access").get(path, status=403)


async def test_what_failed_is_tried_again(site: Site) -> None:
    browser = site.browser("tasks.operate", "devices.access")
    body = {"name": "again", "task_type": "backup", "cron_expression": "1 2 * * *", "enabled": False}
    made = (await site.api().post("/api/tasks/schedules", body)).expect(201)
    of = seeding.task(site, id=made["id"], name="again")
    good, bad = await seeding.execution(site, of), await seeding.execution(site, of)
    await seeding.results(site, good, [seeding.success("s")])
    await seeding.results(site, bad, [seeding.failure("f", "timeout"), seeding.success("s")])
    answer = await browser.post(f"/executions/{bad}/retry-failed")
    again = (await site.api().get(f"/api/tasks{answer.headers['Location']}")).expect()
    assert again["retry_of"] == bad
    assert f"/executions/{bad}" in (await browser.get(answer.headers["Location"])).links.values()
    page = await browser.post(f"/executions/{good}/retry-failed", status=409)
    assert "No device of the execution failed" in page.text
    assert page.heading == "again"
    assert "Retry failed" not in page.controls
    await site.browser("devices.access").post(f"/executions/{bad}/retry-failed", status=403)


async def test_a_run_is_cancelled_once(site: Site) -> None:
    browser, one = site.browser("tasks.operate"), await seeding.execution(site, state="running")
    page = await browser.get(f"/executions/{one}")
    assert "Cancel" in page.controls
    assert "Retry failed" not in page.controls
    await browser.post(f"/executions/{one}/cancel")
    page = await browser.post(f"/executions/{one}/cancel", status=409)
    assert "has ended already: cancelled" in page.text
    await site.browser("devices.access").post(f"/executions/{one}/cancel", status=403)


async def test_a_log_is_read_by_number_and_by_page(site: Site) -> None:
    browser, one = site.browser("tasks.operate"), await seeding.execution(site, state="running")
    await seeding.log(site, one, 1, 250)
    page = await browser.get(f"/executions/{one}")
    assert numbers(page) == list(range(51, 251))
    assert "line <250>" in page.text
    (tail,) = page.all("div", id="log")
    assert (tail.attributes["data-after"], tail.attributes["data-complete"]) == ("250", "false")
    assert numbers(await browser.get(f"/executions/{one}", headers=LIVE)) == []
    await seeding.log(site, one, 251, 1300)
    address = f"{tail.attributes['data-log']}?after_seq=250&limit=1000"
    news = await browser.get(address, headers=LIVE)
    assert numbers(news) == list(range(251, 1251))
    (lines,) = news.all("div", id="lines")
    assert (lines.attributes["data-after"], lines.attributes["data-complete"]) == ("1250", "false")
    page = await browser.get(page.links["All lines"])
    assert numbers(page) == list(range(1, 1001))
    page = await browser.get(page.links["Next"])
    assert numbers(page) == list(range(1001, 1301))
    assert "Next" not in page.links
    await browser.post(f"/executions/{one}/cancel")
    end = await browser.get(f"/executions/{one}/log?after_seq=1301", headers=LIVE)
    (lines,) = end.all("div", id="lines")
    assert (lines.attributes["data-after"], lines.attributes["data-complete"]) == ("1301", "true")


async def test_a_log_is_narrowed_by_level_and_device(site: Site) -> None:
    browser, one = site.browser("tasks.operate"), await seeding.execution(site)
    device = seeding.failure("r", None).device_id
    await seeding.log(site, one, 1, 300)
    await seeding.log(site, one, 301, 301, level="warning", device_id=device)
    await seeding.log(site, one, 302, 302, level="error")
    await seeding.log(site, one, 303, 700)
    for path in (f"/executions/{one}", f"/executions/{one}/log"):
        assert numbers(await browser.get(f"{path}?level=warning")) == [301, 302]
        assert numbers(await browser.get(f"{path}?level=error&device_id=")) == [302]
        assert numbers(await browser.get(f"{path}?device_id={device}")) == [301]
    page = await browser.get(f"/executions/{one}?level=error")
    assert page.all("div", id="log")[0].attributes["data-log"] == f"/executions/{one}/log?level=error"
