"""Idempotency keys: of the requests under one key exactly one is done, on whichever node.

A node that dies while it does one leaves a claim whose lease ends. What then happens is declared by the route
(http/access.py, Repeat): the next request finds or makes the record under the id of the key, is done again
where that is harmless, or is refused because the result is unknown. Only answers of success are stored; a
request that was refused leaves its key free, and one that failed leaves it to the next repeat.
"""

import asyncio
import hashlib
import hmac
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

from netautod.core.errors import Conflict, NetautodError, Unavailable
from netautod.core.identity.caller import OrgId
from netautod.core.work.deadlines import context_for_many
from netautod.http.idempotency.models import Claim, Scope, StoredAnswer
from netautod.http.idempotency.store import ANSWER, COLLECTION, DONE, OPEN, UNCLEAR, IdempotencyStore, KeyRow
from netautod.secrets.vault.vault import Vault

logger = logging.getLogger(__name__)
LEASE = timedelta(seconds=30)
LARGEST_STORED = 1024 * 1024
PURPOSE = "idempotency"

OTHER = "Idempotency-Key: It was used for another body or query; a new request needs a new key"
IN_WORK = "Idempotency-Key: The first request under this key is still in work; try again later"
RESULT_UNKNOWN = (
    "Idempotency-Key: The result of the first request under this key is unknown. "
    "Look at the device before you send it again under a new key"
)


class IdempotencyKeys:
    """The keys of all requests. `lease`: how long a node that died keeps others from going on.

    `settled` returns whether the database's clock has not jumped for so many seconds: after a jump forward
    the leases of living nodes look as if they had ended.
    """

    def __init__(
        self,
        *,
        store: IdempotencyStore,
        vault: Vault,
        settled: Callable[[float], Awaitable[bool]],
        lease: timedelta = LEASE,
    ) -> None:
        self._store = store
        self._settled = settled
        self._vault = vault
        self._lease = lease

    async def claim(self, scope: Scope, digest: bytes, *, again: bool) -> Claim | StoredAnswer:
        """Claim a key, or return the answer that is stored under it. Raises Conflict.

        `digest` is that of all that makes the request this one. `again`: the work of a request whose lease
        has ended may be done once more.
        """
        fingerprint = await self._fingerprint(scope.org_id, digest)
        claim = partial(
            self._store.claim, scope.org_id, scope.id, fingerprint, lease=self._lease, again=again
        )
        found = await claim(ended=False)
        if isinstance(found, KeyRow) and found.state == OPEN:
            found = await claim(ended=await self._settled(self._lease.total_seconds()))
        if isinstance(found, Claim):
            return found
        if not hmac.compare_digest(found.fingerprint, fingerprint):
            raise Conflict(OTHER)
        if found.state == DONE and found.answer is not None:
            return await self._opened(scope, found.answer)
        if found.state == DONE:
            raise Conflict(
                f"Idempotency-Key: The first request under this key was answered with {found.status}; "
                f"the answer was larger than {LARGEST_STORED} bytes and is not kept"
            )
        raise Conflict(RESULT_UNKNOWN if found.state == UNCLEAR else IN_WORK)

    @asynccontextmanager
    async def hold(self, claim: Claim) -> AsyncIterator[None]:
        """Renew the lease of the claim while the request is in work."""
        renewing = asyncio.get_running_loop().create_task(
            self._renew(claim), name="renewing an idempotency key", context=context_for_many()
        )
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def keep(self, claim: Claim, answer: StoredAnswer, *, too_large: bool) -> None:
        """Store the answer, which repeats get from here on; of one that is `too_large` only the status.

        What cannot be stored is answered all the same, since it is done; a repeat then is as after a crash.
        """
        try:
            sealed = None
            if not too_large:
                sealed = await self._vault.seal(claim.org_id, COLLECTION, claim.id, ANSWER, answer.to_bytes())
            if not await self._store.keep(claim, answer.status, sealed):
                logger.warning("an idempotency key was taken over while its request was in work")
        except NetautodError as error:
            logger.warning("the answer to an idempotency key could not be kept: %s", error)

    async def release(self, claim: Claim, *, refused: bool) -> None:
        """Release the key of a request that was `refused`, so that nothing was done, or that failed and may
        have done something.
        """
        try:
            await (self._store.forget(claim) if refused else self._store.end_lease(claim))
        except Unavailable as error:
            logger.warning("an idempotency key is free when its lease ends: %s", error)

    async def _renew(self, claim: Claim) -> None:
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 3)
            try:
                if not await self._store.renew(claim, self._lease):
                    return
            except Unavailable as error:
                logger.warning("the lease of an idempotency key could not be renewed: %s", error)

    async def _fingerprint(self, org_id: OrgId, digest: bytes) -> str:
        """Return a keyed hash of the request: the plain hash of a body with a password would let a thief try
        passwords.
        """
        key = await self._vault.derived_key(org_id, PURPOSE)
        return hmac.new(key, digest, hashlib.sha256).hexdigest()

    async def _opened(self, scope: Scope, sealed: object) -> StoredAnswer:
        data = await self._vault.unseal(scope.org_id, COLLECTION, scope.id, ANSWER, sealed)
        return StoredAnswer.from_bytes(data)
