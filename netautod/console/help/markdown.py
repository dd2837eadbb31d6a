"""A page of the manual as HTML: raw HTML is shown as text, and links lead to pages of the console."""

import posixpath
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from netautod.manual.library import INDEX
from netautod.manual.page import Page

if TYPE_CHECKING:
    from markdown_it.token import Token

HELP = "/help"
_SUFFIX = ".md"
_TITLE_TOKENS = 3  # the heading of level one: begin, text, end
_LABEL = "label"


class MarkdownRenderer:
    """A renderer of pages. It takes 4 MB, so it is made when the first page is viewed."""

    def __init__(self) -> None:
        from markdown_it import MarkdownIt

        self._parser: MarkdownIt = MarkdownIt("commonmark", {"html": False}).enable("table")
        for kind in ("table_open", "table_close", "fence", "code_block"):
            self._parser.add_render_rule(kind, globals()[f"_{kind}"])

    def render(self, page: Page) -> Markup:
        """Return what stands below the title of the page."""
        tokens = self._parser.parse(page.text)[_TITLE_TOKENS:]
        _set_anchors(page, tokens)
        for token in tokens:
            for inner in token.children or ():
                _rewrite_link(page, inner)
        html = self._parser.renderer.render(tokens, self._parser.options, {})
        return Markup(html)  # the parser escapes all text


def address_of(name: str, anchor: str = "") -> str:
    """Return the address of a page of the manual in the console."""
    path = HELP if name == INDEX else f"{HELP}/{name}"
    return f"{path}#{anchor}" if anchor else path


def _set_anchors(page: Page, tokens: "Sequence[Token]") -> None:
    """Give headings the ids that links name, and tables the heading above them as their label."""
    sections, tables, heading = iter(page.sections[1:]), 0, page.title
    for token in tokens:
        if token.type == "heading_open":
            section = next(sections)
            heading = section.heading
            token.attrSet("id", section.anchor)
        elif token.type == "table_open":
            tables += 1
            token.meta[_LABEL] = f"Table {tables}: {heading}"


def _rewrite_link(page: Page, token: "Token") -> None:
    name = {"link_open": "href", "image": "src"}.get(token.type)
    if name is not None:
        token.attrSet(name, _target(page, str(token.attrGet(name))))


def _target(page: Page, link: str) -> str:
    """Return where a link of the page leads: links between pages are relative to their files."""
    path, _, anchor = link.partition("#")
    if "://" in link or not path:
        return link
    found = posixpath.normpath(posixpath.join(posixpath.dirname(page.name), path))
    return address_of(found.removesuffix(_SUFFIX), anchor)


# The parser calls the rules as methods of its renderer. What may scroll sideways can take the focus.


def _table_open(self: Any, tokens: "Sequence[Token]", index: int, options: Any, env: Any) -> str:
    label = escape(tokens[index].meta[_LABEL])
    return f'<div class="scroll" role="region" aria-label="{label}" tabindex="0"><table>\n'


def _table_close(self: Any, tokens: "Sequence[Token]", index: int, options: Any, env: Any) -> str:
    return "</table></div>\n"


def _fence(self: Any, tokens: "Sequence[Token]", index: int, options: Any, env: Any) -> str:
    return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'


_code_block = _fence
