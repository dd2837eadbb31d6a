"""Lockout of addresses that guess passwords, and the slow-down of strangers who guess at one account.

An address is locked out by failures alone, over all accounts, and a success of one account never clears the
failures of others: an attacker with an account cannot reset the count with it. An account is never locked
out, or anyone could lock out an administrator. Tries at it from addresses that it has not logged in from
lately are spaced a second apart once they have failed too often: strangers slow each other down, never the
user at a known address. A name without a user has no known address either, so a stranger sees no
difference between the two.

What a typed secret opens beside accounts (the notes of an organization, a stored private key) is guarded in
the same way, but each on its own: the failures of an address there lock it out of that one thing, and of no
login.
"""

import asyncio
import hashlib
import hmac
import math
import unicodedata
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from netautod.core.clock import Clock
from netautod.core.errors import TooManyRequests
from netautod.core.net.addresses import group_of
from netautod.identity.auth.lockout.codes import CodeTries
from netautod.identity.auth.lockout.known_addresses import KnownAddresses
from netautod.identity.auth.lockout.store import FailureCounters

TEXT = "Too many failed login attempts. Please try again later."
OPENING_TEXT = "Too many failed attempts. Please try again later."
ACCOUNT_GAP = timedelta(seconds=1)
ACCOUNT_PATIENCE = timedelta(seconds=5)
UNSEEN = frozenset({"Cf", "Mn", "Me"})  # format characters, and the marks that NFKD takes off letters


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """An admitted try. `group` is the client, `account` the keyed hash of the name that was typed.

    `stranger`: the account has not logged in from there lately. `paced`: the try has had its slot. `text`:
    the sentence of a refusal.
    """

    group: str
    account: str
    stranger: bool
    paced: bool
    text: str


