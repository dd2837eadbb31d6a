"""What a handler says: one writer of answers, long ones in parts, and one of errors."""

import asyncio
import logging
import re
import time
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
from functools import lru_cache
from http import HTTPStatus
from itertools import chain, islice
from typing import Any, TypeVar, cast
from uuid import uuid4

from tornado.httputil import HTTPHeaders, format_timestamp
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler

from netautod.core.errors import DiskFull, NetautodError, Unauthenticated, Unavailable
from netautod.core.identity.caller import Caller, RequestInfo
from netautod.core.json import values as json_values
from netautod.core.json.parts import array_parts, encoded_parts
from netautod.core.logs.folding import repeats
from netautod.core.net.addresses import group_of
from netautod.http.access import Operation, operation_of
from netautod.http.context import HttpContext
from netautod.http.errors import (
    RETRIED,
    RETRY_SECONDS,
    MethodNotAllowed,
    common_headers,
    error_body,
    retry_after,
    status_of,
    told,
)
from netautod.http.request_log import shown_path

logger = logging.getLogger(__name__)
T = TypeVar("T")
METHODS = ("GET", "POST", "PUT", "DELETE")
# To pages of other origins, which see and send no more than that.
ALLOWED_HEADERS = ", ".join(
    (
        "Authorization",
        "Content-Type",
        "X-Request-Id",
        "If-Match",
        "If-None-Match",
        "Idempotency-Key",
        "Last-Event-ID",
    )
)
EXPOSED_HEADERS = "X-Request-Id, Retry-After, ETag, Idempotent-Replayed"
LIST_PART = 500  # items of a long list that are written in one turn of the loop
REQUEST_ID_FORM = re.compile(r"[A-Za-z0-9._-]{1,64}")


