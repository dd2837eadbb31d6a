"""Pages of documents: contents as text, edits that lose nothing, versions, templates."""

from typing import Any
from uuid import uuid4

import pytest

from tests.console.site import Site
from tests.support.pages import Browser, LoadedPage

HOSTILE = "<img src=x onerror=alert(1)> **bold** {{ 7*7 }}"
TEXT = {"name": "plan", "category": "outputs", "content_type": "text", "content": "first\n  second\n"}


@pytest.fixture
async def writer(site: Site) -> Browser:
    """Of an organization of the test's own."""
    return site.browser("docs.manage", org_id=str(uuid4()))


async def made(site: Site, browser: Browser, **fields: Any) -> str:
    """The path of the document's page."""
    document = (await site.api(browser).post("/api/docs", {**TEXT, **fields})).expect(201)
    return f"/documents/{document['id']}"


async def stored(site: Site, browser: Browser, path: str) -> Any:
    return (await site.api(browser).get(f"/api/docs/{path.rpartition('/')[2]}")).expect()


def content(page: LoadedPage) -> str:
    (found,) = page.all("pre", aria_label="Content")
    return "".join(found.texts).removeprefix("\n")


def typed(page: LoadedPage, name: str = "content") -> str:
    return "".join(page.all("textarea", name=name)[0].texts).removeprefix("\n").replace("\r\n", "\n")


def fields_of(page: LoadedPage, **changed: str) -> dict[str, str]:
    """The form as a browser would send it."""
    inputs = {name: page.all("input", name=name)[0].attributes["value"] for name in ("_tag", "name")}
    chosen = {
        name: next(
            each.attributes["value"]
            for each in page.elements[page.elements.index(page.all("select", name=name)[0]) :]
            if each.tag == "option" and "selected" in each.attributes
        )
        for name in ("category", "content_type")
    }
    return {**inputs, **chosen, "content": typed(page), "parent_folder": "", **changed}


async def test_documents_are_listed_and_found(site: Site, writer: Browser) -> None:
    page = await writer.get("/documents")
    assert "There is no document yet" in page.text
    path = await made(site, writer, name=HOSTILE, content_type="markdown", parent_folder="a & b")
    for name in ("Backup 07", "Backup 08"):
        await made(site, writer, name=name, category="backups")
    page = await writer.get("/documents?limit=2")
    assert [row[0] for row in page.rows] == ["Backup 07", "Backup 08"]
    page = await writer.get(page.links["Next"])
    assert [row[0] for row in page.rows] == [HOSTILE]
    assert page.links[HOSTILE] == path
    for query, found in (
        ("q=ONERROR&category=&content_type=", [HOSTILE]),
        ("q=p+07", ["Backup 07"]),
        ("q=.*", []),
        ("content_type=markdown", [HOSTILE]),
        ("category=outputs&q=bold", [HOSTILE]),
        ("parent_folder=a+%26+b", [HOSTILE]),
    ):
        page = await writer.get(f"/documents?{query}")
        assert [row[0] for row in page.rows] == found, query
    assert "No document fits" in (await writer.get("/documents?q=none")).text


async def test_a_content_is_shown_as_text(site: Site, writer: Browser) -> None:
    text = f"\n# {HOSTILE}\n\n\tindented\n</pre><script>alert(2)</script>\n"
    path = await made(site, writer, content=text, content_type="markdown")
    page = await writer.get(path)
    assert content(page) == text
    assert not page.all("img")
    assert [each.attributes.get("type") for each in page.all("script")] == ["module"]
    path = await made(site, writer, content="x" * 300_000)
    page = await writer.get(path)
    assert "37,856 more characters are not shown here" in page.text
    page = await writer.get(f"{path}/content")
    assert page.html == "x" * 300_000
    assert page.headers["Content-Disposition"].startswith("attachment")


