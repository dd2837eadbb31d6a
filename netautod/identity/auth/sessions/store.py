"""Sessions, their refresh tokens and seats in MongoDB: `sessions`, `refresh_tokens` and `seats`."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.identity.auth.models import TERMINAL, LoginSession, RefreshToken, SeatSlot
from netautod.identity.users.models import User
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

SESSIONS, REFRESH_TOKENS, SEATS = "sessions", "refresh_tokens", "seats"
TAKEN_OVER = "seat taken over"
INDEXES = (
    Index(collection=SESSIONS, keys=(("org_id", 1), ("user_id", 1), ("created_at", -1))),
    # The TTL monitor runs once a minute and is late under load: every check compares `expires_at` itself.
    Index(collection=SESSIONS, keys=(("expires_at", 1),), expire_seconds=0),
    Index(collection=SESSIONS, keys=(("last_activity_at", 1),), partial={"client_type": TERMINAL}),
    Index(
        collection=SESSIONS,
        keys=(("cookie_hash", 1),),
        unique=True,
        partial={"cookie_hash": {"$type": "string"}},
    ),
    Index(collection=REFRESH_TOKENS, keys=(("expires_at", 1),), expire_seconds=0),
)


class SessionStore:
    def __init__(self, database: Database) -> None:
        self._sessions = scoped(database, SESSIONS)
        self._all = database.collection(SESSIONS)

    async def insert(self, session: LoginSession) -> None:
        await self._sessions.insert(session.org_id, _session_document(session))

    async def get(self, org_id: OrgId, session_id: str) -> LoginSession | None:
        found = await self._sessions.find_one(org_id, {"_id": session_id})
        return _to_session(found) if found else None

    async def by_cookie(self, cookie_hash: str) -> LoginSession | None:
        """Return the session, of any organization: at a cookie the organization is not known yet."""
        found = await self._all.find_one({"cookie_hash": cookie_hash})
        return _to_session(found) if found else None

    async def many(self, ids: Sequence[str]) -> list[LoginSession]:
        """Return the sessions, of any organization; unknown ids are left out."""
        return [_to_session(document) for document in await self._all.find({"_id": {"$in": list(ids)}})]

    async def of_user(self, user: User, now: datetime, *, limit: int) -> list[LoginSession]:
        """List the user's sessions that did not end or expire, newest first."""
        where = {"user_id": user.id, "ended_at": None, "expires_at": {"$gt": now}}
        sort = [("created_at", -1), ("_id", 1)]
        found = await self._sessions.find(user.org_id, where, sort=sort, limit=limit)
        return [_to_session(document) for document in found]

    async def terminals(self, active_since: datetime, now: datetime) -> list[LoginSession]:
        """List terminal sessions of all organizations with activity since then; their users may be gone."""
        recent = {"client_type": TERMINAL, "last_activity_at": {"$gt": active_since}}
        found = await self._all.find({**recent, "ended_at": None, "expires_at": {"$gt": now}})
        return [_to_session(document) for document in found]

    async def end_all(self, reason: str, now: datetime) -> int:
        """End the living sessions of all users; return how many."""
        where = {"ended_at": None, "expires_at": {"$gt": now}}
        return await self._all.update_many(where, {"$set": {"ended_at": now, "end_reason": reason}})

    async def end_others(self, user: User, kept: str, reason: str, now: datetime) -> int:
        """End all of the user's living sessions but one; return how many."""
        where = {
            "user_id": user.id,
            "_id": {"$ne": kept},
            "ended_at": None,
            "expires_at": {"$gt": now},
            "$or": [{"epoch": user.session_epoch}, {"_id": user.kept_session_id}],
        }
        change = {"$set": {"ended_at": now, "end_reason": reason}}
        return await self._sessions.update_many(user.org_id, where, change)

    async def end(self, org_id: OrgId, session_id: str, reason: str, now: datetime) -> bool:
        """End the session; return False if it had ended before. The first reason stays."""
        where = {"_id": session_id, "ended_at": None}
        return await self._sessions.update(org_id, where, {"$set": {"ended_at": now, "end_reason": reason}})

    async def end_silent(self, session: LoginSession, silent_since: datetime, now: datetime) -> bool:
        """End the session if it has not been active since then; return False if it was, or had ended
        before."""
        where = {"_id": session.id, "ended_at": None, "last_activity_at": {"$lte": silent_since}}
        change = {"$set": {"ended_at": now, "end_reason": TAKEN_OVER}}
        return await self._sessions.update(session.org_id, where, change)

    async def prolong(self, session: LoginSession, expires_at: datetime, now: datetime) -> bool:
        """Extend the session after a refresh, or a person's request; return False if it ended meanwhile."""
        change = {"$max": {"expires_at": expires_at, "last_activity_at": now}}
        return await self._sessions.update(session.org_id, {"_id": session.id, "ended_at": None}, change)

    async def touch(self, session: LoginSession, now: datetime, interval: timedelta) -> None:
        """Record activity, over all nodes at most once per interval."""
        where = {"_id": session.id, "last_activity_at": {"$lte": now - interval}}
        await self._sessions.update(session.org_id, where, {"$set": {"last_activity_at": now}})

    async def touch_many(self, moments: Mapping[tuple[OrgId, str], datetime]) -> None:
        """Record activity by organization and session id, in one round trip."""
        await self._all.update_batch(
            [
                ({"_id": session_id, "org_id": org_id}, {"$max": {"last_activity_at": moment}})
                for (org_id, session_id), moment in moments.items()
            ]
        )


