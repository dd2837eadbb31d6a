"""The pages of the manual: their form, the index and every link."""

import re
from pathlib import Path

import pytest

from netautod.manual.library import Manual
from netautod.manual.page import Page
from tests.repository.generated.pages import GENERATED
from tests.support.manual import MANUAL, ROOT

INDEX = "index"
SHORTEST, LONGEST = 40, 200  # lines
# All versions stand on one page; tables of the code are as long as the code makes them.
ANY_LENGTH = {INDEX, "changes", *GENERATED}
_CODE = re.compile(r"^(\s*)(```|~~~).*?^\1\2$|`[^`\n]+`", re.M | re.S)
_TOPIC = re.compile(r"netautod help ([a-z][a-z/-]*)")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
PAGES = Manual.installed().pages


def links(page: Page) -> list[str]:
    """Return the targets of the links of a page; what stands in code is none."""
    return _LINK.findall(_CODE.sub("", page.text))


def broken(page: Page) -> list[str]:
    """Return the links of a page that lead nowhere in the manual."""
    return [link for link in links(page) if "://" not in link and not leads_somewhere(page, link)]


def leads_somewhere(page: Page, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (MANUAL / page.name).parent / path if path else MANUAL / f"{page.name}.md"
    name = target.resolve().relative_to(MANUAL).with_suffix("").as_posix()
    if target.suffix != ".md":
        return target.is_file() and not anchor
    if name not in PAGES:
        return False
    return not anchor or anchor in {section.anchor for section in PAGES[name].sections}


def unlisted(index: Page) -> set[str]:
    """Return the pages that the index does not name."""
    return set(PAGES) - {INDEX} - {link.removesuffix(".md") for link in links(index)}


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_page_and_a_heading(name: str) -> None:
    assert broken(PAGES[name]) == []


@pytest.mark.parametrize(
    "link",
    [
        pytest.param("../use/nowhere.md", id="no such page"),
        pytest.param("style.md#nowhere", id="no such heading"),
        pytest.param("#nowhere", id="no such heading of its own"),
        pytest.param("../pictures/nowhere.png", id="no such picture"),
        pytest.param("/help/develop/style", id="not relative"),
    ],
)
def test_a_broken_link_is_found(link: str) -> None:
    page = Page("develop/mine", f"# Mine\n\nSee [this]({link}), `[no]({link})` and [style](style.md).\n")
    if link.startswith("/"):
        with pytest.raises(ValueError, match="not in the subpath"):
            broken(page)
    else:
        assert broken(page) == [link]


def test_the_index_names_every_page() -> None:
    assert unlisted(PAGES[INDEX]) == set()


def test_a_page_that_the_index_does_not_name_is_found() -> None:
    index = Page(INDEX, PAGES[INDEX].text.replace("(develop/style.md)", "(develop/nowhere.md)"))
    assert unlisted(index) == {"develop/style"}


@pytest.mark.parametrize("name", PAGES)
def test_every_page_begins_with_its_only_title(name: str) -> None:
    page = PAGES[name]
    assert page.text.startswith("# ")
    assert [section.heading for section in page.sections if section.level == 1] == [page.title]


@pytest.mark.parametrize("name", sorted(PAGES.keys() - ANY_LENGTH))
def test_a_page_can_be_read_at_once(name: str) -> None:
    assert SHORTEST <= PAGES[name].text.count("\n") <= LONGEST


def test_every_file_of_the_manual_is_in_the_packages() -> None:
    """Check the kinds of files that the wheel and the sdist take."""
    manifest = (ROOT / "MANIFEST.in").read_text()
    kinds = {path.suffix for path in Path(MANUAL).rglob("*") if path.is_file()} - {".pyc", ".py"}
    for kind in kinds:
        assert re.search(rf"^recursive-include netautod .*\*\{kind}( |$)", manifest, re.M), kind
        assert f'"manual/**/*{kind}"' in (ROOT / "setup.py").read_text()


def test_a_topic_that_the_product_names_is_one_page() -> None:
    """Check the sentences of commands, units and docstrings that send a reader to the manual."""
    sources = [ROOT / "README.md", ROOT / "plugins" / "README.md", *(ROOT / "config").iterdir()]
    for folder in ("netautod", "plugins"):
        sources += [path for kind in ("py", "txt", "html") for path in (ROOT / folder).rglob(f"*.{kind}")]
    topics = {topic for path in sources for topic in _TOPIC.findall(path.read_text(encoding="utf-8"))}
    assert "upgrade" in topics
    assert {topic for topic in topics if len(Manual.installed().named(topic)) != 1} == set()
