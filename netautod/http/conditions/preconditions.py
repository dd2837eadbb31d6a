"""The preconditions of one request (RFC 9110, 13): If-Match of a change, If-None-Match of a read.

A route declares `etag`. Its reads carry a strong ETag of the bytes that are answered, unless the method sets
the handler's `tag` (a version of the record, or facts that a long list follows from). Its PUT and DELETE hand
`only_if` to their service, which calls it with the record as it was read, and writes only while the record is
still that one: so no change is lost between the two.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from tornado.httputil import HTTPServerRequest

from netautod.core.errors import PreconditionFailed
from netautod.core.json.parts import encoded_parts
from netautod.http.access import Operation
from netautod.http.conditions.tags import EntityTags, listed_tags, tag_of

T = TypeVar("T")
READING = ("GET", "HEAD")
CONDITIONAL = ("PUT", "DELETE")
LOST = "If-Match: the record is another one by now; read it again"
NO_TAGS = "If-Match: this route has no entity tags, so that none matches"
EXISTS = "If-None-Match: there is a record with this entity tag"


def json_tag(to_json: Callable[[T], Any]) -> Callable[[T], str]:
    """Return the function that gives the tag of a record as a read would answer it."""
    return lambda record: tag_of(encoded_parts(to_json(record)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Preconditions:
    """The tags that a request lists; None for a header that it does not have or that does not count."""

    if_match: EntityTags | None = None
    if_none_match: EntityTags | None = None

    @classmethod
    def read(cls, request: HTTPServerRequest, operation: Operation) -> "Preconditions":
        """Read them from the headers, before the body is taken.

        Raises InvalidInput for a malformed list of tags, and PreconditionFailed where a client relies on tags
        that the route does not have.
        """
        headers, method = request.headers, request.method
        wanted = unwanted = None
        if method in CONDITIONAL and "If-Match" in headers:
            wanted = listed_tags("If-Match", headers["If-Match"])
            if not operation.etag and not wanted.every:
                raise PreconditionFailed(NO_TAGS)
        if operation.etag and "If-None-Match" in headers and method in (*READING, *CONDITIONAL):
            unwanted = listed_tags("If-None-Match", headers["If-None-Match"])
        return NO_CONDITIONS if wanted is unwanted is None else cls(if_match=wanted, if_none_match=unwanted)

    def check_with(self, tag: Callable[[T], str]) -> Callable[[T], None] | None:
        """Return the check of the record that a service is about to change; None without a condition.

        `tag` gives a record's tag. The check raises PreconditionFailed.
        """
        wanted, unwanted = self.if_match, self.if_none_match
        if wanted is None and unwanted is None:
            return None

        def check(record: T) -> None:
            found = tag(record)
            if wanted is not None and not wanted.match_strongly(found):
                raise PreconditionFailed(LOST)
            if unwanted is not None and unwanted.match_weakly(found):
                raise PreconditionFailed(EXISTS)

        return check


NO_CONDITIONS = Preconditions()
