"""What handlers do about entity tags: send them, answer 304, and have a change made only if they match.

A route declares `etag`. Its reads carry a strong ETag of the bytes that are answered, unless the method sets
`tag` by itself (a version of the record, or facts that a long list follows from). Its PUT and DELETE hand
`only_if` to their service, which asks it about the record as it was read, and writes only while the record is
still that one: so nobody's change is lost between the two.
"""

import asyncio
import hashlib
from collections.abc import Callable
from contextlib import aclosing
from itertools import chain, islice
from typing import Any, TypeVar

from netautod.core.errors import PreconditionFailed
from netautod.core.json.parts import encoded_parts
from netautod.http.access import Operation
from netautod.http.conditions.tags import EntityTags, listed_tags, tag_of, tag_with
from netautod.http.request_telemetry import TellingHandler

T = TypeVar("T")
READING = ("GET", "HEAD")
CONDITIONAL = ("PUT", "DELETE")
LOST = "If-Match: the record is another one by now; read it again"
NO_TAGS = "If-Match: this route has no entity tags, so that none matches"
EXISTS = "If-None-Match: there is a record with this entity tag"


def json_tag(to_json: Callable[[T], Any]) -> Callable[[T], str]:
    """The tag of the record that a read would answer."""
    return lambda record: tag_of(encoded_parts(to_json(record)))


class ConditionalHandler(TellingHandler):
    tag: str | None = None
    _if_match: EntityTags | None = None
    _if_none_match: EntityTags | None = None

    def read_conditions(self, operation: Operation) -> None:
        """Before the body is taken. Raises InvalidInput for a malformed list of tags, and PreconditionFailed
        where a client relies on tags that the route does not have."""
        headers, method = self.request.headers, self.request.method
        if method in CONDITIONAL and "If-Match" in headers:
            self._if_match = listed_tags("If-Match", headers["If-Match"])
            if not operation.etag and not self._if_match.every:
                raise PreconditionFailed(NO_TAGS)
        if operation.etag and "If-None-Match" in headers and method in (*READING, *CONDITIONAL):
            self._if_none_match = listed_tags("If-None-Match", headers["If-None-Match"])

    def only_if(self, tag: Callable[[T], str]) -> Callable[[T], None] | None:
        """What the service asks about the record that it is about to change; None without a condition.

        It raises PreconditionFailed.
        """
        wanted, unwanted = self._if_match, self._if_none_match
        if wanted is None and unwanted is None:
            return None

        def check(record: T) -> None:
            found = tag(record)
            if wanted is not None and not wanted.match_strongly(found):
                raise PreconditionFailed(LOST)
            if unwanted is not None and unwanted.match_weakly(found):
                raise PreconditionFailed(EXISTS)

        return check

    async def send_answer(self) -> None:
        operation = self._operation()
        if operation is None or not operation.etag or self.get_status() != 200:
            await super().send_answer()  # also of a 204, which has nothing to tag
        elif self.tag is not None:
            if not self._not_modified(self.tag):
                await super().send_answer()
            elif self._parts is not None:
                async with aclosing(self._parts):
                    self._answer_not_modified()
            else:
                self._answer_not_modified()
        elif self._answer:
            await self._send_tagged(self._answer[0])

    async def _send_tagged(self, value: Any) -> None:
        encoded = self._encoded(value)
        first = tuple(islice(encoded, 2))
        if len(first) == 1:
            if self._not_modified(tag_of(first)):
                self._answer_not_modified()
            else:
                self.send_whole(first[0])
            return
        # All of it is tagged before the first byte goes out. Lists are pages here, and records have bounds.
        digest, parts = hashlib.sha256(), list[bytes]()
        for part in chain(first, encoded):
            digest.update(part)
            parts.append(part)
            await asyncio.sleep(0)
        if self._not_modified(tag_with(digest.digest())):
            self._answer_not_modified()
        else:
            await self.send_pieces(parts)

    def _not_modified(self, tag: str) -> bool:
        self.set_header("ETag", tag)
        unwanted = self._if_none_match
        return unwanted is not None and self.request.method in READING and unwanted.match_weakly(tag)

    def _answer_not_modified(self) -> None:
        self.set_status(304)
        self.clear_header("Content-Type")
        self.finish()

    def check_etag_header(self) -> bool:
        """Tornado's own look at If-None-Match, which is ours here."""
        return False
