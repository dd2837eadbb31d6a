"""The caller of a page: the session of the console that a cookie stands for.

Which session that is never changes, and is remembered. The authenticator checks whether it is valid, as for
the sessions of tokens: anew every second, so that it ends everywhere as soon as those do.
"""

from collections import OrderedDict
from datetime import timedelta

from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller, OrgId, RequestInfo
from netautod.core.identity.refusals import TokenRefused
from netautod.identity.auth.directory.service import DirectoryLookups
from netautod.identity.auth.models import LoginSession
from netautod.identity.auth.sessions.authenticator import Authenticator
from netautod.identity.auth.sessions.cookies import hash_of_cookie, is_cookie
from netautod.identity.auth.sessions.service import Sessions
from netautod.identity.auth.sessions.store import SessionStore
from netautod.identity.auth.sessions.token_state import TokenState
from netautod.identity.auth.tokens.access import INVALID

REMEMBERED = 10_000
LOOK_UP_EVERY = timedelta(minutes=1).total_seconds()
Place = tuple[OrgId, str, str]


class PageCallers:
    def __init__(
        self,
        *,
        store: SessionStore,
        sessions: Sessions,
        authenticator: Authenticator,
        lookups: DirectoryLookups,
        clock: Clock,
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._authenticator = authenticator
        self._lookups = lookups
        self._clock = clock
        # By the cookie's hash: organization, session and user.
        self._places: OrderedDict[str, Place] = OrderedDict()
        self._look_up_at: OrderedDict[str, float] = OrderedDict()

    async def caller_of(self, cookie: str, info: RequestInfo, by_person: bool) -> Caller:
        """Return the caller with the permissions that the database holds now; raises TokenRefused.

        `by_person`: a request of a person; a page that refreshes itself does not prolong the session.
        """
        state = await self.state_of(cookie)
        if state is None:
            raise TokenRefused(INVALID)
        session = state.holder
        if by_person and await self._sessions.keep_console(session, self._clock.now()):
            self._authenticator.forget_session(session.id)  # else its old end would hold for a second
        self._look_up(state)
        return self._authenticator.caller_by(state, info)

    async def state_of(self, cookie: str) -> TokenState[LoginSession] | None:
        """Return the session that the cookie stands for, if it is valid."""
        if not is_cookie(cookie):
            return None
        hashed = hash_of_cookie(cookie)
        place = await self._place(hashed)
        state = None if place is None else await self._authenticator.session(*place)
        return state if state is not None and state.holder.cookie_hash == hashed else None

    async def _place(self, hashed: str) -> Place | None:
        if hashed in self._places:
            self._places.move_to_end(hashed)
            return self._places[hashed]
        session = await self._store.by_cookie(hashed)
        if session is None:
            return None
        self._places[hashed] = place = (session.org_id, session.id, session.user_id)
        _bound(self._places)
        return place

    def _look_up(self, state: TokenState[LoginSession]) -> None:
        """Start the look-up of the user in the directory, as a refresh does for the sessions of tokens."""
        now, session = self._clock.monotonic(), state.holder
        if now >= self._look_up_at.get(session.id, now):
            self._look_up_at[session.id] = now + LOOK_UP_EVERY
            _bound(self._look_up_at)
            self._lookups.begin(state.user, session)


def _bound(remembered: "OrderedDict[str, Place] | OrderedDict[str, float]") -> None:
    if len(remembered) > REMEMBERED:
        remembered.popitem(last=False)
