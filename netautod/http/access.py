"""What every handler method declares: who may call it, what it takes and what it answers."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypedDict, TypeVar, Unpack

from marshmallow import Schema

from netautod.core.errors import Forbidden, Unauthenticated
from netautod.core.schema.bases import Answer, Query, Request
from netautod.core.work.plugin_calls import no_exit

MIB = 1024 * 1024
MARK = "__operation__"

P = ParamSpec("P")


class Repeat(Enum):
    """What a repeat under the same Idempotency-Key does if nobody knows what came of the first request."""

    FINDS = "what is made has an id that follows from the key: the repeat finds it, or makes it"
    AGAIN = "it is done again: what is there already is refused or stays as it is"
    NEVER = "it is not done again: the client has to look"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of one route. `permission` None: any valid token, or none at all if `public`.

    `consumes`: JSON schemas by media type of a body that the method reads by itself.
    `other_answers`: what it answers with another status of success.
    `produces`: the media type of a success that is no JSON.
    `errors`: statuses beyond those that http/description/openapi.py derives from the rest.
    `name`: its operationId, if the path makes a poor one (http/description/names.py).
    `limited` False: it does not count for the client's address (only if `public`).
    `changes` False: a POST that changes nothing, and so needs no trace in the audit.
    `grows` False: a POST or PUT that goes on when the disk is full, as GET and DELETE do: it ends, undoes or
    takes away, lets people in to do so, or leaves no more than its event in the audit.
    `etag`: reads carry an ETag and take If-None-Match, PUT and DELETE take If-Match (http/conditions).
    `repeat`: a POST that creates or runs, and so takes an Idempotency-Key (http/idempotent_requests.py);
    None: it does not.
    """

    permission: str | None
    public: bool
    status: int = 200
    query: type[Query] | None = None
    body: type[Request] | None = None
    partial: bool = False
    consumes: Mapping[str, Any] | None = None
    answer: type[Answer] | None = None
    other_answers: Mapping[int, type[Answer]] = field(default_factory=dict)
    produces: str | None = None
    body_limit: int = MIB
    errors: tuple[int, ...] = ()
    name: str = ""
    limited: bool = True
    changes: bool = True
    grows: bool = True
    etag: bool = False
    repeat: Repeat | None = None

    @cached_property
    def query_schema(self) -> Query | None:
        """Made once: making one takes longer than what it does for a request."""
        return None if self.query is None else self.query()

    @property
    def answer_schema(self) -> Schema | None:
        return self.answer() if isinstance(self.answer, type) else self.answer

    def needs_room(self, method: str) -> bool:
        """Whether it is refused when the disk is full."""
        return method in ("POST", "PUT") and self.changes and self.grows

    @property
    def takes_body(self) -> bool:
        return self.body is not None or self.consumes is not None


class OperationOptions(TypedDict, total=False):
    """`partial`: a PUT that takes only the changed fields."""

    status: int
    query: type[Query]
    body: type[Request]
    partial: bool
    consumes: Mapping[str, Any]
    answer: type[Answer]
    other_answers: Mapping[int, type[Answer]]
    produces: str
    body_limit: int
    errors: tuple[int, ...]
    name: str
    limited: bool
    changes: bool
    grows: bool
    etag: bool
    repeat: Repeat


class Loads(Protocol):
    """What a handler does for a declared method: validates its request, writes its answer."""

    async def load_request(self, operation: Operation) -> None: ...

    async def once(self, operation: Operation, perform: Callable[[], Awaitable[None]]) -> None: ...

    async def send_answer(self) -> None: ...

    async def refused(self, error: Unauthenticated | Forbidden) -> None: ...

    async def leave_trace(self, operation: Operation) -> None: ...


H_contra = TypeVar("H_contra", bound=Loads, contravariant=True)
Method = Callable[Concatenate[H_contra, P], Awaitable[None]]


def requires(permission: str, **description: Unpack[OperationOptions]) -> Callable[[Any], Any]:
    """The caller needs the permission."""
    return _declare(Operation(permission=permission, public=False, **description))


def any_token(**description: Unpack[OperationOptions]) -> Callable[[Any], Any]:
    """Any valid token will do; the method looks at the caller itself."""
    return _declare(Operation(permission=None, public=False, **description))


def public(**description: Unpack[OperationOptions]) -> Callable[[Any], Any]:
    """No token is asked for."""
    return _declare(Operation(permission=None, public=True, **description))


def _declare(operation: Operation) -> Callable[[Any], Any]:
    def decorate(method: Method[H_contra, P]) -> Method[H_contra, P]:
        async def perform(self: H_contra, /, *args: P.args, **kwargs: P.kwargs) -> None:
            with no_exit():  # a method may call plugins
                await method(self, *args, **kwargs)
            await self.leave_trace(operation)

        @wraps(method)
        async def run(self: H_contra, /, *args: P.args, **kwargs: P.kwargs) -> None:
            await self.load_request(operation)
            try:
                if operation.repeat is None:
                    await perform(self, *args, **kwargs)
                else:
                    await self.once(operation, lambda: perform(self, *args, **kwargs))
            except (Unauthenticated, Forbidden) as error:
                await self.refused(error)
                raise
            await self.send_answer()

        setattr(run, MARK, operation)
        return run

    return decorate


def operation_of(method: object) -> Operation | None:
    """The declaration of a handler method, None if it has none."""
    found = getattr(method, MARK, None)
    return found if isinstance(found, Operation) else None
