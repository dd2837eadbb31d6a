"""Argon2id in threads of its own; verification takes equal time for unknown users."""

import asyncio
import base64
import os
import threading
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeVar

import argon2
from argon2.exceptions import InvalidHashError, VerificationError

from netautod.core.errors import InvalidInput, Unavailable

Result = TypeVar("Result")

MEMORY_KIB: Final = 19 * 1024
ITERATIONS: Final = 2
LANES: Final = 1
SALT_BYTES: Final = 16
HASH_BYTES: Final = 32

MAX_LENGTH: Final = 256
# Composed characters may be shorter after NFKC; beyond this nothing can shrink to a password.
_MAX_RAW_LENGTH: Final = 4 * MAX_LENGTH


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A result. `needs_rehash`: the password is right, but its hash was made with older parameters."""

    ok: bool
    needs_rehash: bool = False


class PasswordHasher:
    """A hasher: Argon2id with 19 MiB, t=2, p=1, as OWASP's password storage cheat sheet recommends.

    argon2-cffi releases the GIL while it hashes. One core stays free for the event loop; at most `queue`
    callers wait for a thread, the next one gets Unavailable. Threads start with the first password.
    """

    def __init__(self, *, threads: int | None = None, queue: int = 128) -> None:
        count = threads or max(1, (os.cpu_count() or 1) - 1)
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="argon2")
        self._places = threading.BoundedSemaphore(count + queue)
        self._argon2 = argon2.PasswordHasher(
            time_cost=ITERATIONS,
            memory_cost=MEMORY_KIB,
            parallelism=LANES,
            hash_len=HASH_BYTES,
            salt_len=SALT_BYTES,
            type=argon2.Type.ID,
        )
        self._dummy = _unmatchable_hash()

    async def hash(self, password: str) -> str:
        """Return the PHC string (`$argon2id$v=19$...`) of the password after NFKC."""
        text = normalised(password)
        if text is None:
            raise InvalidInput(f"password: at most {MAX_LENGTH} characters of valid Unicode")
        return await self.in_thread(lambda: self._argon2.hash(text))

    async def verify(self, hashed: str | None, password: str) -> Verdict:
        """Compare; None (an unknown user) or an overlong password costs the same and is never right."""
        text = normalised(password)
        if hashed is None or text is None:
            return await self.in_thread(lambda: self._verify(self._dummy, text or "-"))
        return await self.in_thread(lambda: self._verify(hashed, text))

    async def close(self) -> None:
        """Refuse further passwords and wait for those in the queue, a few seconds at most."""
        await asyncio.to_thread(self._pool.shutdown)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _verify(self, hashed: str, password: str) -> Verdict:
        try:
            self._argon2.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return Verdict(ok=False)
        return Verdict(ok=True, needs_rehash=self._argon2.check_needs_rehash(hashed))

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """Run work with a password in one of the few threads; raises Unavailable if too many wait for
        them."""
        if not self._places.acquire(blocking=False):
            raise Unavailable("Too many logins at the same time; try again in a moment")
        try:
            future = self._pool.submit(work)
        except RuntimeError as error:
            self._places.release()
            raise Unavailable("The service is stopping") from error
        # The place is free when the thread is, not when the caller gives up.
        future.add_done_callback(lambda _: self._places.release())
        return await asyncio.wrap_future(future)


def normalised(password: str) -> str | None:
    """Return the password in NFKC; None if it is too long or not encodable (a lone surrogate)."""
    if len(password) > _MAX_RAW_LENGTH:
        return None
    text = unicodedata.normalize("NFKC", password)
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    return text if len(text) <= MAX_LENGTH else None


def _unmatchable_hash() -> str:
    """Build a hash with today's parameters and a random digest: no password matches it, at the usual cost."""
    salt, digest = (base64.b64encode(os.urandom(n)).decode().rstrip("=") for n in (SALT_BYTES, HASH_BYTES))
    return f"$argon2id$v=19$m={MEMORY_KIB},t={ITERATIONS},p={LANES}${salt}${digest}"


def unaccented(text: str) -> str:
    """Return the text in lower case and without accents, which make a name no harder to guess."""
    parts = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", "".join(one for one in parts if not unicodedata.combining(one)))