class AnsweringHandler(RequestHandler):
    """Writes JSON with the headers that every answer has; the requests are read by its subclass."""

    caller: Caller
    info: RequestInfo
    _answer: tuple[Any, ...] = ()
    _light = False
    _other_status: int | None = None
    _error = ""
    retry_seconds = RETRY_SECONDS
    _parts: AsyncGenerator[bytes, None] | None = None

    @property
    def context(self) -> HttpContext:
        return cast(HttpContext, self.application.settings["context"])

    def clear(self) -> None:
        """As Tornado has it, but that the date is written once a second, and no Server to be taken away."""
        self._headers = HTTPHeaders()
        self._headers["Content-Type"] = "text/html; charset=UTF-8"
        self._headers["Date"] = _date(int(time.time()))
        self.set_default_headers()
        self._write_buffer: list[bytes] = []
        self._status_code, self._reason = 200, HTTPStatus.OK.phrase

    def set_default_headers(self) -> None:
        # Tornado calls this before prepare(), and again before it writes an error.
        if not hasattr(self, "request_id"):
            offered = self.request.headers.get("X-Request-Id", "")
            self.request_id = offered if REQUEST_ID_FORM.fullmatch(offered) else uuid4().hex
        for name, value in common_headers(self.request_id).items():
            self._headers[name] = value  # set_header would look at each for what none of them holds
        hsts = self.context.hsts(self.request)
        if hsts is not None:
            self.set_header("Strict-Transport-Security", hsts)
        self._allow_origin()

    def _operation(self) -> Operation | None:
        method = "GET" if self.request.method == "HEAD" else self.request.method
        return operation_of(getattr(self, method.lower())) if method in METHODS else None

    def _allowed_methods(self) -> list[str]:
        return [name for name in METHODS if operation_of(getattr(self, name.lower(), None))]

    @property
    def _owner(self) -> str:
        """Whose share of the node the request takes."""
        caller = getattr(self, "caller", None)
        return group_of(self.info.ip_address) if caller is None else caller.user_id

    def answer(self, value: Any, *, status: int | None = None, light: bool = False) -> None:
        """The value that is written, with the status that the method declared, when the method is over.

        `status`: one of the `other_answers` in its place. `light`: the method knows that to encode it all in
        one go takes the event loop a few milliseconds at most; of others each value is looked at before.
        """
        self._answer, self._other_status, self._light = (value,), status, light

    def answer_each(self, items: AsyncGenerator[T, None], to_json: Callable[[T], Any]) -> None:
        """Like `answer`, for an array of any length: an item is fetched when the client has taken those
        before it. If one cannot be fetched any more, the connection breaks."""
        self._parts = array_parts(items, to_json)

    async def send_answer(self) -> None:
        """Called by the declared method's wrapper: a large value in parts, each when the last was taken."""
        if self._parts is not None:
            async with aclosing(self._parts) as parts:
                await self._send(parts)
        elif self._answer:
            encoded = self._encoded(self._answer[0])
            begun = tuple(islice(encoded, 2))
            if len(begun) == 1:
                self.send_whole(begun[0])
            else:
                await self.send_pieces(chain(begun, encoded))

    def _encoded(self, value: Any) -> Iterator[bytes]:
        return iter([json_values.encode(value)]) if self._light else encoded_parts(value)

    def send_whole(self, content: bytes) -> None:
        """JSON that is encoded already."""
        self._begin_answer()
        self.finish(content)

    async def send_pieces(self, parts: Iterable[bytes]) -> None:
        """The same in at least one part, each when the client has taken the one before."""
        await self._send(_each(parts))

    async def _send(self, parts: AsyncIterator[bytes]) -> None:
        # What fails up to here, as the database may, is still answered with an error.
        first, second = await anext(parts), await anext(parts, None)
        self._begin_answer()
        if second is None:
            self.finish(first)
            return
        self.write(first)
        self.write(second)
        await self._send_parts(parts)

    async def _send_parts(self, parts: AsyncIterable[bytes]) -> None:
        """Each when the client has taken the one before; a crowd of slow readers gives way."""
        share = self.context.shares.answers.enter(self._owner, cast(Any, self.request.connection).close)
        share.grow(1)
        try:
            with suppress(StreamClosedError):  # the client has gone
                await self.flush()
                async for part in parts:
                    self.write(part)
                    await self.flush()
                    await asyncio.sleep(0)
                self.finish()
        finally:
            share.leave()

    async def answer_with_list(self, value: Mapping[str, Any], name: str, items: Iterable[Any]) -> None:
        """Like `answer`, for an object with a long list: the event loop gets its turns meanwhile."""
        self._begin_answer()
        rest = iter(items)
        begun = list(islice(rest, LIST_PART))
        whole = json_values.encode({**value, name: begun})
        if len(begun) < LIST_PART:
            self.finish(whole)
            return
        end = b"]}"
        self.write(whole.removesuffix(end))
        parts = iter(lambda: list(islice(rest, LIST_PART)), [])
        rows = chain((b"," + json_values.encode(part)[1:-1] for part in parts), (end,))
        await self._send_parts(_each(rows))

    def _begin_answer(self) -> None:
        operation = self._operation()
        self.set_status(self._status_of(operation))
        self.set_header("Content-Type", "application/json")

    def _status_of(self, operation: Operation | None) -> int:
        """Of the answer that there is."""
        return self._other_status or (operation.status if operation else 200)

    def answer_nothing(self) -> None:
        """Tornado finishes it when the method has returned, which is after the trace of it."""
        self.set_status(204)
        self.clear_header("Content-Type")

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Called for what a handler raises. An answer that has begun must not look complete."""
        if self._headers_written:
            cast(Any, self.request.connection).close()
            self.over(500)
        else:
            super().send_error(status_code, **kwargs)

    def set_status(self, status_code: int, reason: str | None = None) -> None:
        """Whoever answers 429 or 503, the client hears when to come again."""
        super().set_status(status_code, reason)
        if status_code in RETRIED:
            self.set_header("Retry-After", str(self.retry_seconds))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        error = told(kwargs["exc_info"][1] if "exc_info" in kwargs else None, self.context.room)
        body = self._error_answer(status_code, error)
        if self.get_status() == HTTPStatus.TOO_MANY_REQUESTS:
            body.setdefault("retry_after_secs", self.retry_seconds)
        self.send_error_body(body)

    def send_error_body(self, body: dict[str, Any]) -> None:
        """`error` is the sentence. The status and the headers of the error are set."""
        self.set_header("Content-Type", "application/json")
        self.finish(json_values.encode(body))

    def _error_answer(self, status_code: int, error: BaseException | None) -> dict[str, Any]:
        if isinstance(error, NetautodError) and status_of(error) != 500:
            self.set_status(status_of(error))
            body = error_body(error)
            seconds = retry_after(error)
            if seconds is not None:
                self.set_header("Retry-After", str(seconds))
            if isinstance(error, MethodNotAllowed):
                self.set_header("Allow", ", ".join(self._allowed_methods()))
            if isinstance(error, Unauthenticated):
                self.set_header("WWW-Authenticate", "Bearer")
            return body
        if isinstance(error, HTTPError) and status_code < 500:
            self.set_status(status_code)
            return {"error": error.log_message or HTTPStatus(status_code).phrase}
        self.set_status(500)
        return {"error": f"Internal server error (request {self.request_id})"}

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        expected = isinstance(value, NetautodError) and status_of(value) != 500
        value = told(value, self.context.room)
        if isinstance(value, Unavailable):  # every client meets it, again and again
            # The sentence of a full disk is another one with each byte that is free.
            kind = "full disk" if isinstance(value, DiskFull) else value.text
            path = shown_path(self.request.path, 503)
            logger.warning("%s %s: %s", self.request.method, path, value, extra=repeats(("503", kind)))
        elif expected or isinstance(value, HTTPError):
            self._error = str(value)  # told with the request
        else:
            path = shown_path(self.request.path, 500)
            logger.error("%s %s failed", self.request.method, path, exc_info=(typ, value, tb))  # type: ignore[arg-type]

    def over(self, status: int) -> None:
        """The request is, as far as it goes: told by the subclass, once."""

    def compute_etag(self) -> str | None:
        return None

    def _allow_origin(self) -> None:
        origin = self.request.headers.get("Origin", "")
        if self.context.allows(origin):
            self.set_header("Access-Control-Allow-Origin", origin)
            self.set_header("Access-Control-Allow-Headers", ALLOWED_HEADERS)
            self.set_header("Access-Control-Allow-Methods", ", ".join(METHODS))
            self.set_header("Access-Control-Expose-Headers", EXPOSED_HEADERS)
            self.set_header("Access-Control-Max-Age", "600")
            self.set_header("Vary", "Origin")


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return format_timestamp(second)


async def _each(items: Iterable[T]) -> AsyncIterator[T]:
    for item in items:
        yield item