async def test_a_document_is_written_and_the_form_is_never_lost(site: Site, writer: Browser) -> None:
    assert (await writer.get("/documents/new")).heading == "New document"
    sent = {**TEXT, "name": "", "content": HOSTILE}
    page = await writer.upload("/documents/new", sent, status=400)
    assert "name: " in page.text
    assert typed(page) == HOSTILE
    page = await writer.upload("/documents/new", {**sent, "name": HOSTILE}, status=303)
    path = page.headers["Location"]
    page = await writer.get(path)
    assert (page.heading, content(page)) == (HOSTILE, HOSTILE)
    page = await writer.upload("/documents/new", {**sent, "name": "x", "content": ""}, status=303)
    assert (await stored(site, writer, page.headers["Location"]))["content"] == ""


async def test_an_edit_changes_what_was_changed_in_the_form(site: Site, writer: Browser) -> None:
    path = await made(site, writer, content="a\r\nb\r\n", parent_folder="here")
    page = await writer.get(f"{path}/edit")
    assert typed(page) == "a\nb\n"
    await writer.upload(f"{path}/edit", fields_of(page, name="renamed"), status=303)
    now = await stored(site, writer, path)
    assert (now["name"], now["content"], now["parent_folder"]) == ("renamed", "a\r\nb\r\n", None)
    page = await writer.get(f"{path}/edit")
    await writer.upload(f"{path}/edit", fields_of(page), status=303)
    assert (await stored(site, writer, path))["updated_at"] == now["updated_at"]
    await writer.upload(f"{path}/edit", fields_of(page, content=""), status=303)
    assert (await stored(site, writer, path))["content"] == ""
    page = await writer.get(f"{path}/edit")
    page = await writer.upload(f"{path}/edit", fields_of(page, name=" ", content="kept"), status=400)
    assert "name: " in page.text
    assert typed(page) == "kept"


async def test_nobodys_edit_is_lost(site: Site, writer: Browser) -> None:
    path = await made(site, writer)
    form = await writer.get(f"{path}/edit")
    await writer.upload(f"{path}/edit", fields_of(form, content="theirs"), status=303)
    page = await writer.upload(f"{path}/edit", fields_of(form, content="mine"), status=412)
    assert "was changed while the form was open" in page.text
    assert typed(page) == "mine"
    assert (await stored(site, writer, path))["content"] == "theirs"
    page = await writer.upload(f"{path}/delete", {"_tag": fields_of(form)["_tag"]}, status=412)
    page = await writer.upload(f"{path}/edit", fields_of(form, content="mine"), status=412)
    await writer.upload(f"{path}/edit", fields_of(page), status=303)
    assert (await stored(site, writer, path))["content"] == "mine"
    page = await writer.get(f"{path}/versions")
    assert len(page.rows) == 2
    page = await writer.get(path)
    await writer.upload(
        f"{path}/delete", {"_tag": page.all("input", name="_tag")[0].attributes["value"]}, status=303
    )
    await writer.get(path, status=404)


async def test_versions_are_shown_compared_and_restored(site: Site, writer: Browser) -> None:
    path = await made(site, writer, content="one\nsame\n")
    assert "No changes since it was created" in (await writer.get(f"{path}/versions")).text
    await writer.get(f"{path}/diff", status=404)
    api, own = site.api(writer), f"/api/docs/{path.rpartition('/')[2]}"
    for text in ("<b>two</b>\nsame\n", "three\nsame\n"):
        (await api.put(own, {"content": text})).expect()
    versions = (await api.get(f"{own}/versions")).expect()
    page = await writer.get(f"{path}/versions")
    assert len(page.rows) == 2
    page = await writer.get(page.links["Diff"])
    assert [each.text for each in page.all("span", class_="removed")] == ["-<b>two</b>"]
    assert [each.text for each in page.all("span", class_="added")] == ["+three"]
    page = await writer.get(f"{path}/diff?old={versions[1]['id']}&new={versions[0]['id']}")
    assert [each.text for each in page.all("span", class_="added")] == ["+<b>two</b>"]
    one = f"{path}/versions/{versions[1]['id']}"
    page = await writer.get(one)
    assert content(page) == "one\nsame\n"
    await writer.post(f"{one}/restore")
    assert (await stored(site, writer, path))["content"] == "one\nsame\n"
    other = await made(site, writer)
    await writer.get(f"{other}/versions/{versions[1]['id']}", status=404)
    await writer.get(f"{other}/diff?old={versions[1]['id']}", status=404)
    await writer.post(f"{other}/versions/{versions[1]['id']}/restore", status=404)


