"""The manual as the console serves it: pages rendered at their first view and kept, and a search."""

import asyncio
from collections.abc import Sequence
from functools import cached_property

from markupsafe import Markup

from netautod.console.help.markdown import MarkdownRenderer
from netautod.manual.library import Manual, Match
from netautod.manual.page import Page


class ManualPages:
    """The pages and their HTML. Nothing is read before the first view: an idle service stays small."""

    def __init__(self, manual: Manual) -> None:
        self.manual = manual
        self._rendered: dict[str, Markup] = {}

    async def load(self) -> None:
        """Read all pages once, in a thread: the event loop must not wait for the disk."""
        if "pages" not in self.manual.__dict__:
            await asyncio.to_thread(lambda: self.manual.pages)

    async def html(self, page: Page) -> Markup:
        """Return the page below its title. A long one takes 30 ms the first time."""
        if page.name not in self._rendered:
            self._rendered[page.name] = await asyncio.to_thread(self._renderer_of, page)
        return self._rendered[page.name]

    async def search(self, query: str) -> Sequence[Match]:
        return await asyncio.to_thread(self.manual.search, query)

    def _renderer_of(self, page: Page) -> Markup:
        return self._renderer.render(page)

    @cached_property
    def _renderer(self) -> MarkdownRenderer:
        return MarkdownRenderer()
