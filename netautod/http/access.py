"""The declaration of a handler method: who may call it, what it takes and what it answers."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypedDict, TypeVar, Unpack

from marshmallow import Schema

from netautod.core.errors import InvalidInput
from netautod.core.json import values as json_values
from netautod.core.schema.bases import Answer, Query, Request, load

MIB = 1024 * 1024
METHODS = ("GET", "POST", "PUT", "DELETE")
# Methods whose body is always read: without a schema it may hold no field.
READ_METHODS = ("POST", "PUT", "PATCH")
JSON = "application/json"
MARK = "__operation__"

P = ParamSpec("P")


class EveryMethod(tuple[str, ...]):
    """The methods that Tornado hands to a handler: all of them, since ours answers those that it refuses."""

    def __contains__(self, method: object) -> bool:
        return True


class NoFields(Request):
    """The body of a method that declares none: empty, or an object without fields."""


class Repeat(Enum):
    """The effect of a repeat under the same Idempotency-Key if the result of the first request is unknown."""

    FINDS = "what is made has an id that follows from the key: the repeat finds it, or makes it"
    AGAIN = "it is done again: what is there already is refused or stays as it is"
    NEVER = "it is not done again: the client has to look"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """The declaration of one method of one route.

    `permission` None: any valid token, or none at all if `public`.

    `body`: the schema of its JSON body; a POST or PUT without one takes no field.
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
    `repeat`: a POST that creates or runs, and so takes an Idempotency-Key (http/idempotency/request.py);
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
        """Return the query's schema, made once: making one takes longer than using it."""
        return None if self.query is None else self.query()

    def load_query(self, sent: Mapping[str, list[bytes]]) -> dict[str, Any]:
        """Return the validated query, which may have further parameters. Raises InvalidInput."""
        schema = self.query_schema
        if schema is None:
            return {}
        return load(schema, {key: _query_text(key, sent[key]) for key in schema.fields if key in sent})

    @property
    def answer_schema(self) -> Schema | None:
        return self.answer() if isinstance(self.answer, type) else self.answer

    def needs_room(self, method: str) -> bool:
        """Return whether it is refused when the disk is full."""
        return method in ("POST", "PUT") and self.changes and self.grows

    def body_schema(self, method: str) -> type[Request] | None:
        """Return the schema of the JSON body of a request; None: there is none, or the method reads it."""
        if self.body is None and self.consumes is None and method in READ_METHODS:
            return NoFields
        return self.body

    @property
    def takes_body(self) -> bool:
        """Return whether it declares a body."""
        return self.body is not None or self.consumes is not None

    @property
    def takes_json(self) -> bool:
        """Return whether a body has to be JSON."""
        return self.consumes is None or JSON in self.consumes


class OperationOptions(TypedDict, total=False):
    """The options of a declaration. `partial`: a PUT that takes only the changed fields."""

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


class Performs(Protocol):
    """A handler of declared methods: it validates the request, does the work and writes the answer."""

    async def perform(self, operation: Operation, work: Callable[[], Awaitable[None]]) -> None:
        """Serve a request of this operation, whose method is `work`."""


H_contra = TypeVar("H_contra", bound=Performs, contravariant=True)
Method = Callable[Concatenate[H_contra, P], Awaitable[None]]


def requires(permission: str, **description: Unpack[OperationOptions]) -> Callable[[Any], Any]:
    """Declare a method whose caller must hold the permission."""
    return _declare(Operation(permission=permission, public=False, **description))


def any_token(**description: Unpack[OperationOptions]) -> Callable[[Any], Any]:
    """Declare a method for any valid token; it checks the caller itself."""
    return _declare(Operation(permission=None, public=False, **description))


def public(**description: Unpack[OperationOptions]) -> Callable[[Any], Any]:
    """Declare a method that needs no token."""
    return _declare(Operation(permission=None, public=True, **description))


def _declare(operation: Operation) -> Callable[[Any], Any]:
    def decorate(method: Method[H_contra, P]) -> Method[H_contra, P]:
        @wraps(method)
        async def run(self: H_contra, /, *args: P.args, **kwargs: P.kwargs) -> None:
            await self.perform(operation, lambda: method(self, *args, **kwargs))

        setattr(run, MARK, operation)
        return run

    return decorate


def declared_operation(handler: object, method: str | None) -> Operation | None:
    """Return the declaration of the handler's method for a request's; None if it has none."""
    name = "GET" if method == "HEAD" else method
    return operation_of(getattr(handler, name.lower())) if name in METHODS else None


def _query_text(key: str, sent: list[bytes]) -> str:
    """Return the last value as it was sent: Tornado's own reading turns NUL and the like into spaces."""
    try:
        text = sent[-1].decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{key}: Not valid UTF-8") from error
    json_values.check_text(text, key)
    return text


def operation_of(method: object) -> Operation | None:
    """Return the declaration of a handler method, None if it has none."""
    found = getattr(method, MARK, None)
    return found if isinstance(found, Operation) else None
