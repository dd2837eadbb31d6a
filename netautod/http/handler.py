"""The handler of all routes: a request from its head to the end of its answer, in this order.

`prepare` finds who calls and whether the request may go on. `data_received` takes its body. `perform` loads
the request, does the work of the declared method, and sends the answer. `on_finish` ends it. What a step does
in detail is the job of one object: `Admission` checks, `ReceivedBody` holds the body, `IdempotentRequest`
knows Idempotency-Key, `Preconditions` and `TaggedAnswers` know entity tags, `AnswerWriter` writes, and
`RequestLog` logs and counts.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar, cast

from tornado.httputil import HTTPHeaders
from tornado.web import RequestHandler, stream_request_body

from netautod.core.errors import Forbidden, InvalidInput, NotFound, Unauthenticated
from netautod.core.identity.audit_trace import Trace, current_trace
from netautod.core.identity.caller import Caller, RequestInfo
from netautod.core.identity.refusals import UnrecordedChange
from netautod.core.json import values as json_values
from netautod.core.json.parts import array_parts, object_parts
from netautod.core.loop.pace import in_thread_if_large
from netautod.core.net.addresses import group_of
from netautod.core.schema.bases import load, uuid_or_none
from netautod.core.work.deadlines import Patience, begin_request
from netautod.core.work.plugin_calls import no_exit
from netautod.http.access import METHODS, EveryMethod, Operation, declared_operation, operation_of
from netautod.http.admission import Admission
from netautod.http.answers import JSON, Answer, AnswerWriter, collect
from netautod.http.bodies.fair_share import Share
from netautod.http.bodies.received import ReceivedBody
from netautod.http.conditions.preconditions import NO_CONDITIONS, Preconditions
from netautod.http.conditions.tagged_answers import TaggedAnswers
from netautod.http.connections.client_presence import ClientPresence
from netautod.http.context import HttpContext, request_id_of
from netautod.http.errors import RETRIED, RETRY_SECONDS, error_answer, name_full_disk
from netautod.http.idempotency.request import REPLAYED, STORED_HEADERS, AnswerToStore, IdempotentRequest
from netautod.http.request_log import CLIENT_GONE, RequestLog

T = TypeVar("T")
CHANGING = ("POST", "PUT", "DELETE")


@stream_request_body
class JsonHandler(RequestHandler):
    """A handler that answers JSON. Subclasses declare each method with `requires`, `any_token` or `public`.

    `operation`: the declaration of the request's method; None: there is none. `route`: the template of its
    path, empty where no route matches. `tag`: the entity tag of the answer, if the method knows it.
    """

    SUPPORTED_METHODS = EveryMethod(RequestHandler.SUPPORTED_METHODS)

    info: RequestInfo
    caller: Caller
    query: dict[str, Any]
    body: dict[str, Any]
    operation: Operation | None = None
    route = ""
    tag: str | None = None
    retry_seconds = RETRY_SECONDS
    # Whether pages of `server.cors_origins` may call it.
    serves_listed_origins = True
    admission: Admission
    conditions: Preconditions = NO_CONDITIONS
    idempotency: IdempotentRequest | None = None
    _answer: Answer | None = None
    _received: ReceivedBody | None = None
    _patience: Patience | None = None

    def initialize(self, **services: Any) -> None:
        for name, service in services.items():
            setattr(self, name, service)
        self._client = ClientPresence()
        self.request_log = RequestLog(
            self.request, self.context, request_id=self.request_id, route=self.route
        )

    @property
    def context(self) -> HttpContext:
        return cast(HttpContext, self.application.settings["context"])

    # First: who calls, and whether the request may go on.

    async def prepare(self) -> None:
        self.start_tracking()
        self.check_sender()
        operation = self.operation = declared_operation(self, self.request.method)
        if operation is None:
            self.admission.check_method()
            return
        self.check_headers()
        if operation.public:
            if operation.limited:
                self.admission.count_anonymous()
        else:
            try:
                await self.admit(operation)
            except (Unauthenticated, Forbidden) as error:
                await self.record_refusal(error)
                raise
        self.conditions = Preconditions.read(self.request, operation)
        self.idempotency = IdempotentRequest.read(self.request, operation, self.context.idempotency)
        if operation.needs_room(self.request.method or ""):
            self.context.room.require()
        self._expect_body(operation)

    def start_tracking(self) -> None:
        """Begin the request's log, its audit trace, and its deadline for the database."""
        self.info = RequestInfo(
            ip_address=self.context.client_address(self.request),
            request_id=self.request_id,
            user_agent=self.request.headers.get("User-Agent", "")[:512],
        )
        self.admission = Admission(self.request, self.context, self.info)
        self.request_log.begin(self.info.ip_address)
        self._trace = Trace()
        current_trace.set(self._trace)
        self._patience = begin_request(self.context.database_seconds)

    def check_sender(self) -> None:
        """Raise for a request to a host that is not ours, or of a page that may not send it."""
        self.admission.check_host()
        self.admission.check_origin(listed=self.serves_listed_origins)

    def check_headers(self) -> None:
        """Raise for a header that asks for what we do not have."""
        self.admission.check_headers()

    async def admit(self, operation: Operation) -> None:
        """Find the caller. Raises Unauthenticated, Forbidden or TooManyRequests."""
        self.identify(await self.context.caller_of(self.admission.bearer_token(), self.info))
        self.admission.check_account(self.caller)
        if operation.permission is not None:
            self.caller.require(operation.permission)

    def identify(self, caller: Caller) -> None:
        """Set the caller, whose request this is from here on."""
        self.caller = caller
        self.request_log.identify(caller)

    async def record_refusal(self, error: Unauthenticated | Forbidden) -> None:
        """Record a refusal for want of a permission or a good token, before it is answered."""
        caller = getattr(self, "caller", None)
        await self.admission.record_refusal(error, self.operation, route=self.route, caller=caller)

    # Second: the body.

    def _expect_body(self, operation: Operation) -> None:
        """Let the body arrive from here on; that of a request that was refused before is dropped."""
        received = self._received = ReceivedBody(
            limit=operation.body_limit,
            kept=operation.takes_body or operation.body_schema(self.request.method or "") is not None,
            shares=self.context.shares.bodies,
            owner=self._share_owner(),
        )
        length = int(self.request.headers.get("Content-Length", "0"))
        received.announce(length)
        if "Expect" in self.request.headers:  # the client waits before it sends all of that
            received.check_length()
        # What is declared is drained and answered with 413; chunks end where the limit is.
        cast(Any, self.request.connection).set_max_body_size(max(length, operation.body_limit))

    def data_received(self, chunk: bytes) -> None:
        if self._received is not None:
            self._received.add(chunk)

    def take_body(self) -> bytes:
        """Hand over the body, so that a large one is not held twice."""
        return b"" if self._received is None else self._received.take()

    # Third: the declared method, its work and its answer.

    async def perform(self, operation: Operation, work: Callable[[], Awaitable[None]]) -> None:
        """Serve the request by its declared method, which is `work` (http/access.py calls this)."""
        await self.load_request(operation)
        try:
            if self.idempotency is None:
                await self._work(operation, work)
            else:
                await self.idempotency.perform(
                    caller=self.caller,
                    path=(self.route, *self.path_args),
                    repeat=operation.repeat,
                    work=lambda: self._work(operation, work),
                    answer=lambda: self._answer_to_store(operation),
                )
        except (Unauthenticated, Forbidden) as error:
            await self.record_refusal(error)
            raise
        await self.send_answer()

    async def load_request(self, operation: Operation) -> None:
        """Validate query and body. Raises InvalidInput, TooLarge or Overloaded."""
        if self._received is not None:
            self._received.complete()
            if not self._received.is_blank:
                self.admission.check_media_type(operation)
            if self.idempotency is not None:
                await self.idempotency.digest_body(self._received.parts)
        self.query = operation.load_query(self.sent_query())
        schema = operation.body_schema(self.request.method or "")
        if schema is not None:
            body = self.take_body()
            value = await self.context.bodies.value_of(body) if body.strip() else {}
            if not isinstance(value, dict):
                raise InvalidInput("The request body must be a JSON object")
            self.body = await in_thread_if_large(len(body), load, schema(), value, partial=operation.partial)

    def sent_query(self) -> Mapping[str, list[bytes]]:
        """Return the query's parameters as they were sent."""
        return self.request.query_arguments

    async def _work(self, operation: Operation, work: Callable[[], Awaitable[None]]) -> None:
        with no_exit():  # a method may call plugins
            await work()
        await self.check_trace(operation)

    async def check_trace(self, operation: Operation) -> None:
        """Record a change that left no event in the audit, before its answer."""
        if self.request.method in CHANGING and operation.changes and not self._trace.events:
            caller = getattr(self, "caller", None)
            await self.context.refusals.record_change(
                UnrecordedChange(method=self.request.method, route=self.route, caller=caller, info=self.info)
            )

    async def send_answer(self) -> None:
        """Write what the method has answered, unless it wrote that by itself."""
        operation, answer, writer = self.operation, self._answer, self._writer()
        if self.idempotency is not None and self.idempotency.answer is not None:
            stored = self.idempotency.answer
            if self.idempotency.is_replay:
                self.set_header(REPLAYED, "true")
            writer.send_stored(stored.status, stored.headers, stored.body)
        elif answer is None:
            return
        elif operation is not None and operation.etag and self.get_status() == 200:
            await TaggedAnswers(self, writer, self.conditions).send(answer, self.tag)
        else:
            await writer.send(answer)

    def _writer(self) -> AnswerWriter:
        return AnswerWriter(self, self._enter_long_answer)

    def _enter_long_answer(self) -> Share:
        """Enter the long answers of this node; the connection of the one that gives way is closed."""
        close = cast(Any, self.request.connection).close
        return self.context.shares.answers.enter(self._share_owner(), close)

    def _share_owner(self) -> str:
        """Return whose share of the node the request takes: the caller's, or that of the address."""
        caller = getattr(self, "caller", None)
        return group_of(self.info.ip_address) if caller is None else caller.user_id

    def _answer_to_store(self, operation: Operation) -> AnswerToStore:
        answer = self._answer
        return AnswerToStore(
            status=self.get_status() if answer is None else answer.status,
            headers={name: self._headers[name] for name in STORED_HEADERS if name in self._headers},
            parts=iter(()) if answer is None else answer.encoded(),
            tagged=operation.etag,
            tag=self.tag,
        )

    # What a method calls.

    def answer(self, value: Any, *, status: int | None = None, light: bool = False) -> None:
        """Set the value that is written when the method has returned, with the status that it declared.

        `status`: one of the `other_answers` in its place. `light`: the method knows that to encode it all in
        one go takes the event loop a few milliseconds at most; of others each value is looked at before.
        """
        self._answer = Answer(value=value, status=status or self._declared_status(), light=light)

    def answer_each(self, items: AsyncGenerator[T, None], to_json: Callable[[T], Any]) -> None:
        """Set an array of any length as the answer.

        An item is fetched when the client has taken those before it. If one cannot be fetched any more, the
        connection breaks.
        """
        self.answer_parts(array_parts(items, to_json), JSON)

    def answer_with_each(
        self, value: Mapping[str, Any], name: str, items: AsyncGenerator[T, None], to_json: Callable[[T], Any]
    ) -> None:
        """Set an object with an array of any length under `name` as the answer, fetched as by
        `answer_each`.
        """
        self.answer_parts(object_parts(value, name, items, to_json), JSON)

    def answer_parts(self, parts: AsyncGenerator[bytes, None], content_type: str) -> None:
        """Set encoded content of any length as the answer; parts are fetched as the items of an array are."""
        self._answer = Answer(status=self._declared_status(), parts=parts, content_type=content_type)

    async def answer_with_list(self, value: Mapping[str, Any], name: str, items: Iterable[Any]) -> None:
        """Write an object with a long list under `name`; the event loop gets its turns meanwhile.

        Under an Idempotency-Key nothing is written before it is stored.
        """
        if self.idempotency is None:
            await self._writer().send_list(self._declared_status(), value, name, items)
        else:
            self.answer({**value, name: await collect(items)})

    def answer_nothing(self) -> None:
        """Set the status 204. Tornado writes it when the method has returned and its trace is checked."""
        self.set_status(204)
        self.clear_header("Content-Type")

    def _declared_status(self) -> int:
        return 200 if self.operation is None else self.operation.status

    def only_if(self, tag: Callable[[T], str]) -> Callable[[T], None] | None:
        """Return the check of the conditions for a service; None without one. `tag` gives a record's tag."""
        return self.conditions.check_with(tag)

    @property
    def record_id(self) -> str | None:
        """The id of what a request under an Idempotency-Key makes; None: any id will do."""
        return None if self.idempotency is None else self.idempotency.record_id

    def path_id(self, text: str, resource: str) -> str:
        """Return the path's id in lower case. Raises NotFound for anything that is no UUID."""
        found = uuid_or_none(text)
        if found is None:
            raise NotFound(f"{resource} not found")
        return found

    async def while_connected(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, which is cancelled when the client disconnects.

        Under an Idempotency-Key it goes on: the client can come back for the answer.
        """
        return await (work if self.idempotency is not None else self._client.run(work))

    def end_patience(self) -> None:
        """End the common deadline for the database: from here on each call counts by itself."""
        if self._patience is not None:
            self._patience.end()

    # What Tornado calls.

    async def head(self, *args: str, **kwargs: str) -> None:
        await self.get(*args, **kwargs)  # type: ignore[misc]  # Tornado sends the headers alone

    async def options(self, *args: str, **kwargs: str) -> None:
        self.set_status(204)
        self.finish()

    def decode_argument(self, value: bytes, name: str | None = None) -> str:
        """Decode a segment of a path. What is not UTF-8 becomes a text that is no id, which is a 404."""
        return value.decode("utf-8", "replace") if name is None else super().decode_argument(value, name)

    def clear(self) -> None:
        """Reset the answer as Tornado does, but write the date once a second, and no header Server."""
        self._headers = HTTPHeaders()
        self._headers["Content-Type"] = "text/html; charset=UTF-8"
        self.set_default_headers()
        self._write_buffer: list[bytes] = []
        self._status_code, self._reason = 200, HTTPStatus.OK.phrase

    def set_default_headers(self) -> None:
        # Tornado calls this before prepare(), and again before it writes an error.
        if not hasattr(self, "request_id"):
            self.request_id = request_id_of(self.request)
        for name, value in self.context.answer_headers(self.request, self.request_id).items():
            self._headers[name] = value  # set_header would look at each for what none of them holds
        for name, value in self.cors_headers().items():
            self.set_header(name, value)

    def cors_headers(self) -> Mapping[str, str]:
        """Return the headers for pages of other origins."""
        if not self.serves_listed_origins:
            return {}
        return self.context.cors_headers(self.request.headers.get("Origin", ""))

    def set_status(self, status_code: int, reason: str | None = None) -> None:
        """Set the status; 429 and 503 say when to come again."""
        super().set_status(status_code, reason)
        if status_code in RETRIED:
            self.set_header("Retry-After", str(self.retry_seconds))

    def compute_etag(self) -> str | None:
        return None

    def check_etag_header(self) -> bool:
        return False  # TaggedAnswers looks at If-None-Match

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Answer what a handler raised. An answer that has begun must not look complete."""
        if self._headers_written:
            cast(Any, self.request.connection).close()
            self.request_log.finish(500)
        else:
            super().send_error(status_code, **kwargs)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        error = name_full_disk(kwargs["exc_info"][1] if "exc_info" in kwargs else None, self.context.room)
        allowed = self.allowed_methods()
        found = error_answer(error, status_code, request_id=self.request_id, allowed=allowed)
        self.set_status(found.status)
        for name, text in found.headers.items():
            self.set_header(name, text)
        if found.status == HTTPStatus.TOO_MANY_REQUESTS:
            found.body.setdefault("retry_after_secs", self.retry_seconds)
        self.send_error_body(found.body)

    def send_error_body(self, body: dict[str, Any]) -> None:
        """Write the body of an error, whose status and headers are set. `error` is the sentence."""
        self.set_header("Content-Type", JSON)
        self.finish(json_values.encode(body))

    def allowed_methods(self) -> list[str]:
        """Return the methods that the header Allow lists."""
        return [name for name in METHODS if operation_of(getattr(self, name.lower(), None))]

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        self.request_log.record_error(value, name_full_disk(value, self.context.room), tb)

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._client.leave()
        if self._received is not None and not self._received.whole:
            self._received.leave()
            self.request_log.finish(CLIENT_GONE)

    def on_finish(self) -> None:
        self.request_log.finish(CLIENT_GONE if self._client.has_left else self.get_status())
        self.end_patience()
        if self._received is not None:
            self._received.leave()
