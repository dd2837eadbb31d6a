"""The secrets of the installation by name, in MongoDB: the collection `installation_secrets`.

Settings of plugins refer to them as `vault:NAME`. They belong to no organization, since the settings do not:
a user who may change credentials of one organization must not decide what a plugin sends for all of them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from netautod.core.clock import Clock
from netautod.core.errors import InvalidInput
from netautod.secrets.vault.envelope import SealedField
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.vault import INSTALLATION, Vault
from netautod.store.client import Database

COLLECTION, FIELD = "installation_secrets", "value"
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=FIELD),)
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
MAX_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class NamedSecret:
    """A named secret as it is shown: without its value."""

    name: str
    updated_at: datetime


async def stored_names(database: Database) -> set[str]:
    """Return the names alone, which need no key."""
    return {row["_id"] for row in await database.collection(COLLECTION).find({}, fields={"_id": 1})}


class NamedSecrets:
    def __init__(self, database: Database, *, vault: Vault, clock: Clock) -> None:
        self._secrets = database.collection(COLLECTION)
        self._vault = vault
        self._clock = clock

    async def put(self, name: str, value: str) -> None:
        """Store a secret. Raises InvalidInput for a name or a value that is not allowed."""
        if not NAME.fullmatch(name):
            raise InvalidInput("name: 1 to 64 characters of a-z 0-9 . _ -, the first one a letter or a digit")
        body = value.encode("utf-8", "surrogatepass")
        if not 1 <= len(body) <= MAX_BYTES:
            raise InvalidInput(f"value: 1 to {MAX_BYTES} bytes")
        sealed = await self._vault.seal(INSTALLATION, COLLECTION, name, FIELD, body)
        change = {"$set": {FIELD: sealed, "updated_at": self._clock.now()}}
        await self._secrets.update({"_id": name}, change, upsert=True)

    async def values(self, names: set[str]) -> Mapping[str, str | VaultError]:
        """Return the values of the names that exist; the error in the place of one that does not open."""
        rows = await self._secrets.find({"_id": {"$in": sorted(names)}}) if names else []
        found = dict[str, str | VaultError]()
        for row in rows:
            try:
                body = await self._vault.unseal(INSTALLATION, COLLECTION, row["_id"], FIELD, row[FIELD])
                found[row["_id"]] = body.decode("utf-8", "surrogatepass")
            except VaultError as error:
                found[row["_id"]] = error
        return found

    async def all(self) -> list[NamedSecret]:
        """Return all named secrets, by name."""
        rows = await self._secrets.find({}, fields={"updated_at": 1}, sort=[("_id", 1)])
        return [NamedSecret(name=row["_id"], updated_at=row["updated_at"]) for row in rows]

    async def delete(self, name: str) -> bool:
        return await self._secrets.delete({"_id": name})
