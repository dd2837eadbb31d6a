"""Every page that prints texts of devices, models, directories and users shows what hides in them."""

import re

import pytest

from tests.console import seeding
from tests.console.seeds import device
from tests.console.site import Site
from tests.console.stored import stored

BIDI = "ev\u202eil\u200b"
SHOWN = r"ev\u202eil\u200b"
# Of a device or a model; names of users' own have no controls.
CONTROLS = f"{BIDI}\x9b31m\x07"
SHOWN_CONTROLS = rf"{SHOWN}\x9b31m\x07"
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e]")
HELD = re.compile(r'\svalue="[^"]*"|<textarea.*?</textarea>', re.S)
READ = ("*",)


def config(*lines: str) -> str:
    return "\n".join(["hostname sw1", "interface Gi0/1", *lines, f"banner motd ^{BIDI}^", "end", ""])


@pytest.fixture(scope="module")
async def ids(site: Site) -> dict[str, str]:
    """Something of each kind, all named so."""
    api = site.api()
    made = {
        "device": await stored(site, BIDI, config(f" description {BIDI}"), config(f" description b{BIDI}")),
        "other": await device(site, f"other {BIDI}", description=BIDI, tags=[BIDI], site=BIDI, model=BIDI),
    }
    document = {"category": "outputs", "content_type": "text", "content": CONTROLS}
    for kind, path, fields in (
        ("document", "/api/docs", document),
        ("role", "/api/roles", {"permissions": ["devices.access"]}),
    ):
        made[kind] = (await api.post(path, {"name": BIDI, **fields})).expect(201)["id"]
    # As a directory says it.
    users = site.installation.database.collection("users")
    await users.update({"_id": site.admin.user_id}, {"$set": {"display_name": BIDI}})
    made["execution"] = await seeding.execution(
        site,
        seeding.task(site, name=BIDI),
        state="approval_pending",
        holds_task=True,
        approval_request={
            "text": CONTROLS,
            "reason": CONTROLS,
            "lines": [CONTROLS],
            "diff": f"+ {CONTROLS}",
            "devices": [{"id": made["device"], "name": BIDI}],
            "hash": "h",
        },
        approval_expires_at=seeding.FAR,
    )
    made["failed"] = await seeding.execution(
        site, seeding.task(site, name=BIDI), error_message=CONTROLS, output={"answer": CONTROLS}
    )
    return made


PAGES = {
    "/": SHOWN,
    "/devices": SHOWN,
    "/devices/{device}": SHOWN,
    "/devices/{other}": SHOWN,
    "/devices/{other}/edit": SHOWN,
    "/configs/{device}": SHOWN,
    "/configs/{device}/2": rf"description b{SHOWN}",
    "/configs/{device}/diff?old_version=1&new_version=2": SHOWN,
    "/configs/{device}/diff?old_version=1&new_version=2&format=side_by_side": SHOWN,
    "/search?q=description": SHOWN,
    "/find?q=other": SHOWN,
    "/documents": SHOWN,
    "/documents/{document}": SHOWN_CONTROLS,
    "/executions": SHOWN,
    "/executions/{execution}": SHOWN_CONTROLS,
    "/executions/{failed}": SHOWN_CONTROLS,
    "/approvals": SHOWN_CONTROLS,
    "/roles": SHOWN,
    "/users": SHOWN,
    "/audit": "",
    "/topology": "",
    "/sites": "",
}


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_shows_what_hides(site: Site, ids: dict[str, str], path: str) -> None:
    html = (await site.browser(*READ).get(path.format(**ids))).html
    printed = HELD.sub("", html)
    assert HIDDEN.findall(printed) == []
    assert PAGES[path] in printed


async def test_a_form_gives_back_what_it_got(site: Site, ids: dict[str, str]) -> None:
    page = await site.browser(*READ).get(f"/devices/{ids['other']}/edit")
    fields = {one.attributes.get("name"): one.attributes.get("value") for one in page.all("input")}
    assert [fields[name] for name in ("name", "site", "model")] == [f"other {BIDI}", BIDI, BIDI]
    areas = {one.attributes["name"]: "".join(one.texts).strip("\n") for one in page.all("textarea")}
    assert [areas[name] for name in ("description", "tags")] == [BIDI, BIDI]


async def test_the_api_and_downloads_keep_the_text(site: Site, ids: dict[str, str]) -> None:
    api = site.api()
    assert (await api.get(f"/api/devices/{ids['other']}")).json["description"] == BIDI
    assert (await api.get(f"/api/docs/{ids['document']}")).json["content"] == CONTROLS
    found = await api.get(f"/api/config/devices/{ids['device']}/configs/2")
    assert f" description b{BIDI}\n" in found.json["config_text"]


async def test_the_csv_shows_what_hides(site: Site, ids: dict[str, str]) -> None:
    text = (await site.browser(*READ).get("/devices.csv")).html
    assert HIDDEN.sub("", text.replace("\r\n", "\n")) == text.replace("\r\n", "\n")
    assert f"other {SHOWN}," in text
