"""Seats of the license: how many terminals may be in use at a time, over all organizations and nodes.

A seat is a terminal session with activity within the idle time; the sessions alone say which seats are in
use. The slots `seat:1` to `seat:N` only settle which of several concurrent logins gets a free one: a login
takes a slot by compare-and-set on its holder, stores its session, and then confirms that the slot is still
its own.

A terminal that was restarted does not hold two seats: a login ends the terminal sessions of the same user
from the same address with the same user agent that have been silent for a minute, and takes the slot of one
of them over. The slot changes hands before that session ends, so that no other login gets it in between; if
the process dies there, the slot is free again after a minute, and until then the old session counts without
one.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from netautod.core.clock import Clock
from netautod.core.errors import Conflict
from netautod.core.identity.caller import RequestInfo
from netautod.identity.auth.models import TERMINAL, LoginSession, SeatSlot
from netautod.identity.auth.sessions.store import SeatStore, SessionStore
from netautod.identity.users.models import User
from netautod.identity.users.service import UserService

LOGIN_TIME = timedelta(seconds=60)
"""A slot belongs to its taker this long without a session: the login is under way, or has died."""
SILENCE = timedelta(seconds=60)
"""A session without a request for this long may be that of a terminal that is gone."""
Ended = Callable[[LoginSession], Awaitable[None]]


class SeatLimitReached(Conflict):
    """Raised if all seats are in use."""

    def __init__(self, count: int) -> None:
        super().__init__(f"seat_limit_reached: all {count} seats are in use")


def free_slots(
    slots: Mapping[int, SeatSlot], active: Collection[str], *, count: int, now: datetime
) -> list[tuple[int, SeatSlot | None]]:
    """Return the free slots of 1 to `count` that a login may take, each with its expected content.

    Active sessions without a slot (back from idling, or from before the limit was lowered) count as well:
    each one blocks the lowest free slot. All nodes block the same ones, so no login gets past the limit.
    """
    numbered = range(1, count + 1)
    counted = {number: slots[number] for number in numbered if number in slots}
    seated = {slot.holder for slot in counted.values() if slot.holder in active}
    entering = {
        slot.holder
        for slot in counted.values()
        if not slot.confirmed and now - slot.taken_at < LOGIN_TIME and slot.holder not in seated
    }
    holders = seated | entering
    free = [number for number in numbered if number not in counted or counted[number].holder not in holders]
    blocked = len(set(active) - seated)
    return [(number, slots.get(number)) for number in free[blocked:]]


@dataclass(frozen=True, kw_only=True)
class Entering:
    """A login of a terminal that is being admitted. `ended` is notified of each session that it replaces."""

    session_id: str
    user: User
    info: RequestInfo
    ended: Ended

    def replaces(self, session: LoginSession, silent_since: datetime) -> bool:
        """Return whether that session seems to be of the same terminal before its restart."""
        origin = (session.user_id, session.ip_address, session.user_agent)
        same = origin == (self.user.id, self.info.ip_address, self.info.user_agent)
        return same and session.last_activity_at <= silent_since


class Seats:
    """The seats.

    `count` and `idle_minutes` are the settings license.seats (0: unlimited), license.seat_idle_minutes.
    """

    def __init__(
        self,
        *,
        store: SeatStore,
        sessions: SessionStore,
        users: UserService,
        clock: Clock,
        count: int,
        idle_minutes: float,
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._users = users
        self._clock = clock
        self._count = count
        self._idle = timedelta(minutes=idle_minutes)

    async def take(self, entering: Entering) -> None:
        """Take a seat before the session is stored; raises SeatLimitReached.

        If the login then dies, the slot is free again a minute later.
        """
        if not self._count:
            return
        active = await self._active()
        silent_since = self._clock.now() - SILENCE
        replaced = [session for session in active if entering.replaces(session, silent_since)]
        if not await self._taken_over(entering, replaced, silent_since):
            await self._take_free(entering.session_id)
        for session in replaced:
            await self._end(entering, session, silent_since)

    async def _taken_over(
        self, entering: Entering, replaced: Collection[LoginSession], silent_since: datetime
    ) -> bool:
        """Take over the slot of one of the sessions, which has then ended; return whether that succeeded."""
        for session in replaced:
            now = self._clock.now()
            mine = SeatSlot(holder=entering.session_id, taken_at=now, confirmed=False)
            if not await self._store.hand_over(session.id, mine):
                continue
            if await self._end(entering, session, silent_since):
                return True
            # It is in use again after all, or its end was quicker: it gets the slot back, which is free then.
            theirs = SeatSlot(holder=session.id, taken_at=now, confirmed=True)
            await self._store.hand_over(entering.session_id, theirs)
        return False

    async def _end(self, entering: Entering, session: LoginSession, silent_since: datetime) -> bool:
        ended = await self._sessions.end_silent(session, silent_since, self._clock.now())
        if ended:
            await entering.ended(session)
        return ended

    async def _take_free(self, session_id: str) -> None:
        while True:
            # In this order: a login that ends in between has its session among the active ones. The other way
            # round its slot would be seen without a session, and be free.
            slots = await self._store.slots()
            active = {session.id for session in await self._active()}
            candidates = free_slots(slots, active, count=self._count, now=self._clock.now())
            if not candidates:
                raise SeatLimitReached(self._count)
            for number, seen in candidates:
                taken = SeatSlot(holder=session_id, taken_at=self._clock.now(), confirmed=False)
                if await self._store.take(number, seen, taken):
                    return
            # Other logins have taken all of them meanwhile: look again what is free.

    async def confirm(self, session: LoginSession) -> None:
        """Confirm the seat after the session was stored.

        Raises SeatLimitReached if the login took so long that the slot was given to another one.
        """
        if session.client_type != TERMINAL or not self._count:
            return
        if not await self._store.confirm(session.id):
            raise SeatLimitReached(self._count)

    async def _active(self) -> list[LoginSession]:
        """List the terminals in use."""
        now = self._clock.now()
        sessions = await self._sessions.terminals(now - self._idle, now)
        users = await self._users.find_many(session.user_id for session in sessions)
        return [
            session
            for session in sessions
            if session.user_id in users and session.holds(users[session.user_id], now)
        ]
