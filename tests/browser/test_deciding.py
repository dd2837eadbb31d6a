"""What approvers and administrators do: decide, import, write documents, reveal secrets, manage people."""

from uuid import uuid4

from playwright.async_api import expect

from tests.browser.people import People, log_in
from tests.browser.test_login import AT_LOGIN
from tests.browser.world import (
    ADMINISTRATOR,
    APPROVER,
    NEW_COMMUNITY,
    OPERATOR,
    PASSWORD,
    VIEWER,
    World,
    asking,
)

PASSPHRASE = "correct horse battery staple of the notes"


async def test_a_change_is_approved_with_a_comment_and_another_rejected(people: People, world: World) -> None:
    """The page has the exact lines, the device, who asks and until when."""
    page = await people.page(APPROVER)
    for button, decision in (("Approve", "approved"), ("Reject", "rejected")):
        name, comment = f"change {uuid4().hex[:6]}", f"as agreed {uuid4().hex[:6]}"
        execution = await asking(world, name)
        await page.goto("/approvals")
        card = page.get_by_role("region", name=name)
        for text in ("switchport access vlan 20", "core-1", "admin"):
            await expect(card).to_contain_text(text)
        await card.get_by_label("Comment", exact=True).fill(comment)
        await card.get_by_role("button", name=button, exact=True).click()
        await expect(page.get_by_role("note")).to_be_visible()
        ended = await world.admin.ended(execution, seconds=60)
        assert ended["output"] == {"decision": decision, "comment": comment}
        await page.goto(f"/executions/{execution}")
        await expect(page.get_by_role("region", name="Log")).to_contain_text(
            f"{decision} by {APPROVER}: {comment}"
        )


async def test_an_operator_who_may_decide_sees_the_buttons_and_a_viewer_no_such_page(
    people: People, world: World
) -> None:
    page = await people.open(VIEWER, "/")
    for name in ("Tasks", "Executions", "Approvals", "Users", "Credentials", "Audit"):
        await expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    with people.browsing.faults.expected("status at .*/approvals: GET 403"):
        await page.goto("/approvals")
        await expect(page.locator("main")).to_contain_text("equest")
    await page.goto(f"/devices/{world.ids['core-1']}")
    for name in ("Pull config", "Run command", "Edit", "Delete"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
        await expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)


async def test_an_import_is_checked_first_and_then_done(people: People, world: World) -> None:
    name = f"imported-{uuid4().hex[:6]}"
    rows = f"name,host,device_type\n{name},192.0.2.99,cisco_ios\n{name}-bad,not a host,cisco_ios\n"
    page = await people.open(OPERATOR, "/inventory")
    await page.get_by_role("link", name="Import devices", exact=True).first.click()
    await page.locator("main textarea[name=text]").fill(rows)
    await page.get_by_role("button", name="Check", exact=True).click()
    errors = page.get_by_role("region", name="Errors by row")
    await expect(errors).to_contain_text(f"{name}-bad")
    found = await world.admin.read(f"/api/devices?q={name}")
    assert found["total"] == 0
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(page.locator("main")).to_contain_text("Imported")
    found = await world.admin.read(f"/api/devices?q={name}")
    assert [device["name"] for device in found["devices"]] == [name]


async def test_a_document_is_written_changed_and_compared(people: People) -> None:
    name = f"manual {uuid4().hex[:6]}"
    page = await people.open(OPERATOR, "/documents/new")
    await page.get_by_label("Name", exact=True).fill(name)
    await page.get_by_label("Category", exact=True).select_option("mops")
    await page.get_by_label("Content", exact=True).fill("first text\n")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    await page.get_by_role("link", name="Edit", exact=True).click()
    await page.get_by_label("Content", exact=True).fill("second text\n")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.locator("main")).to_contain_text("second text")
    await page.get_by_role("link", name="last change", exact=True).click()
    for text in ("first text", "second text"):
        await expect(page.locator("main")).to_contain_text(text)
    await page.goto(f"/documents?q={name}")
    await expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


async def test_the_vault_of_notes_is_locked_and_unlocked(people: People, world: World) -> None:
    """In an organization of its own: a passphrase cannot be taken back."""
    page = await people.open("emma", "/documents/notes")
    await page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    await page.get_by_label("Passphrase again", exact=True).fill(PASSPHRASE)
    await page.get_by_role("button", name="Set", exact=True).click()
    await page.get_by_role("button", name="Lock", exact=True).click()
    await expect(page.locator("main")).to_contain_text("locked")
    with people.browsing.faults.expected("status at .*unlock: POST 4"):
        await page.get_by_label("Passphrase", exact=True).fill("not the passphrase")
        await page.get_by_role("button", name="Unlock", exact=True).click()
        await expect(page.get_by_role("alert")).to_be_visible()
    await page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    await page.get_by_role("button", name="Unlock", exact=True).click()
    await expect(page.get_by_role("button", name="Lock", exact=True)).to_be_visible()


async def test_secrets_are_revealed_to_who_may_see_them_and_it_is_in_the_audit(
    people: People, world: World
) -> None:
    path = f"/configs/{world.ids['core-1']}/2"
    page = await people.open(VIEWER, path)
    await expect(page.locator("main")).to_contain_text("snmp-server community")
    await expect(page.locator("main")).not_to_contain_text(NEW_COMMUNITY)
    await expect(page.get_by_role("button", name="Reveal secrets")).to_have_count(0)
    page = await people.open(ADMINISTRATOR, path)
    await expect(page.locator("main")).not_to_contain_text(NEW_COMMUNITY)
    await page.get_by_role("button", name="Reveal secrets", exact=True).click()
    await expect(page.locator("main")).to_contain_text(NEW_COMMUNITY)
    assert "secrets" not in page.url
    events = (await world.admin.read("/api/audit?limit=20"))["events"]
    assert any("secret" in f"{event}" and event["actor_name"] == ADMINISTRATOR for event in events)


async def test_a_user_gets_a_role_and_loses_the_session(people: People, world: World) -> None:
    """The administrator makes the user and ends the session; the user is led to the login."""
    name = f"nora-{uuid4().hex[:6]}"
    page = await people.open(ADMINISTRATOR, "/users")
    await page.get_by_role("link", name="New user", exact=True).click()
    await page.get_by_label("Username of the new user", exact=True).fill(name)
    await page.get_by_label("Password of the new user", exact=True).fill(PASSWORD)
    await page.get_by_label("operator", exact=True).check()
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text(name)

    other = await people.browsing.page()
    await other.goto("/login?next=/executions")
    await log_in(other, name)
    await expect(other.get_by_role("heading", level=1)).to_have_text("Executions")
    await page.reload()
    with people.browsing.faults.expected("status at .*/executions: GET 401"):
        await page.get_by_role("button", name="End all sessions", exact=True).click()
        # The page looks for news by itself: nobody clicks.
        await expect(other).to_have_url(AT_LOGIN)
