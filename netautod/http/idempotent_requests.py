"""The header Idempotency-Key: a POST that a client repeats under it is done once (netautod/idempotency).

It is read for the routes that declare `repeat`, after the caller's permission was checked, and ignored
everywhere else. The header is that of draft-ietf-httpapi-idempotency-key-header; the answer that is given
again carries `Idempotent-Replayed: true`, as Stripe's API calls it.
"""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from netautod.core.errors import Forbidden, InvalidInput, NetautodError, Unavailable
from netautod.core.json.parts import encoded_parts
from netautod.core.loop.pace import in_thread_if_large
from netautod.core.schema.bases import uuid_or_none
from netautod.http.access import Operation, Repeat
from netautod.http.answers import LIST_PART
from netautod.http.bodies.uploads import media_type_of
from netautod.http.conditions.handler import ConditionalHandler
from netautod.http.conditions.tags import tag_of
from netautod.http.errors import status_of
from netautod.http.idempotency.models import Claim, KeptAnswer, Scope
from netautod.http.idempotency.service import MOST_KEPT

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
_FORM = re.compile(r"[\x21-\x7e]{1,255}")
# What of an answer's head is a part of the answer.
_KEPT_HEADERS = ("ETag", "Location")


class OnceHandler(ConditionalHandler):
    """`record_id`: the id of what a request under a key makes; None: any will do."""

    record_id: str | None = None
    _key: str | None = None
    _digest = b""
    _again: KeptAnswer | None = None

    def read_key(self, operation: Operation) -> None:
        """Before the body is taken; raises InvalidInput."""
        if operation.repeat is not None and HEADER in self.request.headers:
            given = self.request.headers.get_list(HEADER)
            if len(given) != 1 or _FORM.fullmatch(given[0]) is None:
                raise InvalidInput(f"{HEADER}: must be there once, with 1 to 255 visible ASCII characters")
            self._key = given[0]

    @property
    def is_keyed(self) -> bool:
        """The client can come back for the answer, and so the work goes on without him."""
        return self._key is not None

    async def note_body(self, parts: Sequence[bytes]) -> None:
        """What makes the request this one, before the body is handed over."""
        # The boundary of a form may be chosen anew for each request.
        kind, boundary = media_type_of(self.request.headers.get("Content-Type", ""))
        size = sum(map(len, parts))  # what says of which kind nothing is, says nothing
        told = f"{self.request.query}\n{kind if size else ''}\n".encode("utf-8", "surrogatepass")
        self._digest = await in_thread_if_large(
            size, _digest, told, parts, boundary.encode("utf-8", "surrogatepass")
        )

    async def once(self, operation: Operation, perform: Callable[[], Awaitable[None]]) -> None:
        """Does it, unless it was done under the same key before."""
        if self._key is None:
            await perform()
            return
        keys = self.context.idempotency
        if keys is None:
            raise Unavailable(f"{HEADER}: no keys are kept here")
        found = await keys.claim(
            self._scope(self._key), self._digest, again=operation.repeat is not Repeat.NEVER
        )
        if isinstance(found, KeptAnswer):
            self._answer_again(found)
            return
        self.record_id = found.record_id
        async with keys.held(found):
            try:
                await perform()
            except Exception as error:
                await keys.let_go(found, refused=_is_refusal(error))
                raise
            await self._keep(found, operation)

    async def answer_with_list(self, value: Mapping[str, Any], name: str, items: Iterable[Any]) -> None:
        """Of a request under a key nothing is written before it is kept."""
        if self._key is None:
            await super().answer_with_list(value, name, items)
            return
        rest, listed = iter(items), list[Any]()
        while part := list(islice(rest, LIST_PART)):
            listed += part
            await asyncio.sleep(0)
        self.answer({**value, name: listed})

    async def send_answer(self) -> None:
        again = self._again
        if again is None:
            await super().send_answer()
            return
        for name, text in again.headers.items():
            self.set_header(name, text)
        if not again.body:
            self.answer_nothing()
            return
        self.set_status(again.status)
        self.set_header("Content-Type", "application/json")
        self.finish(again.body)

    def _scope(self, key: str) -> Scope:
        arguments = [uuid_or_none(one) or one for one in self.path_args]
        token = self.caller.token
        return Scope(
            org_id=self.caller.org_id,
            user_id=self.caller.user_id,
            token_id=None if token is None else token.id,
            method=self.request.method or "",
            path=(self.route, *arguments),
            key=key,
        )

    def _answer_again(self, kept: KeptAnswer) -> None:
        """Whoever has lost a permission since does not see what he saw with it."""
        if not self.caller.can_all(kept.permissions):
            raise Forbidden("Insufficient permissions")
        self.set_header(REPLAYED, "true")
        self._again = kept

    async def _keep(self, claim: Claim, operation: Operation) -> None:
        keys = self.context.idempotency
        assert keys is not None
        status = self._status_of(operation) if self._answer else self.get_status()
        body = await self._content()
        headers = {name: self._headers[name] for name in _KEPT_HEADERS if name in self._headers}
        if operation.etag and body is not None:
            headers["ETag"] = self.tag or tag_of([body])
        answer = KeptAnswer(
            status=status,
            headers=headers,
            body=b"" if body is None else body,
            permissions=sorted(self.caller.permissions),
        )
        await keys.keep(claim, answer, too_large=body is None)
        if body is not None:
            self._again = answer  # what was encoded to be kept is what is sent

    async def _content(self) -> bytes | None:
        """The answer in JSON; None if it is too large to be kept, and so is not held in one piece."""
        if not self._answer:
            return b""
        parts, size = list[bytes](), 0
        for part in encoded_parts(self._answer[0]):
            parts.append(part)
            size += len(part)
            if size > MOST_KEPT:
                return None
            await asyncio.sleep(0)
        return b"".join(parts)


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, NetautodError) and status_of(error) < 500


def _digest(told: bytes, parts: Sequence[bytes], boundary: bytes) -> bytes:
    digest = hashlib.sha256(told)
    for part in [b"".join(parts).replace(boundary, b"")] if boundary else parts:
        digest.update(part)
    return digest.digest()
