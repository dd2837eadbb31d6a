"""The pages of configs: versions, texts, diffs and the search, as people with more and with less see them."""

import re

import pytest

from tests.console.site import Site
from tests.console.stored import stored
from tests.support.pages import LoadedPage

SECRET = "c4nary-community"
HOSTILE = "<script>alert(1)</script>"
NAME = "sw<i>1</i>"
READ = "devices.access"
MOST_ELEMENTS = 3_000
ABSENT = "00000000-0000-4000-8000-000000000000"


def config(*lines: str) -> str:
    head = ["hostname sw1", f"snmp-server community {SECRET} RO"]
    return "\n".join([*head, "interface Gi0/1", *lines, "!", f"banner motd {HOSTILE}", "end", ""])


OLD = config(" description to <b>core</b>", " mtu 1500")
NEW = config(" description to <b>edge</b>", " mtu 1500", " shutdown")


@pytest.fixture(scope="module")
async def devices(site: Site) -> dict[str, str]:
    """By name: one with two versions, one with the first only, one with none."""
    kept = {NAME: (OLD, NEW), "sw2": (OLD.replace("1500", "9000"),), "sw3": ()}
    return {name: await stored(site, name, *configs) for name, configs in kept.items()}


@pytest.fixture(scope="module")
def sw1(devices: dict[str, str]) -> str:
    return f"/configs/{devices[NAME]}"


def lines(page: LoadedPage) -> list[str]:
    """Of the text of a version."""
    numbers, text = page.all("pre")
    assert numbers.attributes["aria-hidden"] == "true"
    return "".join(text.texts).strip("\n").split("\n")


async def test_versions_are_listed_and_lead_to_texts_and_diffs(site: Site, sw1: str) -> None:
    page = await site.browser(READ).get(sw1)
    assert page.heading == f"Configs of {NAME}"
    assert [row[2] for row in page.rows] == ["Version 2", "Version 1"]
    assert [row[4:6] for row in page.rows] == [["admin", "Single pull"]] * 2
    assert page.links["Version 1"] == f"{sw1}/1"
    assert page.links["Changes"] == f"{sw1}/diff?new_version=2"
    assert page.controls >= {"Diff", "Side by side"}
    chosen = {(one.attributes["name"], one.attributes["value"]) for one in page.all("input", checked="")}
    assert chosen == {("old_version", "1"), ("new_version", "2")}
    page = await site.browser(READ).get(f"{sw1}?limit=1&offset=1")
    assert [row[2] for row in page.rows] == ["Version 1"]
    assert page.links["Previous"] == f"{sw1}?limit=1"


async def test_without_versions_the_page_says_what_to_do(site: Site, devices: dict[str, str]) -> None:
    for path in (f"/configs/{devices['sw3']}", f"/configs/{devices['sw3']}/diff"):
        page = await site.browser(READ).get(path)
        assert "No config of this device is stored." in page.text
        assert page.links["Pull its config"] == f"/devices/{devices['sw3']}"
    page = await site.browser(READ).get(f"/configs/{devices['sw2']}/diff")
    assert "There is only one version yet" in page.text
    assert page.links["Version 1"] == f"/configs/{devices['sw2']}/1"


async def test_a_text_is_redacted_and_each_line_has_a_link(site: Site, sw1: str) -> None:
    page = await site.browser(READ).get(f"{sw1}/2")
    assert lines(page) == NEW.replace(SECRET, "<hidden>").splitlines()
    assert [one.attributes["href"] for one in page.all("a", tabindex="-1")] == [
        f"#L{n}" for n in range(1, 10)
    ]
    assert page.links["interface Gi0/1"] == "#L3"
    assert page.links["Version 1"] == f"{sw1}/1"
    assert page.links["Changes since version 1"] == f"{sw1}/diff?old_version=1&new_version=2"
    assert SECRET not in page.html
    assert HOSTILE not in page.html
    file = await site.browser(READ).get(page.links["Download"])
    assert file.html == NEW.replace(SECRET, "<hidden>")
    assert file.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert file.headers["Content-Disposition"].startswith('attachment; filename="sw_i_1_i_')