async def test_contents_that_are_too_large_are_not_compared(site: Site, writer: Browser) -> None:
    path = await made(site, writer, content="\n" * 200_001)
    (await site.api(writer).put(f"/api/docs/{path.rpartition('/')[2]}", {"content": "x"})).expect()
    page = await writer.get(f"{path}/diff")
    assert "too large to be compared" in page.text


async def test_a_template_is_rendered_with_variables(site: Site, writer: Browser) -> None:
    path = await made(site, writer, content_type="jinja", content="hostname {{ name }}\n{{ 1 / zero }}\n")
    page = await writer.get(path)
    page = await writer.get(page.links["Render"])
    page = await writer.post(f"{path}/render", {"variables": '{"name": }'}, status=400)
    assert "variables: Not valid JSON: " in page.text
    assert typed(page, "variables") == '{"name": }'
    variables = '{"name": "<b>core</b>", "zero": 0}'
    page = await writer.post(f"{path}/render", {"variables": variables}, status=200)
    assert "line 2: " in page.text
    assert typed(page, "variables") == variables
    page = await writer.post(f"{path}/render", {"variables": variables.replace("0", "1")}, status=200)
    (output,) = page.all("pre", aria_label="Output")
    assert output.text == "hostname <b>core</b> 1.0"
    sent = {"variables": '{"zero": 1}', "strict": "on"}
    page = await writer.post(f"{path}/render", sent, status=200)
    assert "line 1: 'name' is undefined" in page.text
    (box,) = page.all("input", type="checkbox", name="strict")
    assert "checked" in box.attributes
    page = await writer.post(f"{path}/render", {**sent, "strict": ""}, status=200)
    assert "'name' is undefined" not in page.text
    text = await made(site, writer)
    assert "Render" not in (await writer.get(text)).links
    await writer.get(f"{text}/render", status=400)


async def test_who_may_only_read_finds_no_control(site: Site, writer: Browser) -> None:
    path = await made(site, writer, content_type="jinja")
    nobody = site.browser("devices.access", org_id=writer.caller.org_id)
    assert "Documents" not in (await nobody.get("/devices")).links
    for page_path in ("/documents", path, f"{path}/content", f"{path}/versions", f"{path}/render"):
        await nobody.get(page_path, status=403)
    await nobody.post(f"{path}/render", {"variables": "{}"}, status=403)
    reader = site.browser("docs.read", org_id=writer.caller.org_id)
    page = await reader.get("/documents")
    assert page.links["Documents"] == "/documents"
    assert "New document" not in page.links
    page = await reader.get(path)
    assert not page.controls - {"Log out"}
    assert not {"Edit", "who changed it"} & set(page.links)
    await reader.post(f"{path}/render", {"variables": "{}"}, status=200)
    for page_path in ("/documents/new", f"{path}/edit"):
        await reader.get(page_path, status=403)
        await reader.upload(page_path, TEXT, status=403)
    await reader.post(f"{path}/delete", status=403)
    stranger = site.browser("docs.manage", org_id=str(uuid4()))
    for page_path in (path, f"{path}/edit", f"{path}/versions", f"{path}/diff", f"{path}/render"):
        await stranger.get(page_path, status=404)
    await stranger.post(f"{path}/delete", status=404)
    await stranger.get("/documents/no-id", status=404)
