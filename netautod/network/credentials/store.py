"""Credentials as documents, their sealed fields beside the plain ones, and the organization's defaults."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.registries import References
from netautod.network.credentials.models import Credential
from netautod.network.credentials.rules import SEALED, SNMP, SSH, kind_of
from netautod.secrets.vault.envelope import SealedField
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.removal import VISIBLE, Removal
from netautod.store.scoped import scoped

COLLECTION = "credentials"
DEFAULTS = "credential_defaults"
SEALED_UNDER = "sealed"
SEALED_FIELDS = tuple(SealedField(collection=COLLECTION, path=f"{SEALED_UNDER}.{name}") for name in SEALED)
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), ("name", 1)), unique=True),
    Index(collection=COLLECTION, keys=(("removal", 1),), partial={"removal": {"$gt": ""}}),
)


class CredentialStore:
    """A default is one small document per organization and kind, so that a single write moves it.

    It may point at a credential that is gone: then there is none.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._credentials = scoped(database, COLLECTION)
        self._defaults = scoped(database, DEFAULTS)

    def removal(self, references: References) -> Removal:
        """Return the removal of records that nothing refers to."""
        return Removal(self._database, COLLECTION, references)

    async def insert(
        self, org_id: OrgId, credential_id: str, plain: Mapping[str, Any], sealed: Document, *, at: datetime
    ) -> None:
        """Insert a credential. Raises Duplicate if the name is taken."""
        document = {
            "_id": credential_id,
            **plain,
            SEALED_UNDER: sealed,
            "revision": 1,
            "created_at": at,
            "updated_at": at,
        }
        await self._credentials.insert(org_id, document)

    async def get(self, org_id: OrgId, credential_id: str) -> tuple[Credential, Document] | None:
        """Return the credential and its sealed fields by name."""
        found = await self._credentials.find_one(org_id, {"_id": credential_id, **VISIBLE})
        if found is None:
            return None
        return _credential(found, await self.defaults(org_id)), found[SEALED_UNDER]

    async def id_of(self, org_id: OrgId, name: str) -> str | None:
        found = await self._credentials.find_one(org_id, {"name": name, **VISIBLE}, fields={"_id": 1})
        return None if found is None else str(found["_id"])

    async def type_of(self, org_id: OrgId, credential_id: str) -> str | None:
        where = {"_id": credential_id, **VISIBLE}
        found = await self._credentials.find_one(org_id, where, fields={"credential_type": 1})
        return None if found is None else str(found["credential_type"])

    async def names_of(self, org_id: OrgId, ids: Iterable[str]) -> dict[str, str]:
        """Return names by id for the credentials that exist."""
        where = {"_id": {"$in": list(ids)}, **VISIBLE}
        found = await self._credentials.find(org_id, where, fields={"name": 1})
        return {document["_id"]: str(document["name"]) for document in found}

    async def types_of(self, org_id: OrgId, ids: Iterable[str]) -> dict[str, str]:
        """Return types by id for the credentials that exist."""
        where = {"_id": {"$in": list(ids)}, **VISIBLE}
        found = await self._credentials.find(org_id, where, fields={"credential_type": 1})
        return {document["_id"]: str(document["credential_type"]) for document in found}

    async def page(self, org_id: OrgId, page: Page) -> PageOf[Credential]:
        """Return one page sorted by name, which is unique."""
        found = await self._credentials.find(
            org_id, VISIBLE, sort=[("name", 1)], limit=page.limit, offset=page.offset
        )
        defaults = await self.defaults(org_id)
        total = await self._credentials.count(org_id, VISIBLE)
        return PageOf(items=[_credential(document, defaults) for document in found], total=total, page=page)

    async def change(
        self,
        org_id: OrgId,
        before: Credential,
        *,
        plain: Mapping[str, Any],
        sealed: Document,
        removed: Sequence[str],
        at: datetime,
    ) -> bool:
        """Change these fields alone, and only if nothing changed since `before` was read."""
        update: Document = {
            "$set": {
                **plain,
                **{f"{SEALED_UNDER}.{name}": value for name, value in sealed.items()},
                "updated_at": at,
            },
            "$inc": {"revision": 1},
        }
        if removed:
            update["$unset"] = {f"{SEALED_UNDER}.{name}": "" for name in removed}
        where = {"_id": before.id, "revision": before.revision, **VISIBLE}
        return await self._credentials.update(org_id, where, update)

    async def defaults(self, org_id: OrgId) -> dict[str, str]:
        """Return credential ids by kind."""
        found = await self._defaults.find(org_id, {})
        return {document["kind"]: document["credential_id"] for document in found}

    async def make_default(self, org_id: OrgId, kind: str, credential_id: str) -> None:
        """Move the default: readers see the old one or this one, never none and never two."""
        where = {"_id": f"{org_id}|{kind}"}
        change = {"$set": {"kind": kind, "credential_id": credential_id}}
        try:
            await self._defaults.update(org_id, where, change, upsert=True)
        except Duplicate:  # another request made the document at the same moment
            await self._defaults.update(org_id, where, change)

    async def drop_default(self, org_id: OrgId, credential_id: str) -> None:
        """Remove the credential from the defaults; another one's default stays."""
        ids = [f"{org_id}|{kind}" for kind in (SSH, SNMP)]
        await self._defaults.delete_many(org_id, {"_id": {"$in": ids}, "credential_id": credential_id})


def _credential(document: Document, defaults: Mapping[str, str]) -> Credential:
    kind = kind_of(document["credential_type"])
    return Credential(
        id=document["_id"],
        name=document["name"],
        description=document["description"],
        credential_type=document["credential_type"],
        username=document["username"],
        port=document["port"],
        allowed_hosts=tuple(document["allowed_hosts"]),
        auth_protocol=document["auth_protocol"],
        priv_protocol=document["priv_protocol"],
        stored=frozenset(document[SEALED_UNDER]),
        is_default=kind is not None and defaults.get(kind) == document["_id"],
        revision=document["revision"],
        use_certificate=document.get("use_certificate", False),  # older documents lack it
        created_at=document["created_at"],
        updated_at=document["updated_at"],
    )
