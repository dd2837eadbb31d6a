"""Passwords: Argon2id in threads of its own, verification in equal time for unknown users, the policy."""

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
from zxcvbn.frequency_lists import FREQUENCY_LISTS

from netautod.core.errors import InvalidInput, Unavailable

Result = TypeVar("Result")

MEMORY_KIB: Final = 19 * 1024
ITERATIONS: Final = 2
LANES: Final = 1
SALT_BYTES: Final = 16
HASH_BYTES: Final = 32

MIN_LENGTH: Final = 12
MAX_LENGTH: Final = 256
# Composed characters may be shorter after NFKC; beyond this nothing can shrink to a password.
_MAX_RAW_LENGTH: Final = 4 * MAX_LENGTH

_COMMON: Final = frozenset(password.casefold() for password in FREQUENCY_LISTS["passwords"])
_MIN_COMMON_BASE: Final = 6
_MAX_TAIL: Final = 5


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """`needs_rehash`: the password is right, but its hash was made with other parameters than today's."""

    ok: bool
    needs_rehash: bool = False


class PasswordHasher:
    """Argon2id with 19 MiB, t=2, p=1, as OWASP's password storage cheat sheet recommends.

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
        """The PHC string (`$argon2id$v=19$...`) of the password after NFKC."""
        normalised = _normalised(password)
        if normalised is None:
            raise InvalidInput(f"password: at most {MAX_LENGTH} characters of valid Unicode")
        return await self._in_thread(lambda: self._argon2.hash(normalised))

    async def verify(self, hashed: str | None, password: str) -> Verdict:
        """Compares; None (an unknown user) or an overlong password costs the same and is never ok."""
        normalised = _normalised(password)
        if hashed is None or normalised is None:
            return await self._in_thread(lambda: self._verify(self._dummy, normalised or "-"))
        return await self._in_thread(lambda: self._verify(hashed, normalised))

    async def close(self) -> None:
        """Takes no more passwords and waits for those in the queue, a few seconds at most."""
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

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
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


def check_policy(password: str, username: str, minimum: int = MIN_LENGTH, *, field: str = "password") -> None:
    """Raises InvalidInput naming `field`; lengths are counted in characters after NFKC."""
    normalised = _normalised(password)
    if normalised is None:
        raise InvalidInput(f"{field}: at most {MAX_LENGTH} characters of valid Unicode")
    if len(normalised) < minimum:
        raise InvalidInput(f"{field}: at least {minimum} characters")
    if normalised.casefold() == unicodedata.normalize("NFKC", username).casefold():
        raise InvalidInput(f"{field}: must not be the username")
    if is_common(normalised):
        raise InvalidInput(f"{field}: is on the list of common passwords")


def is_common(password: str) -> bool:
    """True for one of the 30,000 most used passwords (zxcvbn's list), in any case, or one stretched.

    Few of the listed ones have 12 characters, so one that is repeated, or has up to five digits or signs
    behind it (`password1234`), counts as listed too; so does one character repeated.
    """
    folded = password.casefold()
    if folded in _COMMON or _unit(folded) in _COMMON or len(set(folded)) == 1:
        return True
    for length in range(1, _MAX_TAIL + 1):
        base, tail = folded[:-length], folded[-length:]
        if any(character.isalpha() for character in tail) or len(base) < _MIN_COMMON_BASE:
            return False
        if base in _COMMON:
            return True
    return False


def _unit(text: str) -> str:
    """The shortest text that gives `text` when repeated."""
    return text[: (text + text).index(text, 1)] if text else text


def _normalised(password: str) -> str | None:
    """NFKC; None if it is longer than any password or not encodable (a lone surrogate)."""
    if len(password) > _MAX_RAW_LENGTH:
        return None
    normalised = unicodedata.normalize("NFKC", password)
    try:
        normalised.encode()
    except UnicodeEncodeError:
        return None
    return normalised if len(normalised) <= MAX_LENGTH else None


def _unmatchable_hash() -> str:
    """Today's parameters with a random digest: no password has it, and checking one costs as always."""
    salt, digest = (base64.b64encode(os.urandom(n)).decode().rstrip("=") for n in (SALT_BYTES, HASH_BYTES))
    return f"$argon2id$v=19$m={MEMORY_KIB},t={ITERATIONS},p={LANES}${salt}${digest}"
