"""API tokens and the keys that sign access tokens in MongoDB: `api_tokens` and `signing_keys`.

Only the SHA-256 of an API token is stored, and only the sealed private half of a key.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.work.guard import Guard
from netautod.identity.auth.models import ApiToken, StoredSigningKey
from netautod.identity.users.models import KNOWS_READING
from netautod.identity.users.store import USERS
from netautod.secrets.vault.envelope import SealedField
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.migrations.model import in_pages
from netautod.store.scoped import scoped

API_TOKENS, SIGNING_KEYS = "api_tokens", "signing_keys"
FIELD = "private_key"
SHOWN_AFTER_EXPIRY = timedelta(days=30)
INDEXES = (
    Index(collection=API_TOKENS, keys=(("hash", 1),), unique=True),
    Index(collection=API_TOKENS, keys=(("org_id", 1), ("user_id", 1), ("created_at", -1))),
    Index(
        collection=API_TOKENS,
        keys=(("expires_at", 1),),
        expire_seconds=int(SHOWN_AFTER_EXPIRY.total_seconds()),
    ),
    # The unique insert decides between two first nodes, and between two rotations at once.
    Index(collection=SIGNING_KEYS, keys=(("generation", 1),), unique=True),
)
SEALED_FIELDS = (SealedField(collection=SIGNING_KEYS, path=FIELD),)


class ApiTokenStore:
    def __init__(self, database: Database) -> None:
        self._tokens = scoped(database, API_TOKENS)
        self._all = database.collection(API_TOKENS)

    async def insert(self, token: ApiToken) -> None:
        await self._tokens.insert(token.org_id, _document(token))

    async def by_hash(self, token_hash: str) -> ApiToken | None:
        found = await self._all.find_one({"hash": token_hash})
        return _to_token(found) if found else None

    async def by_hashes(self, hashes: Sequence[str]) -> list[ApiToken]:
        """Return the tokens, of any organization; unknown ones are left out."""
        if not hashes:
            return []
        return [_to_token(document) for document in await self._all.find({"hash": {"$in": list(hashes)}})]

    async def page(self, org_id: OrgId, user_id: str, page: Page) -> PageOf[ApiToken]:
        """Return one page of a user's tokens, newest first."""
        where = {"user_id": user_id}
        total = await self._tokens.count(org_id, where)
        sort = [("created_at", -1), ("_id", 1)]
        found = await self._tokens.find(org_id, where, sort=sort, limit=page.limit, offset=page.offset)
        return PageOf(items=[_to_token(document) for document in found], total=total, page=page)

    async def get(self, org_id: OrgId, user_id: str, token_id: str) -> ApiToken | None:
        found = await self._tokens.find_one(org_id, {"_id": token_id, "user_id": user_id})
        return _to_token(found) if found else None

    async def delete(self, token: ApiToken) -> bool:
        return await self._tokens.delete(token.org_id, {"_id": token.id})

    async def record_use(self, token: ApiToken, now: datetime, interval: timedelta) -> None:
        """Record a use, over all nodes at most once per interval."""
        earlier = [{"last_used_at": None}, {"last_used_at": {"$lte": now - interval}}]
        await self._tokens.update(
            token.org_id, {"_id": token.id, "$or": earlier}, {"$set": {"last_used_at": now}}
        )

    async def delete_of(self, org_id: OrgId, user_id: str) -> None:
        await self._tokens.delete_many(org_id, {"user_id": user_id})

    async def delete_before(self, org_id: OrgId, user_id: str, epoch: int) -> None:
        """Delete a user's tokens of older epochs; tokens of older releases carry none."""
        await self._tokens.delete_many(org_id, {"user_id": user_id, "epoch": {"$not": {"$gte": epoch}}})

    async def give_end(self, moment: datetime, guard: Guard) -> int:
        """Set the end of tokens without one that were not created to have none; older releases did not mark
        those.
        """
        where = {"expires_at": None, "never": {"$ne": True}}
        change = {"$set": {"expires_at": moment, "never": False}}
        return await in_pages(self._all, where, change, guard=guard)

    async def delete_orphans(self) -> int:
        """Delete tokens of deleted users, and those that a password reset ended.

        They are refused anyway, but nothing else would remove them.
        """
        joined = {"$lookup": {"from": USERS, "localField": "user_id", "foreignField": "_id", "as": "owner"}}
        epoch = {"$ifNull": [{"$first": "$owner.token_epoch"}, 0]}
        ended = {"$lt": [{"$ifNull": ["$epoch", 0]}, epoch]}
        over = {"$match": {"$or": [{"owner": []}, {"$expr": ended}]}}
        found = await self._all.aggregate([joined, over, {"$project": {"_id": 1}}])
        return await self._all.delete_many({"_id": {"$in": [document["_id"] for document in found]}})


class SigningKeyStore:
    def __init__(self, database: Database) -> None:
        self._keys = database.collection(SIGNING_KEYS)

    async def all(self) -> list[StoredSigningKey]:
        return [
            StoredSigningKey(
                kid=document["_id"],
                generation=document["generation"],
                signs_from=document["signs_from"],
                alone_from=document["alone_from"],
                sealed=document[FIELD],
            )
            for document in await self._keys.find({})
        ]

    async def insert(self, key: StoredSigningKey, *, at: datetime) -> None:
        """Insert a key. Raises Duplicate if there is a key of that generation."""
        await self._keys.insert(
            {
                "_id": key.kid,
                "generation": key.generation,
                FIELD: key.sealed,
                "signs_from": key.signs_from,
                "alone_from": key.alone_from,
                "created_at": at,
            }
        )

    async def delete_before(self, generation: int) -> None:
        await self._keys.delete_many({"generation": {"$lt": generation}})


def _document(token: ApiToken) -> Document:
    return {
        "_id": token.id,
        "user_id": token.user_id,
        "name": token.name,
        "hash": token.hash,
        "permissions": list(token.permissions),
        KNOWS_READING: True,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "never": token.expires_at is None,
        "epoch": token.epoch,
        "last_used_at": token.last_used_at,
    }


def _to_token(document: Document) -> ApiToken:
    return ApiToken(
        id=document["_id"],
        org_id=OrgId(document["org_id"]),
        user_id=document["user_id"],
        name=document["name"],
        hash=document["hash"],
        permissions=tuple(document["permissions"]),
        created_at=document["created_at"],
        expires_at=document["expires_at"],
        last_used_at=document["last_used_at"],
        epoch=document.get("epoch", 0),  # older documents lack it
    )
