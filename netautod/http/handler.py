"""The base of all handlers: authentication, body limits, validation, one writer of answers and errors."""

import asyncio
import logging
import re
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import suppress
from http import HTTPStatus
from itertools import chain, islice
from typing import Any, TypeVar, cast
from uuid import uuid4

from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler, stream_request_body

from netautod.core import json_values
from netautod.core.addresses import group_of
from netautod.core.errors import (
    Forbidden,
    InvalidInput,
    NetautodError,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from netautod.core.identity import Caller, RequestInfo
from netautod.core.json_parts import encoded_parts
from netautod.core.logs import current_request
from netautod.core.loop.pace import in_thread_if_large
from netautod.core.refusals import Refusal, TokenRefused, UnrecordedChange
from netautod.core.schema import load, uuid_or_none
from netautod.core.trace import Trace, current_trace
from netautod.http.access import Operation, operation_of
from netautod.http.bodies.received import ReceivedBody
from netautod.http.context import HttpContext
from netautod.http.errors import (
    MethodNotAllowed,
    UnknownExpectation,
    UnsupportedEncoding,
    common_headers,
    error_body,
    status_of,
)

logger = logging.getLogger(__name__)
T = TypeVar("T")
# The only routes for a caller who has to see to the own account first.
OWN_ACCOUNT = "/api/auth/"
METHODS = ("GET", "POST", "PUT", "DELETE")
CHANGING = ("POST", "PUT", "DELETE")
LIST_PART = 500  # items of a long list that are written in one turn of the loop
REQUEST_ID_FORM = re.compile(r"[A-Za-z0-9._-]{1,64}")


class EveryMethod(tuple[str, ...]):
    """Tornado refuses methods that it does not know by itself; ours get to the handler."""

    def __contains__(self, method: object) -> bool:
        return True


@stream_request_body
class JsonHandler(RequestHandler):
    """Answers JSON. Subclasses declare each method with `requires`, `any_token` or `public`."""

    SUPPORTED_METHODS = EveryMethod(RequestHandler.SUPPORTED_METHODS)

    body: dict[str, Any]
    query: dict[str, Any]
    caller: Caller
    _answer: tuple[Any, ...] = ()
    route = ""
    _work: asyncio.Future[Any] | None = None
    _client_gone = False
    _received: ReceivedBody | None = None

    def initialize(self, **services: Any) -> None:
        for name, service in services.items():
            setattr(self, name, service)

    @property
    def context(self) -> HttpContext:
        return cast(HttpContext, self.application.settings["context"])

    def take_body(self) -> bytes:
        """The body, handed over: large ones are not kept twice."""
        return b"" if self._received is None else self._received.take()

    def set_default_headers(self) -> None:
        # Tornado calls this before prepare(), and again before it writes an error.
        if not hasattr(self, "request_id"):
            offered = self.request.headers.get("X-Request-Id", "")
            self.request_id = offered if REQUEST_ID_FORM.fullmatch(offered) else uuid4().hex
        self.clear_header("Server")
        for name, value in common_headers(self.request_id).items():
            self.set_header(name, value)
        hsts = self.context.hsts(self.request)
        if hsts is not None:
            self.set_header("Strict-Transport-Security", hsts)
        self._allow_origin()

    async def prepare(self) -> None:
        self._begin()
        operation = self._operation()
        if operation is None:
            self._refuse_method()
            return
        self._refuse_odd_headers()
        if operation.public:
            if operation.limited:
                self._count_stranger()
        else:
            try:
                await self._admit(operation)
            except (Unauthenticated, Forbidden) as error:
                await self.refused(error)
                raise
        self._expect_body(operation)

    async def _admit(self, operation: Operation) -> None:
        self.caller = await self.context.caller_of(self._bearer_token(), self.info)
        if not self.request.path.startswith(OWN_ACCOUNT):
            self.caller.require_unblocked()
        if operation.permission is not None:
            self.caller.require(operation.permission)

    def _begin(self) -> None:
        current_request.set(self.request_id)
        self._trace = Trace()
        current_trace.set(self._trace)
        self.info = RequestInfo(
            ip_address=self.context.client_address(self.request),
            request_id=self.request_id,
            user_agent=self.request.headers.get("User-Agent", "")[:512],
        )

    @property
    def _owner(self) -> str:
        """Whose share of the node the request takes."""
        caller = getattr(self, "caller", None)
        return group_of(self.info.ip_address) if caller is None else caller.user_id

    def _count_stranger(self) -> None:
        self.context.limits.anonymous(self.info.ip_address)

    async def refused(self, error: Unauthenticated | Forbidden) -> None:
        """Every refusal for want of a permission or a good token comes along here, before it is answered.

        Not that of a request without a token, nor of a wrong password at a public route: who checks that
        records it.
        """
        operation, token = self._operation(), isinstance(error, TokenRefused)
        offered = "Authorization" in self.request.headers and operation is not None and not operation.public
        if isinstance(error, Unauthenticated) and not token and not offered:
            return
        await self.context.refusals.record(
            Refusal(
                status=status_of(error),
                reason=error.text,
                method=self.request.method or "",
                route=self.route,
                permission=operation.permission if operation is not None else None,
                caller=error.caller if isinstance(error, TokenRefused) else getattr(self, "caller", None),
                info=self.info,
            )
        )

    def data_received(self, chunk: bytes) -> None:
        if self._received is not None:
            self._received.add(chunk)

    async def load_request(self, operation: Operation) -> None:
        """Called by the declared method's wrapper, after the body has arrived."""
        if self._received is not None:
            self._received.complete()
        if operation.query is not None:
            schema = operation.query()
            given = self.request.query_arguments
            self.query = load(
                schema, {key: _query_text(key, given[key]) for key in schema.fields if key in given}
            )
        if operation.body is not None:
            body = self.take_body()
            value = await self.context.bodies.value_of(body) if body.strip() else {}
            if not isinstance(value, dict):
                raise InvalidInput("The request body must be a JSON object")
            wanted, partial = operation.body(), operation.partial
            self.body = await in_thread_if_large(len(body), load, wanted, value, partial=partial)

    def decode_argument(self, value: bytes, name: str | None = None) -> str:
        """A segment of a path. What is not UTF-8 becomes a text that is no id, which is a 404."""
        return value.decode("utf-8", "replace") if name is None else super().decode_argument(value, name)

    def path_id(self, text: str, resource: str) -> str:
        """The path's id in lower case; anything that is no UUID is 404 like a missing one."""
        found = uuid_or_none(text)
        if found is None:
            raise NotFound(f"{resource} not found")
        return found

    async def while_connected(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, which is cancelled when the client disconnects."""
        self._work = asyncio.ensure_future(work)
        if self._client_gone:
            self._work.cancel()
        try:
            return await self._work  # type: ignore[no-any-return]  # the attribute holds any kind of work
        except asyncio.CancelledError as error:
            if not self._client_gone:
                raise
            raise Unavailable("the client went away") from error
        finally:
            self._work = None

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._client_gone = True
        if self._received is not None and not self._received.whole:
            self._received.leave()
        if self._work is not None:
            self._work.cancel()

    def answer(self, value: Any) -> None:
        """The value that is written, with the status that the method declared, when the method is over."""
        self._answer = (value,)

    async def leave_trace(self, operation: Operation) -> None:
        """Called before the answer of a request that was done: no change goes without an event."""
        if self.request.method in CHANGING and operation.changes and not self._trace.events:
            await self.context.refusals.record_change(
                UnrecordedChange(
                    method=self.request.method,
                    route=self.route,
                    caller=getattr(self, "caller", None),
                    info=self.info,
                )
            )

    async def send_answer(self) -> None:
        """Called by the declared method's wrapper: a large value in parts, each when the last was taken."""
        if not self._answer:
            return
        parts = encoded_parts(self._answer[0])
        first, second = next(parts), next(parts, None)
        self._begin_answer()
        if second is None:
            self.finish(first)
            return
        self.write(first)
        await self._send_parts(chain((second,), parts))

    async def _send_parts(self, parts: Iterable[bytes]) -> None:
        """Each when the client has taken the one before; a crowd of slow readers gives way."""
        share = self.context.shares.answers.enter(self._owner, cast(Any, self.request.connection).close)
        share.grow(1)
        try:
            with suppress(StreamClosedError):  # the client has gone
                for part in parts:
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
        await self._send_parts(chain((b"," + json_values.encode(part)[1:-1] for part in parts), (end,)))

    def _begin_answer(self) -> None:
        operation = self._operation()
        self.set_status(operation.status if operation else 200)
        self.set_header("Content-Type", "application/json")

    def answer_nothing(self) -> None:
        """Tornado finishes it when the method has returned, which is after the trace of it."""
        self.set_status(204)
        self.clear_header("Content-Type")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        error = kwargs["exc_info"][1] if "exc_info" in kwargs else None
        body = self._error_answer(status_code, error)
        self.set_header("Content-Type", "application/json")
        self.finish(json_values.encode(body))

    def _error_answer(self, status_code: int, error: BaseException | None) -> dict[str, Any]:
        if isinstance(error, NetautodError) and status_of(error) != 500:
            self.set_status(status_of(error))
            body = error_body(error)
            if "retry_after_secs" in body:
                self.set_header("Retry-After", str(body["retry_after_secs"]))
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
        if expected or isinstance(value, HTTPError):
            logger.info("%s %s: %s", self.request.method, self.request.path, value)
        else:
            logger.error("%s %s failed", self.request.method, self.request.path, exc_info=(typ, value, tb))  # type: ignore[arg-type]

    def compute_etag(self) -> str | None:
        return None

    async def head(self, *args: str, **kwargs: str) -> None:
        await self.get(*args, **kwargs)  # type: ignore[misc]  # Tornado sends the headers alone

    async def options(self, *args: str, **kwargs: str) -> None:
        self.set_status(204)
        self.finish()

    def _operation(self) -> Operation | None:
        method = "GET" if self.request.method == "HEAD" else self.request.method
        return operation_of(getattr(self, method.lower())) if method in METHODS else None

    def _allowed_methods(self) -> list[str]:
        return [name for name in METHODS if operation_of(getattr(self, name.lower(), None))]

    def _refuse_method(self) -> None:
        self._count_stranger()
        origin = self.request.headers.get("Origin", "")
        if self.request.method == "OPTIONS" and self.context.allows(origin):
            return  # a CORS preflight: options() answers it
        raise MethodNotAllowed("Method not allowed")

    def _allow_origin(self) -> None:
        origin = self.request.headers.get("Origin", "")
        if self.context.allows(origin):
            self.set_header("Access-Control-Allow-Origin", origin)
            self.set_header("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Request-Id")
            self.set_header("Access-Control-Allow-Methods", ", ".join(METHODS))
            self.set_header("Access-Control-Expose-Headers", "X-Request-Id, Retry-After")
            self.set_header("Access-Control-Max-Age", "600")
            self.set_header("Vary", "Origin")

    def _expect_body(self, operation: Operation) -> None:
        """From here on a body may arrive; a request that is refused before has its body dropped."""
        received = self._received = ReceivedBody(
            limit=operation.body_limit,
            kept=operation.takes_body,
            shares=self.context.shares.bodies,
            owner=self._owner,
        )
        length = int(self.request.headers.get("Content-Length", "0"))
        received.announce(length)
        if "Expect" in self.request.headers:  # the client waits before it sends all of that
            received.check_length()
        # What is declared is drained and answered with 413; chunks end where the limit is.
        cast(Any, self.request.connection).set_max_body_size(max(length, operation.body_limit))

    def on_finish(self) -> None:
        if self._received is not None:
            self._received.leave()

    def _refuse_odd_headers(self) -> None:
        headers = self.request.headers
        if headers.get("Expect", "100-continue").lower() != "100-continue":
            self._count_stranger()
            raise UnknownExpectation("Expect: Only 100-continue is supported")
        if headers.get("Content-Encoding", "identity").lower() != "identity":
            self._count_stranger()
            raise UnsupportedEncoding("Content-Encoding: Send the body without compression or encoding")

    def _bearer_token(self) -> str:
        scheme, _, token = self.request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            self._count_stranger()
            raise Unauthenticated("Authentication required")
        return token.strip()


def _query_text(key: str, given: list[bytes]) -> str:
    """The last value as it was sent: Tornado's own reading turns NUL and the like into spaces."""
    try:
        text = given[-1].decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{key}: Not valid UTF-8") from error
    json_values.check_text(text, key)
    return text


class UnknownRouteHandler(JsonHandler):
    """Every path that no route matches, and the targets that are no path."""

    async def prepare(self) -> None:
        self._begin()
        self._count_stranger()
        if self.request.path.startswith("/"):
            raise NotFound("Not found")
        if self.request.method != "OPTIONS":  # CONNECT host:port
            raise MethodNotAllowed("Method not allowed")
        self.set_header("Allow", ", ".join(METHODS))  # OPTIONS *: what the server as a whole can do

    def _allowed_methods(self) -> list[str]:
        return list(METHODS)
