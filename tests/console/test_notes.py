"""The vault of the notes in the console."""

from uuid import uuid4

import pytest

from tests.console.site import Site
from tests.support.pages import Browser

NOTES = "/documents/notes"
PASSPHRASE, OTHER = "a long enough passphrase", "another long passphrase"
NOTE = {"name": "core", "category": "notes", "content_type": "text", "content": "the enable secret"}


@pytest.fixture
async def keeper(site: Site) -> Browser:
    """Of an organization of the test's own, who may do all with its vault."""
    return site.browser("docs.manage", "notes.read", "system.manage", org_id=str(uuid4()))


async def test_a_vault_is_locked_and_unlocked(keeper: Browser) -> None:
    page = await keeper.get(NOTES)
    assert {"Set"} == page.controls - {"Log out"}
    page = await keeper.post(f"{NOTES}/password", {"password": PASSPHRASE, "again": "x"}, status=400)
    assert "not the same" in page.text
    assert PASSPHRASE not in page.html
    await keeper.post(f"{NOTES}/password", {"password": PASSPHRASE, "again": PASSPHRASE})
    path = (await keeper.upload("/documents/new", NOTE, status=303)).headers["Location"]
    assert "the enable secret" in (await keeper.get(path)).text
    assert "Lock" in (await keeper.get(NOTES)).controls
    await keeper.post(f"{NOTES}/lock")
    page = await keeper.get(NOTES)
    assert page.links["core"] == path
    assert {"Unlock", "Change"} == page.controls - {"Log out"}
    page = await keeper.get(path)
    assert "The notes are locked" in page.text
    assert "secret" not in page.html
    for locked in (f"{path}/edit", f"{path}/content"):
        assert "secret" not in (await keeper.get(locked, status=403)).html
    page = await keeper.post(f"{NOTES}/unlock", {"password": OTHER}, status=400)
    assert "Wrong vault password" in page.text
    assert OTHER not in page.html
    page = await keeper.post(f"{NOTES}/unlock", {"password": PASSPHRASE})
    assert page.headers["Location"] == NOTES
    assert "the enable secret" in (await keeper.get(path)).text


async def test_a_note_that_is_typed_outlives_the_lock(keeper: Browser) -> None:
    await keeper.post(f"{NOTES}/password", {"password": PASSPHRASE, "again": PASSPHRASE})
    path = (await keeper.upload("/documents/new", NOTE, status=303)).headers["Location"]
    form = await keeper.get(f"{path}/edit")
    changed = {**NOTE, "_tag": form.all("input", name="_tag")[0].attributes["value"], "content": "changed"}
    await keeper.upload(f"{path}/edit", changed, status=303)
    (link,) = [href for text, href in (await keeper.get(path)).links.items() if text == "last change"]
    assert "+changed" in (await keeper.get(link)).text
    version = (await keeper.get(f"{path}/versions")).all("td")[0]
    assert version.text
    await keeper.post(f"{NOTES}/lock")
    assert "secret" not in (await keeper.get(link)).html
    for where, sent in (("/documents/new", NOTE), (f"{path}/edit", {**NOTE, "content": "typed"})):
        page = await keeper.upload(where, sent, status=403)
        assert "Vault is locked" in page.text
        assert page.all("textarea", name="content")[0].text == sent["content"]


async def test_the_passphrase_is_changed_with_the_old_one(keeper: Browser) -> None:
    await keeper.post(f"{NOTES}/password", {"password": PASSPHRASE, "again": PASSPHRASE})
    change = {"old_password": OTHER, "new_password": OTHER, "again": OTHER}
    page = await keeper.post(f"{NOTES}/password/change", change, status=400)
    assert OTHER not in page.html
    page = await keeper.post(f"{NOTES}/password/change", {**change, "old_password": ""}, status=400)
    assert "old_password: " in page.text
    await keeper.post(f"{NOTES}/password/change", {**change, "old_password": PASSPHRASE})
    await keeper.post(f"{NOTES}/lock")
    await keeper.post(f"{NOTES}/unlock", {"password": PASSPHRASE}, status=400)
    await keeper.post(f"{NOTES}/unlock", {"password": OTHER})


async def test_who_may_not_finds_no_control(site: Site, keeper: Browser) -> None:
    await keeper.post(f"{NOTES}/password", {"password": PASSPHRASE, "again": PASSPHRASE})
    await keeper.upload("/documents/new", NOTE, status=303)
    reader = site.browser("docs.read", "notes.read", org_id=keeper.caller.org_id)
    assert not (await reader.get(NOTES)).controls - {"Log out"}
    assert "core" in (await reader.get(NOTES)).links
    await keeper.post(f"{NOTES}/lock")
    assert not (await reader.get(NOTES)).controls - {"Log out"}
    for action in ("unlock", "lock", "password", "password/change"):
        await reader.post(f"{NOTES}/{action}", status=403)
    await site.browser("docs.manage").post(f"{NOTES}/password", status=403)


@pytest.mark.parametrize(
    "held", [pytest.param("docs.read", id="reader"), pytest.param("docs.manage", id="writer")]
)
async def test_who_may_not_read_notes_sees_neither_names_nor_contents(
    site: Site, keeper: Browser, held: str
) -> None:
    path = (await keeper.upload("/documents/new", NOTE, status=303)).headers["Location"]
    await keeper.upload(f"{path}/edit", {**NOTE, "content": "the new secret"}, status=303)
    other = site.browser(held, "devices.access", org_id=keeper.caller.org_id)
    page = await other.get(NOTES)
    assert "Only users with notes.read can read notes." in page.text
    for listed in (page, *[await other.get(where) for where in ("/documents", "/find?q=core")]):
        assert not {"core"} & set(listed.links)
    for where in ("", "/content", "/versions", "/diff", "/render"):
        assert "secret" not in (await other.get(f"{path}{where}", status=403)).html
    for action in ("edit", "delete"):
        await other.upload(f"{path}/{action}", NOTE, status=403)


async def test_a_writer_who_may_not_read_notes_writes_one(site: Site, keeper: Browser) -> None:
    writer = site.browser("docs.manage", org_id=keeper.caller.org_id)
    answer = await writer.upload("/documents/new", NOTE, status=303)
    assert answer.headers["Location"] == "/documents"
    assert "core" in (await keeper.get(NOTES)).links


async def test_wrong_passphrases_of_the_form_are_counted(keeper: Browser) -> None:
    await keeper.post(f"{NOTES}/password", {"password": PASSPHRASE, "again": PASSPHRASE})
    await keeper.post(f"{NOTES}/lock")
    for _ in range(10):
        await keeper.post(f"{NOTES}/unlock", {"password": OTHER}, status=400)
    page = await keeper.post(f"{NOTES}/unlock", {"password": PASSPHRASE}, status=429)
    assert "Too many failed attempts. Please try again later." in page.text
    assert int(page.headers["Retry-After"]) > 800
    change = {"old_password": PASSPHRASE, "new_password": OTHER, "again": OTHER}
    await keeper.post(f"{NOTES}/password/change", change, status=429)
