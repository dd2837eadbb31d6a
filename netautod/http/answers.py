"""The answers of handler methods and the writer that sends them as JSON, long ones in parts."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing, suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

from tornado.iostream import StreamClosedError
from tornado.web import RequestHandler

from netautod.core.json import values as json_values
from netautod.core.json.parts import encoded_parts
from netautod.http.bodies.fair_share import Share

T = TypeVar("T")
JSON = "application/json"
LIST_PART = 500  # items of a long list that are written in one turn of the loop


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The answer of a handler method: a JSON value, or content in `parts` of any number.

    `light`: encoding the value in one go takes the event loop a few milliseconds at most.
    """

    status: int
    value: Any = None
    light: bool = False
    parts: AsyncGenerator[bytes, None] | None = None
    content_type: str = JSON

    def encoded(self) -> Iterator[bytes]:
        """Yield the value as JSON, in one part if it is light or small."""
        return iter([json_values.encode(self.value)]) if self.light else encoded_parts(self.value)


class AnswerWriter:
    """A writer of one answer through its handler. It lives while it writes, so that the two make no cycle.

    `enter_share` takes the request's share of the long answers of this node.
    """

    def __init__(self, handler: RequestHandler, enter_share: Callable[[], Share]) -> None:
        self._handler = handler
        self._enter_share = enter_share

    async def send(self, answer: Answer) -> None:
        """Write the answer: a large one in parts, each when the client has taken the one before."""
        if answer.parts is not None:
            async with aclosing(answer.parts) as parts:
                await self._send(answer, parts)
            return
        encoded = answer.encoded()
        first = tuple(islice(encoded, 2))
        if len(first) == 1:
            self.send_whole(answer, first[0])
        else:
            await self.send_pieces(answer, chain(first, encoded))

    def send_whole(self, answer: Answer, content: bytes) -> None:
        """Write the answer's content, which is encoded already."""
        self._set_head(answer.status, answer.content_type)
        self._handler.finish(content)

    async def send_pieces(self, answer: Answer, parts: Iterable[bytes]) -> None:
        """Write the answer's content in at least one part, each when the client has taken the one before."""
        await self._send(answer, _each(parts))

    def send_not_modified(self) -> None:
        """Write a 304."""
        self._handler.set_status(304)
        self._handler.clear_header("Content-Type")
        self._handler.finish()

    def send_stored(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        """Write an answer that was stored; one without content is a 204."""
        for name, text in headers.items():
            self._handler.set_header(name, text)
        self._handler.set_status(status if content else 204)
        if content:
            self._handler.set_header("Content-Type", JSON)
            self._handler.write(content)
        else:
            self._handler.clear_header("Content-Type")
        self._handler.finish()

    async def send_list(self, status: int, value: Mapping[str, Any], name: str, items: Iterable[Any]) -> None:
        """Write an object with a long list under `name`, so that the event loop gets its turns meanwhile."""
        self._set_head(status, JSON)
        rest = iter(items)
        first = list(islice(rest, LIST_PART))
        whole = json_values.encode({**value, name: first})
        if len(first) < LIST_PART:
            self._handler.finish(whole)
            return
        end = b"]}"
        self._handler.write(whole.removesuffix(end))
        parts = iter(lambda: list(islice(rest, LIST_PART)), [])
        rows = chain((b"," + json_values.encode(part)[1:-1] for part in parts), (end,))
        await self._send_rest(_each(rows))

    async def _send(self, answer: Answer, parts: AsyncIterator[bytes]) -> None:
        # What fails up to here, as the database may, is still answered with an error.
        first, second = await anext(parts), await anext(parts, None)
        self._set_head(answer.status, answer.content_type)
        if second is None:
            self._handler.finish(first)
            return
        self._handler.write(first)
        self._handler.write(second)
        await self._send_rest(parts)

    async def _send_rest(self, parts: AsyncIterable[bytes]) -> None:
        """Write each part when the client has taken the one before; a crowd of slow readers gives way."""
        handler, share = self._handler, self._enter_share()
        share.grow(1)
        try:
            with suppress(StreamClosedError):  # the client has gone
                await handler.flush()
                async for part in parts:
                    handler.write(part)
                    await handler.flush()
                    await asyncio.sleep(0)
                handler.finish()
        finally:
            share.leave()

    def _set_head(self, status: int, content_type: str) -> None:
        self._handler.set_status(status)
        self._handler.set_header("Content-Type", content_type)


async def collect(items: Iterable[T]) -> list[T]:
    """Return the items as a list, so that the event loop gets its turns meanwhile."""
    rest, found = iter(items), list[T]()
    while part := list(islice(rest, LIST_PART)):
        found += part
        await asyncio.sleep(0)
    return found


async def _each(items: Iterable[T]) -> AsyncIterator[T]:
    for item in items:
        yield item
