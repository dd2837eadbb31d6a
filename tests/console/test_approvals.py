"""The page of approvals: exactly what is asked for, who may decide, and what a decision does."""

from datetime import timedelta

from tests.console import seeding
from tests.console.site import Site

LINES = ["interface Gi1", " description <b>x</b>", "no\u202eshut"]
OTHER = "11111111-1111-4111-8111-111111111111"
STRANGER = "99999999-9999-4999-8999-999999999999"


async def parked(site: Site, name: str, *, days: int = 1, **fields: object) -> str:
    request = {
        "text": "Send three lines",
        "lines": LINES,
        "devices": [{"id": OTHER, "name": "core-1"}],
        "hash": "of-these",
    }
    return await seeding.execution(
        site,
        seeding.task(site, name=name),
        state="approval_pending",
        holds_task=True,
        approval_request=request,
        approval_expires_at=seeding.FAR - timedelta(days=10 - days),
        **fields,
    )


async def test_what_expires_first_is_first_with_its_exact_lines(site: Site) -> None:
    approver = site.browser("tasks.operate", "config.deploy")
    assert "Nothing waits for an approval" in (await approver.get("/approvals")).text
    for name, days in (("later", 3), ("sooner", 1), ("last", 5)):
        await parked(site, name, days=days)
    page = await approver.get("/approvals")
    assert [head.text for head in page.all("h2")] == ["sooner", "later", "last"]
    assert "3 pending approvals" in page.text
    assert "admin" in page.text
    assert "core-1" in page.text
    (shown, *_) = page.all("pre")
    assert "".join(shown.texts) == "interface Gi1\n description <b>x</b>\nno\\u202eshut\n"
    assert {"Approve", "Reject"} <= page.controls
    assert "Comment" in {label.text for label in page.all("label")}
    viewer = await site.browser("tasks.operate").get("/approvals")
    assert "Approve" not in viewer.controls
    assert "config.deploy" in viewer.text
    assert (await site.browser("tasks.operate", org_id=STRANGER).get("/approvals")).all("h2") == []
    await site.browser("config.deploy").get("/approvals", status=403)


async def test_a_decision_is_made_once_with_a_comment(site: Site) -> None:
    approver = site.browser("tasks.operate", "config.deploy")
    approved, rejected = await parked(site, "approved"), await parked(site, "rejected")
    sent = {"comment": "go <on>", "hash": "of-these", "from": "approvals"}
    page = await approver.post(f"/executions/{approved}/approve", {**sent, "hash": "of others"}, status=409)
    assert "asks for something else by now" in page.text
    assert page.all("input", name="comment")[0].attributes["value"] == "go <on>"
    answer = await approver.post(f"/executions/{approved}/approve", sent)
    assert answer.headers["Location"] == "/approvals"
    answer = await approver.post(f"/executions/{rejected}/reject", {"hash": "of-these"})
    assert answer.headers["Location"] == f"/executions/{rejected}"
    heads = [head.text for head in (await approver.get("/approvals")).all("h2")]
    assert "approved" not in heads
    assert "rejected" not in heads
    page = await approver.get(f"/executions/{approved}")
    assert "approved by admin" in page.text
    assert "go <on>" in page.text
    page = await approver.post(f"/executions/{rejected}/approve", sent, status=409)
    assert "not waiting for an approval" in page.text
    viewer = site.browser("tasks.operate")
    for action in ("approve", "reject"):
        await viewer.post(f"/executions/{approved}/{action}", sent, status=403)
        stranger = site.browser("tasks.operate", "config.deploy", org_id=STRANGER)
        await stranger.post(f"/executions/{approved}/{action}", sent, status=404)


async def test_who_may_not_decide_the_own_request_sees_why(site: Site) -> None:
    one = await parked(site, "own", approved_by_others=True, requested_by=OTHER)
    requester = site.browser("tasks.operate", "config.deploy", user_id=OTHER)
    for path in ("/approvals", f"/executions/{one}"):
        assert "Another user has to decide: you started this run" in (await requester.get(path)).text
    await requester.post(f"/executions/{one}/approve", {"hash": "of-these"}, status=403)
    third = site.browser("tasks.operate", "config.deploy", user_id=STRANGER)
    assert {"Approve", "Reject"} <= (await third.get(f"/executions/{one}")).controls
    await third.post(f"/executions/{one}/reject", {"hash": "of-these"})
