"""Running logins by redirect, in MongoDB: the collection `redirect_logins`."""

from dataclasses import dataclass
from datetime import datetime

from netautod.store.client import Database
from netautod.store.indexes import Index

COLLECTION = "redirect_logins"
# The TTL monitor is late under load: `take` compares the time itself.
INDEXES = (Index(collection=COLLECTION, keys=(("expires_at", 1),), expire_seconds=0),)


@dataclass(frozen=True, kw_only=True)
class PendingLogin:
    """A running login. Of its two secrets, the state and the browser's cookie, only SHA-256 hashes are
    stored.

    `page`: a login that began at the console leads there; its `redirect_uri` is empty.
    """

    state_hash: str
    browser_hash: str
    provider: str
    redirect_uri: str
    client_type: str
    expires_at: datetime
    page: str | None = None


class RedirectStore:
    def __init__(self, database: Database) -> None:
        self._logins = database.collection(COLLECTION)

    async def insert(self, login: PendingLogin) -> None:
        await self._logins.insert(
            {
                "_id": login.state_hash,
                "browser_hash": login.browser_hash,
                "provider": login.provider,
                "redirect_uri": login.redirect_uri,
                "client_type": login.client_type,
                "expires_at": login.expires_at,
                "page": login.page,
                "used_at": None,
            }
        )

    async def take(
        self, provider: str, state_hash: str, browser_hash: str, now: datetime
    ) -> PendingLogin | None:
        """Use the login up and return it to exactly one caller.

        Only for the provider with which it began (RFC 9700 4.4), and only for the browser that began it.
        Other callers do not use it up: a state that they have seen cannot spoil the login.
        """
        where = {
            "_id": state_hash,
            "provider": provider,
            "browser_hash": browser_hash,
            "used_at": None,
            "expires_at": {"$gt": now},
        }
        found = await self._logins.find_and_update(where, {"$set": {"used_at": now}})
        if found is None:
            return None
        return PendingLogin(
            state_hash=found["_id"],
            browser_hash=found["browser_hash"],
            provider=found["provider"],
            redirect_uri=found["redirect_uri"],
            client_type=found["client_type"],
            expires_at=found["expires_at"],
            page=found.get("page"),
        )
