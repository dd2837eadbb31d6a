"""Accessibility: axe-core (from the wheel of axe-playwright-python) on a page as it stands.

The script reaches the page through the debugging protocol, which no content security policy stops, so that
the page is looked at under its own policy.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from playwright.async_api import Page

# WCAG 2.2 AA, with all that it takes from those before it; "best-practice" is no part of it.
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa")
# Off unless asked for: targets of 24 pixels.
EXTRA_RULES = ("target-size",)
# What depends on colours; the other rules find the same in light and dark.
COLOURS = ("color-contrast",)
RUN = """async (options) => {
    const { violations } = await axe.run(document, options);
    return violations.map(({ id, help, nodes }) => ({
        id, help, nodes: nodes.map(({ target, html, failureSummary }) => ({ target, html, failureSummary })),
    }));
}"""
MOST_NODES = 5


@cache
def _script() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


async def violations(page: Page, *, rules: Sequence[str] = ()) -> list[str]:
    """A line for each rule that is violated, with the first places; `rules`: these only."""
    only: dict[str, Any] = (
        {"type": "rule", "values": list(rules)} if rules else {"type": "tag", "values": list(TAGS)}
    )
    extra = {} if rules else {name: {"enabled": True} for name in EXTRA_RULES}
    if not await page.evaluate("() => typeof axe !== 'undefined'"):
        await page.evaluate(_script())
    found = await page.evaluate(RUN, {"runOnly": only, "rules": extra, "resultTypes": ["violations"]})
    return [_line(violation) for violation in found]


def _line(violation: dict[str, Any]) -> str:
    nodes = violation["nodes"]
    places = "; ".join(f"{node['target']} {node['html'][:160]}" for node in nodes[:MOST_NODES])
    return f"{violation['id']} ({violation['help']}), {len(nodes)} times: {places}"