async def test_a_part_is_a_page(site: Site, sw1: str) -> None:
    page = await site.browser(READ).get(f"{sw1}/2")
    part = await site.browser(READ).get(page.links["version"])
    assert "show version" in part.text
    assert not part.controls & {"Reveal secrets"}
    reader = site.browser(READ, "credentials.manage")
    assert "Hide secrets" in (await reader.post(f"{page.links['version']}/reveal", status=200)).links
    await site.browser(READ).get(f"{sw1}/2/parts/nothing", status=404)


async def test_secrets_are_shown_by_a_form_that_is_audited(site: Site, sw1: str) -> None:
    reader = site.browser(READ, "credentials.manage")
    page = await reader.get(f"{sw1}/2?secrets=true")
    assert SECRET not in page.html
    assert {"Reveal secrets", "Download with secrets"} <= page.controls
    before = await revealed(site)
    page = await reader.post(f"{sw1}/2/reveal", status=200)
    assert lines(page) == NEW.splitlines()
    assert "secrets=true" not in page.html
    assert page.links["Hide secrets"] == f"{sw1}/2"
    raw = await reader.post(f"{sw1}/2/raw", status=200)
    assert raw.html == NEW
    assert await revealed(site) == before + 2


async def revealed(site: Site) -> int:
    found = (await site.api().get("/api/audit?action=config.read_secrets")).expect()
    return int(found["total"])


async def test_whoever_may_not_neither_sees_nor_reaches_it(site: Site, sw1: str) -> None:
    viewer = site.browser(READ)
    page = await viewer.get(f"{sw1}/2")
    assert not page.controls & {"Reveal secrets", "Download with secrets", "Save"}
    for rest in ("reveal", "raw", "notes", "parts/version/reveal"):
        await viewer.post(f"{sw1}/2/{rest}", {"notes": "x"}, status=403)
    for path in (sw1, f"{sw1}/2", f"{sw1}/diff", "/search?q=x"):
        assert "Insufficient permissions" in (await site.browser().get(path, status=403)).text


async def test_notes_are_saved_and_cleared_and_an_error_keeps_them(site: Site, sw1: str) -> None:
    operator = site.browser(READ, "devices.manage")
    await operator.post(f"{sw1}/1/notes", {"notes": f"before {HOSTILE}"})
    page = await operator.get(f"{sw1}/1")
    assert page.all("textarea")[0].text == f"before {HOSTILE}"
    assert HOSTILE not in page.html
    assert f"before {HOSTILE}" in (await site.browser(READ).get(f"{sw1}/1")).text
    page = await operator.post(f"{sw1}/1/notes", {"notes": "x" * 5_000}, status=400)
    assert page.all("textarea")[0].text == "x" * 5_000
    assert "notes: " in page.text
    await operator.post(f"{sw1}/1/notes", {"notes": ""})
    assert (await operator.get(f"{sw1}/1")).all("textarea")[0].text == ""


async def test_what_others_have_and_what_is_not_there_is_not_found(site: Site, sw1: str) -> None:
    stranger = site.browser("*", org_id="00000000-0000-4000-8000-00000000000f")
    for path in (sw1, f"{sw1}/1", f"{sw1}/diff", f"{sw1}/1/download", f"{sw1}/1/parts/version"):
        await stranger.get(path, status=404)
    await stranger.post(f"{sw1}/1/reveal", status=404)
    await stranger.post(f"{sw1}/1/notes", {"notes": "x"}, status=404)
    for rest in ("/3", "/0", "/x", f"/diff?new_device_id={ABSENT}"):
        await site.browser(READ).get(f"{sw1}{rest}", status=404)


