"""Pages are found by name and by words, in the order of the index."""

from pathlib import Path

import pytest

from netautod.manual.library import Manual

PAGES = {
    "index": "# The manual\n\n[Upgrade](operate/upgrade.md) [Devices](use/devices.md) [API](use/api.md)\n",
    "operate/settings": "# Settings\n\nSet a setting.\n",
    "operate/upgrade": "# Upgrade\n\nStop the service.\n\n## Go back\n\nRestore the backup that you made.\n",
    "extend/settings": "# Settings of a plugin\n\n## Several\n\n| The `section` [server](x) | *many* |\n",
    "use/api": "# API\n\nCall it: " + "x" * 200 + "\n",
    "use/devices": "# Devices\n\n## Restore a device\n\n```sh\nnetautod restore\n```\n",
}


@pytest.fixture
def manual(tmp_path: Path) -> Manual:
    for name, text in PAGES.items():
        path = tmp_path / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (tmp_path / "page.py").write_text("")
    return Manual(tmp_path)


def test_the_pages_stand_in_the_order_of_the_index_and_others_behind(manual: Manual) -> None:
    assert list(manual.pages) == [
        *("index", "operate/upgrade", "use/devices", "use/api"),
        *("extend/settings", "operate/settings"),
    ]


@pytest.mark.parametrize(
    ("topic", "names"),
    [
        pytest.param("operate/upgrade", ["operate/upgrade"], id="with its folder"),
        pytest.param("Upgrade.md", ["operate/upgrade"], id="without its folder"),
        pytest.param("settings", ["extend/settings", "operate/settings"], id="in two folders"),
        pytest.param("../page", [], id="no page"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_a_page_has_a_name(manual: Manual, topic: str, names: list[str]) -> None:
    assert [page.name for page in manual.named(topic)] == names


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("restore", ["Restore a device", "Go back"], id="headings first"),
        pytest.param("RESTORE backup", ["Go back"], id="all words"),
        pytest.param("restore nothing", [], id="a word that is not there"),
        pytest.param("manual", [], id="not in the index"),
        pytest.param("  ", [], id="no word"),
    ],
)
def test_a_search_finds_sections(manual: Manual, query: str, found: list[str]) -> None:
    assert [match.section.heading for match in manual.search(query)] == found


def test_an_excerpt_is_the_line_of_the_words(manual: Manual) -> None:
    assert [match.excerpt for match in manual.search("restore")] == [
        "netautod restore",
        "Restore the backup that you made.",
    ]
    [listed] = manual.search("several")
    assert listed.excerpt == "The section server; many"
    [long] = manual.search("call")
    assert (len(long.excerpt), long.excerpt[-4:]) == (160, "x...")


def test_a_page_has_neighbors(manual: Manual) -> None:
    def names(name: str) -> list[str | None]:
        return [None if page is None else page.name for page in manual.neighbors(manual.pages[name])]

    assert names("index") == [None, "operate/upgrade"]
    assert names("use/devices") == ["operate/upgrade", "use/api"]
    assert names("operate/settings") == ["extend/settings", None]


def test_the_nearest_pages_resemble_the_topic(manual: Manual) -> None:
    assert [page.name for page in manual.nearest("upgrades")] == ["operate/upgrade"]
    assert {page.name for page in manual.nearest("setings")} == {"extend/settings", "operate/settings"}
    assert manual.nearest("zzzz") == []
