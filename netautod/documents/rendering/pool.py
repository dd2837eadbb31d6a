"""The pool of rendering children: a few at a time, each render bounded, a lost child replaced.

They are started on demand, and stay warm until nothing has been rendered for a while.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from netautod.core.errors import Unavailable
from netautod.core.json import values as json_values
from netautod.core.loop.child_process import ChildLostError
from netautod.documents.rendering.process import RenderProcess
from netautod.documents.rendering.protocol import DIED, TOO_LONG, WALL_SECONDS

logger = logging.getLogger(__name__)
MAX_WAITING = 64
IDLE_SECONDS = 300.0  # a child takes 25 MB, and half a second to start


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """The result: `error` is None exactly if `success`; then `output` is the text, else empty."""

    output: str
    success: bool
    error: str | None

    def to_json(self) -> dict[str, Any]:
        return {"output": self.output, "success": self.success, "error": self.error}


class RenderPool:
    """A pool: `async with RenderPool(processes=2) as pool:` ends its children with the block.

    A template is never parsed here: Jinja2 folds constants while it compiles, so even that can be a bomb.
    """

    def __init__(self, *, processes: int = 2, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._slots = asyncio.Semaphore(processes)
        self._idle: list[RenderProcess] = []
        self._children: set[RenderProcess] = set()
        self._waiting = 0
        self._resting: asyncio.Task[None] | None = None

    @property
    def children(self) -> frozenset[RenderProcess]:
        """Return the living children, idle or not."""
        return frozenset(self._children)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._resting is not None:
            self._resting.cancel()
            await asyncio.gather(self._resting, return_exceptions=True)
        await asyncio.gather(*(child.kill() for child in self._children))
        self._children.clear()
        self._idle.clear()

    async def render(self, template: str, variables: Mapping[str, Any]) -> Rendered:
        """Render within the limits; raises Unavailable if too many wait or no child starts."""
        if self._waiting >= MAX_WAITING:
            raise Unavailable("Too many templates are being rendered; try again in a moment")
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._render(template.encode(), json_values.encode(variables))
        finally:
            self._slots.release()
            self._rest_later()

    async def _render(self, template: bytes, variables: bytes) -> Rendered:
        child = self._idle.pop() if self._idle else await self._start()
        whole = False
        try:
            async with asyncio.timeout(WALL_SECONDS):
                worked, text = await child.render(template, variables)
            whole = True
        except TimeoutError:
            worked, text = False, TOO_LONG
        except ChildLostError as error:
            logger.warning("%s", error)
            worked, text = False, DIED
        finally:
            # Also when the request is cancelled: an answer may be half read.
            if whole:
                self._idle.append(child)
            else:
                await self._discard(child)
        if worked:
            return Rendered(output=text, success=True, error=None)
        return Rendered(output="", success=False, error=text)

    async def _start(self) -> RenderProcess:
        try:
            child = await RenderProcess.start()
        except (ChildLostError, OSError) as error:
            logger.error("templates cannot be rendered: %s", error)
            raise Unavailable("Templates cannot be rendered at the moment") from error
        self._children.add(child)
        return child

    async def _discard(self, child: RenderProcess) -> None:
        self._children.discard(child)
        await asyncio.shield(child.kill())

    def _rest_later(self) -> None:
        if self._resting is not None:
            self._resting.cancel()
        self._resting = asyncio.create_task(self._rest(), name="rendering children")

    async def _rest(self) -> None:
        """End the children when nothing has been rendered for a while."""
        await asyncio.sleep(self._idle_seconds)
        while self._idle:
            await self._discard(self._idle.pop())
