"""Answers with an entity tag: the header ETag, and 304 for a client that has the same answer already."""

import asyncio
import hashlib
from contextlib import aclosing
from itertools import chain, islice

from tornado.web import RequestHandler

from netautod.http.answers import Answer, AnswerWriter
from netautod.http.conditions.preconditions import READING, Preconditions
from netautod.http.conditions.tags import tag_of, tag_with


class TaggedAnswers:
    """A sender of one answer with its ETag, or of a 304 in its place."""

    def __init__(self, handler: RequestHandler, writer: AnswerWriter, conditions: Preconditions) -> None:
        self._handler = handler
        self._writer = writer
        self._conditions = conditions

    async def send(self, answer: Answer, tag: str | None) -> None:
        """Write the answer, or a 304. `tag` None: the tag is that of the bytes that are answered."""
        if tag is None and answer.parts is None:
            await self._send_by_content(answer)
        elif tag is None or not self._is_known(tag):
            await self._writer.send(answer)
        elif answer.parts is not None:
            async with aclosing(answer.parts):
                self._writer.send_not_modified()
        else:
            self._writer.send_not_modified()

    async def _send_by_content(self, answer: Answer) -> None:
        encoded = answer.encoded()
        first = tuple(islice(encoded, 2))
        if len(first) == 1:
            if self._is_known(tag_of(first)):
                self._writer.send_not_modified()
            else:
                self._writer.send_whole(answer, first[0])
            return
        # All of it is tagged before the first byte goes out. Lists are pages here, and records have bounds.
        digest, parts = hashlib.sha256(), list[bytes]()
        for part in chain(first, encoded):
            digest.update(part)
            parts.append(part)
            await asyncio.sleep(0)
        if self._is_known(tag_with(digest.digest())):
            self._writer.send_not_modified()
        else:
            await self._writer.send_pieces(answer, parts)

    def _is_known(self, tag: str) -> bool:
        """Set the header ETag and return whether the client has the answer with this tag."""
        self._handler.set_header("ETag", tag)
        known = self._conditions.if_none_match
        return known is not None and self._handler.request.method in READING and known.match_weakly(tag)
