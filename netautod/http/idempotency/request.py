"""The header Idempotency-Key of a request: a POST that a client repeats under it is done once.

It is read for the routes that declare `repeat`, after the caller's permission was checked, and ignored
everywhere else. The header is that of draft-ietf-httpapi-idempotency-key-header; an answer that is sent
again carries `Idempotent-Replayed: true`, as Stripe's API calls it.
"""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tornado.httputil import HTTPServerRequest

from netautod.core.errors import Forbidden, InvalidInput, NetautodError, Unavailable
from netautod.core.identity.caller import Caller
from netautod.core.loop.pace import in_thread_if_large
from netautod.core.schema.bases import uuid_or_none
from netautod.http.access import Operation, Repeat
from netautod.http.bodies.uploads import media_type_of
from netautod.http.conditions.tags import tag_of
from netautod.http.errors import status_of
from netautod.http.idempotency.models import Claim, Scope, StoredAnswer
from netautod.http.idempotency.service import LARGEST_STORED, IdempotencyKeys

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
STORED_HEADERS = ("ETag", "Location")  # those that are a part of the answer
_FORM = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(frozen=True, kw_only=True)
class AnswerToStore:
    """The answer of a request that was done. `tagged`: it carries an ETag, `tag` or that of its content."""

    status: int
    headers: Mapping[str, str]
    parts: Iterator[bytes]
    tagged: bool
    tag: str | None


class IdempotentRequest:
    """A request with a key.

    `record_id`: the id of what it makes, once the key is claimed. `answer`: the stored answer to send; None:
    it was too large to be stored. `is_replay`: the answer is that of an earlier request.
    """

    def __init__(self, request: HTTPServerRequest, key: str, keys: IdempotencyKeys | None) -> None:
        self._request = request
        self._key = key
        self._keys = keys
        self._digest = b""
        self.record_id: str | None = None
        self.answer: StoredAnswer | None = None
        self.is_replay = False

    @classmethod
    def read(
        cls, request: HTTPServerRequest, operation: Operation, keys: IdempotencyKeys | None
    ) -> "IdempotentRequest | None":
        """Read the key before the body is taken; None without one. Raises InvalidInput."""
        if operation.repeat is None or HEADER not in request.headers:
            return None
        sent = request.headers.get_list(HEADER)
        if len(sent) != 1 or _FORM.fullmatch(sent[0]) is None:
            raise InvalidInput(f"{HEADER}: must be there once, with 1 to 255 visible ASCII characters")
        return cls(request, sent[0], keys)

    async def digest_body(self, parts: Sequence[bytes]) -> None:
        """Take the digest of query and body, which tell this request from others under the same key."""
        # The boundary of a form may be chosen anew for each request.
        kind, boundary = media_type_of(self._request.headers.get("Content-Type", ""))
        size = sum(map(len, parts))  # the media type of an empty body means nothing
        head = f"{self._request.query}\n{kind if size else ''}\n".encode("utf-8", "surrogatepass")
        self._digest = await in_thread_if_large(
            size, _digest, head, parts, boundary.encode("utf-8", "surrogatepass")
        )

    async def perform(
        self,
        *,
        caller: Caller,
        path: Sequence[str],
        repeat: Repeat | None,
        work: Callable[[], Awaitable[None]],
        answer: Callable[[], AnswerToStore],
    ) -> None:
        """Do the work and store its answer, unless a request under the same key did it before.

        Raises Unavailable where no keys are stored, Conflict, or Forbidden for a caller who has lost a
        permission since the answer was stored: it may show what he must not see any more.
        """
        if self._keys is None:
            raise Unavailable(f"{HEADER}: no keys are kept here")
        scope = self._scope(caller, path)
        found = await self._keys.claim(scope, self._digest, again=repeat is not Repeat.NEVER)
        if isinstance(found, StoredAnswer):
            if not caller.can_all(found.permissions):
                raise Forbidden("Insufficient permissions")
            self.answer, self.is_replay = found, True
            return
        self.record_id = found.record_id
        async with self._keys.hold(found):
            try:
                await work()
            except Exception as error:
                await self._keys.release(found, refused=_is_refusal(error))
                raise
            self.answer = await self._store(self._keys, found, caller, answer())

    def _scope(self, caller: Caller, path: Sequence[str]) -> Scope:
        """Return the scope in which the key is unique. Ids in the path are equal in upper and lower case."""
        token = caller.token
        return Scope(
            org_id=caller.org_id,
            user_id=caller.user_id,
            token_id=None if token is None else token.id,
            method=self._request.method or "",
            path=[uuid_or_none(part) or part for part in path],
            key=self._key,
        )

    async def _store(
        self, keys: IdempotencyKeys, claim: Claim, caller: Caller, answer: AnswerToStore
    ) -> StoredAnswer | None:
        body = await _content(answer.parts)
        headers = dict(answer.headers)
        if answer.tagged and body is not None:
            headers["ETag"] = answer.tag or tag_of([body])
        stored = StoredAnswer(
            status=answer.status,
            headers=headers,
            body=b"" if body is None else body,
            permissions=sorted(caller.permissions),
        )
        await keys.keep(claim, stored, too_large=body is None)
        return None if body is None else stored  # what was encoded to be stored is what is sent


async def _content(parts: Iterator[bytes]) -> bytes | None:
    """Return the parts as one; None if they are too large to be stored, and so are not held in one piece."""
    found, size = list[bytes](), 0
    for part in parts:
        found.append(part)
        size += len(part)
        if size > LARGEST_STORED:
            return None
        await asyncio.sleep(0)
    return b"".join(found)


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, NetautodError) and status_of(error) < 500


def _digest(head: bytes, parts: Sequence[bytes], boundary: bytes) -> bytes:
    digest = hashlib.sha256(head)
    for part in [b"".join(parts).replace(boundary, b"")] if boundary else parts:
        digest.update(part)
    return digest.digest()
