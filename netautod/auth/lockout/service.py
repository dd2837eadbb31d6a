"""Lockout of addresses that guess passwords, and the slow-down of accounts that are guessed at.

An address is locked out by failures alone, over all accounts, and a success of one account never clears
the failures of others: an attacker with an account cannot reset the count with it. An account is never
locked out, or anyone could lock out an administrator; its attempts are only spaced a second apart.
"""

import asyncio
import hashlib
import hmac
import ipaddress
import math
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from netautod.auth.lockout.store import FailureCounters
from netautod.core.clock import Clock
from netautod.core.errors import TooManyRequests

TEXT = "Too many failed login attempts. Please try again later."
ACCOUNT_GAP = timedelta(seconds=1)
ACCOUNT_PATIENCE = timedelta(seconds=5)
IPV6_HOST_BITS = 64


class Lockout:
    """`failures` is the setting auth.lockout_failures. `account_key` (32 bytes) keys the hashes of the names
    that are counted: people type passwords there.
    """

    def __init__(
        self,
        *,
        counters: FailureCounters,
        failures: int,
        account_key: bytes,
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._counters = counters
        self._limit = failures
        self._account_key = account_key
        self._clock = clock
        self._sleep = sleep

    async def admit(self, address: str, username: str) -> None:
        """Before a password is looked at; raises TooManyRequests, or waits a moment for a guessed account."""
        now = self._clock.now()
        until = await self._counters.locked_until(group_of(address), now)
        if until is not None:
            raise _refusal(until, now)
        account = self._account(username)
        state = await self._counters.account(account, now)
        if state is not None and state.failures >= self._limit:
            await self._slow_down(account, now)

    async def failed(self, address: str, username: str) -> int:
        """Counts a failure; how many the address has left. 0: it is locked out from now on.

        Raises TooManyRequests if a try made at the same time had used up the last one.
        """
        now = self._clock.now()
        state = await self._counters.add_failure(group_of(address), self._account(username), now)
        if not state.counted and state.locked_until is not None:
            raise _refusal(state.locked_until, now)
        return max(0, self._limit - state.failures)

    async def succeeded(self, address: str, username: str) -> None:
        """After a right password; raises TooManyRequests if the address was locked out meanwhile.

        Without this second look, tries made in parallel with the last allowed one would all count.
        """
        now = self._clock.now()
        until = await self._counters.clear_account(group_of(address), self._account(username), now)
        if until is not None:
            raise _refusal(until, now)

    async def unlock(self, username: str) -> None:
        """`netautod user unlock`: clears the account, and unlocks addresses that failed at it."""
        await self._counters.forget_account(self._account(username))

    async def _slow_down(self, account: str, now: datetime) -> None:
        slot = await self._counters.take_slot(account, now, gap=ACCOUNT_GAP, patience=ACCOUNT_PATIENCE)
        if slot is None:
            return
        if slot > now + ACCOUNT_PATIENCE:
            raise _refusal(slot, now)
        await self._sleep((slot - now).total_seconds())

    def _account(self, username: str) -> str:
        name = username.strip().lower().encode("utf-8", "surrogatepass")
        return hmac.new(self._account_key, name, hashlib.sha256).hexdigest()


def group_of(address: str) -> str:
    """What counts as one client: an IPv4 address, or the /64 that one IPv6 client is given (RFC 6177)."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, IPV6_HOST_BITS), strict=False))


def _refusal(until: datetime, now: datetime) -> TooManyRequests:
    return TooManyRequests(TEXT, retry_after=max(1, math.ceil((until - now).total_seconds())))
