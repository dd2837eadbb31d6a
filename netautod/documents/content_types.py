"""The content types: the service's own, and those of plugins, which check and render contents.

A document whose plugin is gone stays readable, and may be changed as long as its type stays.
"""

import asyncio
import logging
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

from netautod.core.errors import InvalidInput, Unavailable
from netautod.documents.models import CONTENT_TYPES, JINJA
from netautod.documents.rendering.limits import MAX_OUTPUT, TOO_MUCH_OUTPUT
from netautod.documents.rendering.pool import Rendered
from netautod.plugin_api import ContentType

logger = logging.getLogger(__name__)
T = TypeVar("T")
SECONDS = 10.0
AT_ONCE = 4  # threads of one content type, those included that never end
_SURROGATE = re.compile("[\ud800-\udfff]")
FAILED = "the plugin of this content type failed"


class ContentTypes:
    """The content types. `of_plugins` by name; each call of a plugin has a thread of its own, and
    `seconds`."""

    def __init__(
        self, of_plugins: Mapping[str, ContentType] | None = None, *, seconds: float = SECONDS
    ) -> None:
        self.of_plugins = dict(of_plugins or {})
        self._seconds = seconds
        self._threads = {name: threading.Semaphore(AT_ONCE) for name in self.of_plugins}

    @property
    def names(self) -> tuple[str, ...]:
        """Return all types that a document may have."""
        return (*CONTENT_TYPES, *self.of_plugins)

    @property
    def rendered(self) -> str:
        """Return the types that can be rendered, in words."""
        return " or ".join([JINJA, *(name for name in self.of_plugins if self.is_rendered(name))])

    def is_rendered(self, name: str) -> bool:
        """Return whether a plugin renders contents of this type."""
        return name in self.of_plugins and self.of_plugins[name].render is not None

    def is_checked(self, name: str) -> bool:
        """Return whether a plugin checks contents of this type."""
        return name in self.of_plugins and self.of_plugins[name].check is not None

    async def check(self, name: str, text: str, *, may_be_gone: bool = False) -> None:
        """Check the text by its type. Raises InvalidInput for an unknown type, or a text that is not of
        it."""
        kind = self.of_plugins.get(name)
        if kind is None:
            if name not in CONTENT_TYPES and not may_be_gone:
                raise InvalidInput(f"content_type: Must be one of: {', '.join(self.names)}")
            return
        if kind.check is None:
            return
        try:
            await self._called(name, kind.check, text)
        except Unavailable:
            raise
        except ValueError as error:
            sentence = " ".join(str(error).split())[:500]
            raise InvalidInput(f"content: Not valid {name}: {sentence}") from error
        except Exception:
            logger.error("the content type %s failed to check a content", name)
            raise

    async def render(self, name: str, text: str, variables: Mapping[str, Any]) -> Rendered:
        """Render by the plugin of the type; an error is part of the result."""
        render = self.of_plugins[name].render
        assert render is not None
        try:
            output = await self._called(name, render, text, variables)
        except ValueError as error:
            return Rendered(output="", success=False, error=str(error))
        except Exception:
            logger.exception("the content type %s cannot be rendered", name)
            return Rendered(output="", success=False, error=FAILED)
        if not isinstance(output, str) or _SURROGATE.search(output):
            logger.error("the content type %s was not rendered as text", name)
            return Rendered(output="", success=False, error=FAILED)
        if len(output.encode()) > MAX_OUTPUT:
            return Rendered(output="", success=False, error=TOO_MUCH_OUTPUT)
        return Rendered(output=output, success=True, error=None)

    async def _called(self, name: str, function: Callable[..., T], *arguments: Any) -> T:
        """Call the plugin in a daemon thread: one that never returns blocks neither the service nor its
        stop."""
        if not self._threads[name].acquire(blocking=False):
            raise Unavailable(
                f"Too many contents of the type {name} are being checked; try again in a moment"
            )
        loop = asyncio.get_running_loop()
        over: asyncio.Future[T] = loop.create_future()
        within = copy_context()

        def work() -> None:
            end: Callable[[Any], None]
            value: Any
            try:
                end, value = over.set_result, within.run(function, *arguments)
            except BaseException as error:  # noqa: BLE001  # whatever it is, it is how the call has ended
                end, value = over.set_exception, _future_exception(error)
            finally:
                self._threads[name].release()
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(_end, over, end, value)

        threading.Thread(target=work, name=f"content type {name}", daemon=True).start()
        try:
            async with asyncio.timeout(self._seconds):
                return await over
        except TimeoutError as error:
            logger.error("the content type %s takes more than %g s for a content", name, self._seconds)
            raise Unavailable(f"The content type {name} takes too long for this content") from error


def _end(over: "asyncio.Future[Any]", end: Callable[[Any], None], value: Any) -> None:
    if not over.done():
        end(value)


def _future_exception(error: BaseException) -> BaseException:
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    made = RuntimeError(f"it raised {type(error).__name__}")
    made.__cause__ = error
    return made
