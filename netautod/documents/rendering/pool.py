"""The pool of rendering children: a few at a time, each render bounded, a lost child replaced.

They are started on demand, and stay warm until nothing has been rendered for a while.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.json import values as json_values
from netautod.core.loop.child_pool import ChildPool, ChildStartError, PoolFullError
from netautod.core.loop.child_process import ChildKind, ChildLostError, ChildProcess
from netautod.documents.rendering.limits import (
    DIED,
    LIST_NAMES,
    MAX_ANSWER,
    RENDER,
    RENDER_STRICT,
    TOO_LONG,
    WALL_SECONDS,
    pack_request,
)

CHILD = ChildKind(
    module="netautod.documents.rendering.child",
    name="a rendering child",
    buffer=2 * MAX_ANSWER,
    max_answer=MAX_ANSWER,
)
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
        self._pool = ChildPool(
            CHILD, children=processes, max_pending=MAX_WAITING + processes, idle_seconds=idle_seconds
        )

    @property
    def children(self) -> frozenset[ChildProcess]:
        """Return the living children, idle or not."""
        return self._pool.children

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    async def render(self, template: str, variables: Mapping[str, Any], *, strict: bool = False) -> Rendered:
        """Render within the limits; `strict`: an undefined name is an error.

        Raises Unavailable if too many wait or no child starts.
        """
        return await self._perform(RENDER_STRICT if strict else RENDER, template, variables)

    async def names(self, template: str) -> list[str]:
        """List the names that a template takes from its variables, sorted.

        Raises InvalidInput for a template that cannot be read, and Unavailable.
        """
        done = await self._perform(LIST_NAMES, template, {})
        if done.error is not None:
            raise InvalidInput(f"The template cannot be read: {done.error}")
        names: list[str] = json.loads(done.output)
        return names

    async def _perform(self, work: str, template: str, variables: Mapping[str, Any]) -> Rendered:
        options = json_values.encode({"work": work, "variables": variables})
        request = pack_request(template.encode(), options)
        try:
            done, content = await self._pool.ask(request, seconds=WALL_SECONDS)
        except PoolFullError as error:
            raise Unavailable("Too many templates are being rendered; try again in a moment") from error
        except ChildStartError as error:
            raise Unavailable("Templates cannot be rendered at the moment") from error
        except TimeoutError:
            return Rendered(output="", success=False, error=TOO_LONG)
        except ChildLostError:
            return Rendered(output="", success=False, error=DIED)
        text = content.decode("utf-8", "replace")
        return Rendered(output=text if done else "", success=done, error=None if done else text)