async def test_a_diff_has_sections_words_signs_and_counts(site: Site, sw1: str) -> None:
    page = await site.browser(READ).get(f"{sw1}/diff?context=1")
    assert page.rows == [
        ["3", "3", "interface Gi0/1"],
        ["4", "", "- description to <b>core</b>"],
        ["", "4", "+ description to <b>edge</b>"],
        ["5", "5", "mtu 1500"],
        ["", "6", "+ shutdown"],
        ["6", "7", "!"],
    ]
    assert [one.text for one in page.all("del")] == ["core"]
    assert [one.text for one in page.all("ins")] == ["edge"]
    assert "Change 1 in interface Gi0/1" in page.text
    assert "1 change: +2 -1 lines" in page.text
    assert page.links["Permalink"] == f"{sw1}/diff?old_version=1&new_version=2&format=unified&context=1"
    assert page.links["Side by side"] == f"{sw1}/diff?context=1&format=side_by_side"
    page = await site.browser(READ).get(page.links["Side by side"])
    assert page.rows[1] == ["4", "- description to <b>core</b>", "4", "+ description to <b>edge</b>"]
    assert page.rows[3] == ["", "", "6", "+ shutdown"]
    assert page.links["Unified"] == f"{sw1}/diff?context=1"
    assert SECRET not in page.html


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        pytest.param("old_version=2&new_version=2", 200, "The versions are identical.", id="identical"),
        pytest.param("old_version=7", 404, "Config version not found", id="no such version"),
        pytest.param("new_version=1", 404, "no version before version 1", id="none before the first"),
        pytest.param("context=2000", 400, "context: ", id="too much context"),
        pytest.param("format=html", 400, "format: ", id="a format that there is not"),
    ],
)
async def test_diffs_that_show_nothing_say_why(
    site: Site, sw1: str, query: str, status: int, text: str
) -> None:
    page = await site.browser(READ).get(f"{sw1}/diff?{query}", status=status)
    assert text in page.text
    if status != 400:
        assert "Old version" in page.text


async def test_large_texts_and_diffs_stay_small_pages_and_lose_nothing(site: Site) -> None:
    viewer = site.browser(READ)
    rest = [f" vlan {number} same" for number in range(500, 1_700)]
    old, new = (
        config(*(f" vlan {number} {word}" for number in range(500)), *rest) for word in ("old", "new")
    )
    own = f"/configs/{await stored(site, 'sw5', old, new)}"
    page = await viewer.get(f"{own}/2?line=1201")
    assert len(page.elements) < MOST_ELEMENTS
    assert lines(page)[-4:-3] == [" vlan 1699 same"]
    assert "L1201" in [one.attributes.get("id") for one in page.all("a", tabindex="-1")]
    for path in (f"{own}/diff", f"{own}/diff?format=side_by_side"):
        seen, following = set[str](), path
        while following:
            page = await viewer.get(following)
            assert len(page.elements) < MOST_ELEMENTS
            seen |= {cell for row in page.rows for cell in row if cell.startswith("+ vlan")}
            following = page.links.get("Next", "")
        assert seen == {f"+ vlan {number} new" for number in range(500)}


async def test_pairs_lead_to_those_before_and_after(site: Site) -> None:
    own = f"/configs/{await stored(site, 'sw4', OLD, NEW, OLD)}"
    page = await site.browser(READ).get(f"{own}/diff?old_version=2&new_version=3")
    assert "old_version=1&new_version=2" in page.links["Previous pair"]
    assert "Next pair" not in page.links
    page = await site.browser(READ).get(page.links["Previous pair"])
    assert "old_version=2&new_version=3" in page.links["Next pair"]
    assert "Previous pair" not in page.links


async def test_two_devices_are_compared_by_name(site: Site, devices: dict[str, str], sw1: str) -> None:
    viewer, with_sw2 = site.browser(READ), f"{sw1}/diff?format=side_by_side&new_device_id={devices['sw2']}"
    page = await viewer.get(f"{sw1}/diff?other=sw2&format=side_by_side", status=303)
    assert page.headers["Location"] == with_sw2
    page = await viewer.get(with_sw2)
    assert page.heading == f"Diff of {NAME} and sw2"
    assert ["5", "- mtu 1500", "5", "+ mtu 9000"] in page.rows
    page = await viewer.get(f"{sw1}/diff?other=sw")
    assert page.links["sw2"] == f"{sw1}/diff?new_device_id={devices['sw2']}"
    assert "No other device" in (await viewer.get(f"{sw1}/diff?other=nobody")).text
    page = await viewer.get(f"{sw1}/diff?new_device_id={devices['sw3']}", status=404)
    assert "No config is stored of this device" in page.text


