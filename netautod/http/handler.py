"""The base of all handlers: who may ask, how much of a body is taken, and its validation."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar, cast

from tornado.web import RequestHandler, stream_request_body

from netautod.core.errors import (
    Forbidden,
    InvalidInput,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from netautod.core.identity.audit_trace import Trace, current_trace
from netautod.core.identity.caller import RequestInfo
from netautod.core.identity.refusals import Refusal, TokenRefused, UnrecordedChange
from netautod.core.json import values as json_values
from netautod.core.logs.folding import repeats
from netautod.core.logs.lines import event
from netautod.core.loop.pace import in_thread_if_large
from netautod.core.schema.bases import load, uuid_or_none
from netautod.core.work.deadlines import Patience, begin_request
from netautod.http.access import Operation
from netautod.http.answers import METHODS
from netautod.http.bodies.received import ReceivedBody
from netautod.http.errors import (
    MethodNotAllowed,
    UnknownExpectation,
    UnsupportedEncoding,
    status_of,
)
from netautod.http.idempotent_requests import OnceHandler
from netautod.http.request_log import CLIENT_GONE, REQUEST, shown_path

logger = logging.getLogger(__name__)
T = TypeVar("T")
# The only routes for a caller who has to see to the own account first.
OWN_ACCOUNT = "/api/auth/"
CHANGING = ("POST", "PUT", "DELETE")


class EveryMethod(tuple[str, ...]):
    """Tornado refuses methods that it does not know by itself; ours get to the handler."""

    def __contains__(self, method: object) -> bool:
        return True


@stream_request_body
class JsonHandler(OnceHandler):
    """Answers JSON. Subclasses declare each method with `requires`, `any_token` or `public`."""

    SUPPORTED_METHODS = EveryMethod(RequestHandler.SUPPORTED_METHODS)

    body: dict[str, Any]
    query: dict[str, Any]
    _work: asyncio.Future[Any] | None = None
    _client_gone = False
    _received: ReceivedBody | None = None
    _patience: Patience | None = None

    def initialize(self, **services: Any) -> None:
        for name, service in services.items():
            setattr(self, name, service)

    def take_body(self) -> bytes:
        """The body, handed over: large ones are not kept twice."""
        return b"" if self._received is None else self._received.take()

    async def prepare(self) -> None:
        self._begin()
        operation = self._operation()
        if operation is None:
            self._refuse_method()
            return
        self._refuse_odd_headers()
        if operation.public:
            if operation.limited:
                self._count_anonymous()
        else:
            try:
                await self._admit(operation)
            except (Unauthenticated, Forbidden) as error:
                await self.refused(error)
                raise
        self.read_conditions(operation)
        self.read_key(operation)
        if operation.needs_room(self.request.method or ""):
            self.context.room.require()
        self._expect_body(operation)

    async def _admit(self, operation: Operation) -> None:
        self.caller = await self.context.caller_of(self._bearer_token(), self.info)
        self.belongs_to(self.caller)
        if not self.request.path.startswith(OWN_ACCOUNT):
            self.caller.require_unblocked()
        if operation.permission is not None:
            self.caller.require(operation.permission)

    def _begin(self) -> None:
        self.begun()
        self._trace = Trace()
        current_trace.set(self._trace)
        self._patience = begin_request(self.context.database_seconds)
        self.info = RequestInfo(
            ip_address=self.context.client_address(self.request),
            request_id=self.request_id,
            user_agent=self.request.headers.get("User-Agent", "")[:512],
        )

    def _count_anonymous(self) -> None:
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
            if self.is_keyed:
                await self.note_body(self._received.parts)
        schema = operation.query_schema
        if schema is not None:
            given = self.given_query()
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

    def given_query(self) -> Mapping[str, list[bytes]]:
        """The query's parameters as they were sent."""
        return self.request.query_arguments

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
        """The result of `work`, which is cancelled when the client disconnects.

        Not under an Idempotency-Key: with that the client can come back for it.
        """
        if self.is_keyed:
            return await work
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
            self.over(CLIENT_GONE)
        if self._work is not None:
            self._work.cancel()

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

    async def head(self, *args: str, **kwargs: str) -> None:
        await self.get(*args, **kwargs)  # type: ignore[misc]  # Tornado sends the headers alone

    async def options(self, *args: str, **kwargs: str) -> None:
        self.set_status(204)
        self.finish()

    def _refuse_method(self) -> None:
        self._count_anonymous()
        origin = self.request.headers.get("Origin", "")
        if self.request.method == "OPTIONS" and self.context.allows(origin):
            return  # a CORS preflight: options() answers it
        raise MethodNotAllowed("Method not allowed")

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
        self.over(CLIENT_GONE if self._client_gone else self.get_status())
        if self._patience is not None:
            self._patience.end()
        if self._received is not None:
            self._received.leave()

    def _refuse_odd_headers(self) -> None:
        headers = self.request.headers
        if headers.get("Expect", "100-continue").lower() != "100-continue":
            self._count_anonymous()
            raise UnknownExpectation("Expect: Only 100-continue is supported")
        if headers.get("Content-Encoding", "identity").lower() != "identity":
            self._count_anonymous()
            raise UnsupportedEncoding("Content-Encoding: Send the body without compression or encoding")

    def _bearer_token(self) -> str:
        scheme, _, token = self.request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            self._count_anonymous()
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

    _folded = False

    async def prepare(self) -> None:
        self._begin()
        self._count_anonymous()
        if self.request.path.startswith("/"):
            raise NotFound("Not found")
        if self.request.method != "OPTIONS":  # CONNECT host:port
            raise MethodNotAllowed("Method not allowed")
        self.set_header("Allow", ", ".join(METHODS))  # OPTIONS *: what the server as a whole can do

    def _allowed_methods(self) -> list[str]:
        return list(METHODS)

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        """Clients of other products ask for what we do not have, some of them every second."""
        if not isinstance(value, NotFound):
            super().log_exception(typ, value, tb)
            return
        self._folded = True
        method, path, client = self.request.method, shown_path(self.request.path, 404), self.info.ip_address
        again = repeats(("unknown route", client, method, path))
        fields = {
            "method": method,
            "route": "unknown",
            "path": path,
            "status": 404,
            "seconds": round(self.request.request_time(), 6),
            "client": client,
        }
        line = {**again, **event(REQUEST, fields)}
        logger.info("%s %s from %s: unknown route", method, path, client, extra=line)

    def _tell(self, status: int, seconds: float) -> None:
        if not self._folded:
            super()._tell(status, seconds)