class Lockout:
    """The lockout. `failures` is the setting auth.lockout_failures.

    `account_key` reads the 32 bytes that key the hashes of the names that are counted: people type passwords
    there.
    """

    def __init__(
        self,
        *,
        counters: FailureCounters,
        known: KnownAddresses,
        codes: CodeTries,
        failures: int,
        account_key: Callable[[], Awaitable[bytes]],
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._counters = counters
        self._known = known
        self._codes = codes
        self._limit = failures
        self._account_key = account_key
        self._key: bytes | None = None
        self._clock = clock
        self._sleep = sleep

    async def admit(self, address: str, username: str) -> Attempt:
        """Accept a try before its password is checked; a stranger at a guessed account has to wait.

        The client gets the result of the try only after `failed`, `passed` or `succeeded`. Raises
        TooManyRequests.
        """
        return await self._admit(group_of(address), await self._account(username), TEXT)

    async def admit_opening(self, thing: str, address: str) -> Attempt:
        """Accept a try to open something that is no account, as `admit` does.

        `thing` names it, for all tries alike; a success from an address makes that one known there.
        """
        opened = await self._opened(thing)
        return await self._admit(f"{opened}@{group_of(address)}", opened, OPENING_TEXT)

    async def _admit(self, group: str, account: str, text: str) -> Attempt:
        now = self._clock.now()
        until = await self._counters.locked_until(group, now)
        if until is not None:
            raise _refusal(text, until, now)
        stranger = not await self._known.knows(account, group, now)
        state = await self._counters.account(account, now)
        paced = stranger and state is not None and state.failures >= self._limit
        attempt = Attempt(group=group, account=account, stranger=stranger, paced=paced, text=text)
        if paced:
            await self._slow_down(attempt, now)
        return attempt

    async def as_user(self, attempt: Attempt, username: str) -> Attempt:
        """Return the try as one at the account of the user whose password it was, who may have an alias."""
        account = await self._account(username)
        if account == attempt.account:
            return attempt
        stranger = not await self._known.knows(account, attempt.group, self._clock.now())
        return replace(attempt, account=account, stranger=stranger)

    async def failed(self, attempt: Attempt) -> int:
        """Count a failure and return how many the address has left. 0: it is locked out from now on.

        Raises TooManyRequests if tries made at the same time had used up the last one.
        """
        now = self._clock.now()
        state = await self._counters.add_failure(attempt.group, attempt.account, now)
        if not state.counted and state.locked_until is not None:
            raise _refusal(attempt.text, state.locked_until, now)
        if attempt.stranger:
            before = await self._counters.add_stranger_failure(attempt.account, now)
            await self._settle(attempt, before, now)
        return max(0, self._limit - state.failures)

    async def passed(self, attempt: Attempt) -> None:
        """Handle a right password that is not enough; clears nothing. Raises TooManyRequests as `succeeded`
        does.
        """
        now = self._clock.now()
        until = await self._counters.locked_until(attempt.group, now)
        if until is not None:
            raise _refusal(attempt.text, until, now)
        await self._settle_stranger(attempt, now)

    async def succeeded(self, attempt: Attempt) -> None:
        """Clear the failures after a right password; raises TooManyRequests if the address was locked out
        meanwhile.

        Without this second check, tries made in parallel with the last allowed one would all count.
        """
        now = self._clock.now()
        until = await self._counters.clear_account(attempt.group, attempt.account, now)
        if until is not None:
            raise _refusal(attempt.text, until, now)
        await self._settle_stranger(attempt, now)
        if (
            attempt.stranger
        ):  # a known address leaves the strangers' failures: they must not get new tries by it
            await self._counters.clear_strangers(attempt.account)
        await self._known.remember(attempt.account, attempt.group, now)

    async def admit_code(self, attempt: Attempt) -> None:
        """Take one of the few tries before a one-time code is checked, also for a known address.

        Raises TooManyRequests when they are used up: an attacker with the password must not guess six digits.
        """
        now = self._clock.now()
        until = await self._codes.take(attempt.account, stranger=attempt.stranger, now=now)
        if until is not None:
            raise _refusal(attempt.text, until, now)

    async def code_accepted(self, attempt: Attempt) -> None:
        """Restore all tries of the same side (strangers or known addresses) after a right code."""
        await self._codes.clear(attempt.account, stranger=attempt.stranger)

    async def unlock(self, username: str) -> None:
        """Clear the account and unlock addresses that failed at it, for `netautod user unlock`."""
        account = await self._account(username)
        await self._counters.forget_account(account)
        for stranger in (True, False):
            await self._codes.clear(account, stranger=stranger)

    async def forget(self, username: str) -> None:
        """Clear the account of a deleted user, with the addresses of the logins."""
        await self.unlock(username)
        await self._known.forget(await self._account(username))

    async def forget_opening(self, thing: str) -> None:
        """Clear the failures at something that is gone, with the addresses that opened it."""
        opened = await self._opened(thing)
        await self._counters.forget_account(opened)
        await self._known.forget(opened)

    async def align(self) -> None:
        """Shorten all lockouts and pauses to their longest: the database's clock was set back."""
        await self._counters.align(ACCOUNT_PATIENCE + ACCOUNT_GAP)
        await self._codes.align()

    async def _settle_stranger(self, attempt: Attempt, now: datetime) -> None:
        if attempt.stranger:
            state = await self._counters.account(attempt.account, now)
            await self._settle(attempt, state.failures if state else 0, now)

    async def _settle(self, attempt: Attempt, failures: int, now: datetime) -> None:
        """Give a slot now to a stranger's try that was admitted before the others had failed.

        Right and wrong passwords alike: else a thousand concurrent tries would all be answered.
        """
        if not attempt.paced and failures >= self._limit:
            await self._slow_down(attempt, now)

    async def _slow_down(self, attempt: Attempt, now: datetime) -> None:
        slot = await self._counters.take_slot(
            attempt.account, now, gap=ACCOUNT_GAP, patience=ACCOUNT_PATIENCE
        )
        if slot is None:
            return
        if slot > now + ACCOUNT_PATIENCE:
            raise _refusal(attempt.text, slot, now)
        await self._sleep((slot - now).total_seconds())

    async def _account(self, username: str) -> str:
        if self._key is None:
            self._key = await self._account_key()
        name = compared_name(username).encode("utf-8", "surrogatepass")
        return hmac.new(self._key, name, hashlib.sha256).hexdigest()

    async def _opened(self, thing: str) -> str:
        """Return the name under which tries at `thing` are counted; no account has one with a colon."""
        return f"opened:{await self._account(thing)}"


def compared_name(username: str) -> str:
    """Return one form for all names that a directory treats as equal, or each would have tries of its own.

    Directories compare without case, width and invisible characters (RFC 4518 2.2 to 2.6), Active Directory
    also without accents.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", username).casefold())
    return " ".join("".join(one for one in plain if unicodedata.category(one) not in UNSEEN).split())


def _refusal(text: str, until: datetime, now: datetime) -> TooManyRequests:
    return TooManyRequests(text, retry_after=max(1, math.ceil((until - now).total_seconds())))