async def test_the_search_finds_lines_with_those_around_them(site: Site, devices: dict[str, str]) -> None:
    viewer = site.browser(READ)
    page = await viewer.get("/search")
    assert "without secrets" in page.text
    page = await viewer.get("/search?q=MTU+9000&regex=&context=1")
    assert page.rows == [["sw2", "v1 line 5", "description to <b>core</b> mtu 9000 !"]]
    assert page.all("mark")[0].text == "mtu 9000"
    assert page.links["v1 line 5"] == f"/configs/{devices['sw2']}/1?line=5#L5"
    assert page.links["sw2"] == f"/devices/{devices['sw2']}"
    page = await viewer.get("/search?regex=%5Ehostname&limit=1")
    assert len(page.rows) == 1
    assert page.links["Next"] == "/search?regex=%5Ehostname&limit=1&offset=1"
    page = await viewer.get("/search?q=banner&group=line")
    assert page.rows[0][:2] == [f"banner motd {HOSTILE}", page.rows[0][1]]
    assert page.links["sw2 line 7"] == f"/configs/{devices['sw2']}/1?line=7#L7"
    assert HOSTILE not in page.html
    assert "No line of the newest configs matches." in (await viewer.get(f"/search?q={SECRET}")).text


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param("regex=%28abc", "regex: missing )", id="no regex"),
        pytest.param("q=a&regex=b", "exactly one of the two", id="both"),
        pytest.param("q=a&context=11", "context: ", id="too much context"),
        pytest.param("q=a&secrets=true", "always redacted", id="secrets"),
    ],
)
async def test_a_search_that_is_refused_keeps_the_form(site: Site, query: str, text: str) -> None:
    page = await site.browser(READ).get(f"/search?{query}", status=400)
    assert text in page.text
    kept = {one.attributes.get("name"): one.attributes["value"] for one in page.all("input", id="f-regex")}
    assert kept["regex"] == {"%28abc": "(abc", "b": "b"}.get(query.rpartition("regex=")[2], "")


@pytest.fixture(scope="module")
async def guesses(site: Site) -> dict[str, str]:
    """A device with the secret, and two of a reader: one with the right guess, one with a wrong one."""
    kept = {"core1": SECRET, "lab-right": SECRET, "lab-wrong": "gu3ss-that-is-longer"}
    return {name: await stored(site, name, OLD.replace(SECRET, word)) for name, word in kept.items()}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("/configs/{core}/diff?new_device_id={lab}", id="the diff of two devices"),
        pytest.param("/configs/{core}/diff?new_device_id={lab}&format=side_by_side", id="in two columns"),
        pytest.param("/configs/{lab}", id="the versions"),
        pytest.param("/configs/{lab}/1", id="a version"),
        pytest.param("/configs/{lab}/1/download", id="a version as a file"),
        pytest.param("/devices/{lab}", id="the device"),
    ],
)
async def test_a_right_guess_reads_as_a_wrong_one(site: Site, guesses: dict[str, str], page: str) -> None:
    shown = []
    for lab in ("lab-right", "lab-wrong"):
        path = page.format(core=guesses["core1"], lab=guesses[lab])
        html = (await site.browser(READ).get(path)).html.replace(guesses[lab], "id").replace(lab, "lab")
        html = re.sub(r"value=\"[0-9a-f]{32,}[^\"]*\"|127.0.0.1:\d+|port \d+|\d+ (s|min)\b", "", html)
        shown.append(re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\d\d:\d\d(:\d\d)?|SHA256:[\w+/]+", "", html))
    assert shown[0] == shown[1]
    assert SECRET not in shown[0]


async def test_a_changed_secret_is_said_in_the_history_of_its_device(site: Site) -> None:
    device_id = await stored(site, "sw-changed", OLD, OLD.replace(SECRET, "an0ther"))
    for query in ("", "?format=side_by_side"):
        page = await site.browser(READ).get(f"/configs/{device_id}/diff{query}")
        assert "snmp-server community <secret: changed> RO" in page.text
        assert "an0ther" not in page.html