class RefreshTokenStore:
    """A store keyed by the token's SHA-256: a copy of the database holds no token that can be presented."""

    def __init__(self, database: Database) -> None:
        self._tokens = database.collection(REFRESH_TOKENS)

    async def insert(self, token: RefreshToken) -> None:
        await self._tokens.insert(_token_document(token))

    async def get(self, token_hash: str) -> RefreshToken | None:
        found = await self._tokens.find_one({"_id": token_hash})
        return _to_token(found) if found else None

    async def use(self, token_hash: str, now: datetime) -> bool:
        """Use the token up by compare-and-set: true for exactly one caller."""
        return await self._tokens.update({"_id": token_hash, "used_at": None}, {"$set": {"used_at": now}})

    async def delete(self, token_hash: str) -> None:
        await self._tokens.delete({"_id": token_hash})


class SeatStore:
    def __init__(self, database: Database) -> None:
        self._seats = database.collection(SEATS)

    async def slots(self) -> dict[int, SeatSlot]:
        """Return the slots by number."""
        return {
            document["number"]: SeatSlot(
                holder=document["holder"], taken_at=document["taken_at"], confirmed=document["confirmed"]
            )
            for document in await self._seats.find({})
        }

    async def take(self, number: int, seen: SeatSlot | None, taken: SeatSlot) -> bool:
        """Take the slot by compare-and-set: false if another login has taken it since it was `seen`."""
        mine = {"holder": taken.holder, "taken_at": taken.taken_at, "confirmed": taken.confirmed}
        if seen is not None:
            where = {"_id": f"seat:{number}", "holder": seen.holder, "confirmed": seen.confirmed}
            return await self._seats.update(where, {"$set": mine})
        try:
            await self._seats.insert({"_id": f"seat:{number}", "number": number, **mine})
        except Duplicate:
            return False
        return True

    async def hand_over(self, holder: str, taken: SeatSlot) -> bool:
        """Hand the slot over by compare-and-set: false if the session `holder` has no slot (any more)."""
        change = {"holder": taken.holder, "taken_at": taken.taken_at, "confirmed": taken.confirmed}
        return await self._seats.update({"holder": holder}, {"$set": change})

    async def free(self, session_ids: Sequence[str]) -> None:
        """Free the slots of sessions that are gone."""
        await self._seats.delete_many({"holder": {"$in": list(session_ids)}})

    async def confirm(self, session_id: str) -> bool:
        """Confirm the slot; return False if the session holds none any more."""
        return await self._seats.update({"holder": session_id}, {"$set": {"confirmed": True}})


def _session_document(session: LoginSession) -> Document:
    cookie = {} if session.cookie_hash is None else {"cookie_hash": session.cookie_hash}
    return {
        **cookie,
        "_id": session.id,
        "user_id": session.user_id,
        "epoch": session.epoch,
        "client_type": session.client_type,
        "auth_provider": session.auth_provider,
        "ip_address": session.ip_address,
        "user_agent": session.user_agent,
        "created_at": session.created_at,
        "last_activity_at": session.last_activity_at,
        "expires_at": session.expires_at,
        "family_expires_at": session.family_expires_at,
        "ended_at": session.ended_at,
    }


def _to_session(document: Document) -> LoginSession:
    return LoginSession(
        id=document["_id"],
        org_id=OrgId(document["org_id"]),
        user_id=document["user_id"],
        epoch=document["epoch"],
        client_type=document["client_type"],
        auth_provider=document["auth_provider"],
        ip_address=document["ip_address"],
        user_agent=document["user_agent"],
        created_at=document["created_at"],
        last_activity_at=document["last_activity_at"],
        expires_at=document["expires_at"],
        family_expires_at=document["family_expires_at"],
        ended_at=document["ended_at"],
        cookie_hash=document.get("cookie_hash"),
    )


def _token_document(token: RefreshToken) -> Document:
    return {
        "_id": token.hash,
        "org_id": token.org_id,
        "user_id": token.user_id,
        "session_id": token.session_id,
        "epoch": token.epoch,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "used_at": token.used_at,
    }


def _to_token(document: Document) -> RefreshToken:
    return RefreshToken(
        hash=document["_id"],
        org_id=OrgId(document["org_id"]),
        user_id=document["user_id"],
        session_id=document["session_id"],
        epoch=document["epoch"],
        created_at=document["created_at"],
        expires_at=document["expires_at"],
        used_at=document["used_at"],
    )
