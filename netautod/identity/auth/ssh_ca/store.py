"""SSH authorities and their certificates in MongoDB.

`ssh_cas` has one document for each organization, `ssh_certificates` one for each certificate until it expires
everywhere.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from netautod.core.identity.caller import OrgId
from netautod.identity.auth.ssh_ca.models import IssuedCertificate
from netautod.secrets.vault.envelope import SealedField
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION, CERTIFICATES = "ssh_cas", "ssh_certificates"
KEPT_AFTER_EXPIRY = timedelta(hours=1)  # for servers whose clock is behind
INDEXES = (
    Index(collection=CERTIFICATES, keys=(("org_id", 1), ("serial", 1)), unique=True),
    Index(collection=CERTIFICATES, keys=(("org_id", 1), ("user_id", 1))),
    Index(
        collection=CERTIFICATES,
        keys=(("valid_before", 1),),
        expire_seconds=int(KEPT_AFTER_EXPIRY.total_seconds()),
    ),
)
FIELD = "private_key"
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=FIELD),)


class SshAuthorityStore:
    def __init__(self, database: Database) -> None:
        self._authorities = scoped(database, COLLECTION)

    async def sealed_key(self, org_id: OrgId) -> Document | None:
        found = await self._authorities.find_one(org_id, {"_id": org_id})
        return None if found is None else found[FIELD]

    async def insert(self, org_id: OrgId, sealed: Document, *, at: datetime) -> None:
        """Insert an authority.

        Raises Duplicate if the organization has one: the `_id` decides between two first uses.
        """
        document = {"_id": org_id, FIELD: sealed, "serial": 0, "created_at": at}
        await self._authorities.insert(org_id, document)

    async def serials_given(self, org_id: OrgId) -> int:
        """Return the highest number that was given."""
        found = await self._authorities.find_one(org_id, {"_id": org_id}, fields={"serial": 1})
        return 0 if found is None else int(found["serial"])

    async def next_serial(self, org_id: OrgId) -> int:
        """Return a number that no other certificate of the organization has or will have."""
        # If we die after this the number is lost, which is harmless.
        found = await self._authorities.find_and_update(org_id, {"_id": org_id}, {"$inc": {"serial": 1}})
        assert found is not None
        return int(found["serial"])


class SshCertificateStore:
    def __init__(self, database: Database) -> None:
        self._certificates = scoped(database, CERTIFICATES)
        self._all = database.collection(CERTIFICATES)

    async def insert(self, issued: IssuedCertificate) -> None:
        """Insert a certificate. Raises Duplicate for a number that the organization's authority has given
        before.
        """
        await self._certificates.insert(issued.org_id, _document(issued))

    async def by_serial(self, org_id: OrgId, serial: int) -> IssuedCertificate | None:
        found = await self._certificates.find_one(org_id, {"serial": serial})
        return _to_issued(found) if found else None

    async def unexpired(self, since: datetime) -> list[IssuedCertificate]:
        """List the certificates of all organizations that were valid at that moment or later."""
        found = self._all.stream({"valid_before": {"$gt": since}})
        return [_to_issued(document) async for document in found]

    async def mark(self, ids: Sequence[str], now: datetime) -> int:
        """Mark certificates as revoked, for good; return how many were not before."""
        if not ids:
            return 0
        where = {"_id": {"$in": list(ids)}, "revoked_at": None}
        return await self._all.update_many(where, {"$set": {"revoked_at": now}})

    async def revoke_of(self, org_id: OrgId, user_id: str, now: datetime) -> int:
        """Revoke all valid certificates that came with logins of the user."""
        where = {"user_id": user_id, "session_id": {"$ne": None}, "revoked_at": None}
        good = {**where, "valid_before": {"$gt": now}}
        return await self._certificates.update_many(org_id, good, {"$set": {"revoked_at": now}})


def _document(issued: IssuedCertificate) -> Document:
    return {
        "_id": issued.id,
        "serial": issued.serial,
        "key_id": issued.key_id,
        "user_id": issued.user_id,
        "session_id": issued.session_id,
        "principals": list(issued.principals),
        "valid_before": issued.valid_before,
        "revoked_at": issued.revoked_at,
    }


def _to_issued(document: Document) -> IssuedCertificate:
    return IssuedCertificate(
        id=document["_id"],
        org_id=OrgId(document["org_id"]),
        serial=document["serial"],
        key_id=document["key_id"],
        user_id=document["user_id"],
        session_id=document["session_id"],
        principals=tuple(document["principals"]),
        valid_before=document["valid_before"],
        revoked_at=document["revoked_at"],
    )
