"""Sections of a page and the anchors of its headings."""

import pytest

from netautod.manual.page import Page

TEXT = """# Restore after a lost disk

Before anything else.

```sh
# not a heading
netautod restore
```

## What it prints

Text.

### Details

More.

## What it prints

Again.
"""


def test_a_page_is_split_at_its_headings() -> None:
    page = Page("operate/restore", TEXT)
    assert page.title == "Restore after a lost disk"
    assert [(one.level, one.heading) for one in page.sections] == [
        (1, "Restore after a lost disk"),
        (2, "What it prints"),
        (3, "Details"),
        (2, "What it prints"),
    ]
    assert "".join(one.text for one in page.sections) == TEXT


def test_equal_headings_have_anchors_of_their_own() -> None:
    anchors = [one.anchor for one in Page("x", TEXT).sections]
    assert anchors == ["restore-after-a-lost-disk", "what-it-prints", "details", "what-it-prints-1"]


def test_a_section_holds_those_below_it() -> None:
    page = Page("x", TEXT)
    text = page.section_text(page.sections[1])
    assert text.startswith("## What it prints\n")
    assert text.endswith("### Details\n\nMore.\n\n")
    assert page.section_text(page.sections[0]) == TEXT


@pytest.mark.parametrize(
    ("line", "heading", "anchor"),
    [
        pytest.param("# Set `console.enabled`", "Set console.enabled", "set-consoleenabled", id="code"),
        pytest.param("# Read [the log](log.md) *now*", "Read the log now", "read-the-log-now", id="marks"),
        pytest.param("# TLS, keys & proxies", "TLS, keys & proxies", "tls-keys--proxies", id="punctuation"),
        pytest.param("# `GET /api/devices`", "GET /api/devices", "get-apidevices", id="a route"),
        pytest.param("# Closed #", "Closed", "closed", id="closed"),
    ],
)
def test_headings_are_plain_text_with_the_anchors_of_github(line: str, heading: str, anchor: str) -> None:
    [section] = Page("x", f"{line}\n").sections
    assert (section.heading, section.anchor) == (heading, anchor)
