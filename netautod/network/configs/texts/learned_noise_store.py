"""The learned noise of each device: a row of the collection that held the states of backups, once.

It holds lines of a configuration, so it is sealed like one.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.core.work.context import Work
from netautod.network.configs.texts.learned_noise import MOST_RULES, Rule
from netautod.secrets.vault.envelope import SealedField
from netautod.secrets.vault.vault import Vault
from netautod.store.client import Database
from netautod.store.scoped import scoped

COLLECTION = "backup_facts"  # its name in the first release
FIELD = "learned"
TOKEN = "learned_token"
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=FIELD),)


@dataclass(frozen=True, kw_only=True)
class Learned:
    """The learned rules of a device. `token` changes whenever they change; None while there are none."""

    rules: tuple[Rule, ...] = ()
    token: str | None = None


class LearnedNoise:
    def __init__(self, database: Database, *, vault: Vault) -> None:
        self._rows = scoped(database, COLLECTION)
        self._vault = vault

    async def of(self, org_id: OrgId, device_id: str) -> Learned:
        row = await self._rows.find_one(org_id, {"_id": device_id}, fields={FIELD: 1, TOKEN: 1})
        if row is None or row.get(FIELD) is None:
            return Learned()
        data = await self._vault.unseal(org_id, COLLECTION, device_id, FIELD, row[FIELD])
        rules = tuple(Rule.of_json(value) for value in json.loads(data))
        return Learned(rules=rules, token=row[TOKEN])

    async def put(self, work: Work, device_id: str, known: Learned, rules: Sequence[Rule]) -> Learned:
        """Replace the known rules; what another writer changed meanwhile is left as it is.

        So a capture that was under way when a user had all forgotten does not bring it back.
        """
        kept = tuple(rules)[-MOST_RULES:]
        data = json.dumps([rule.to_json() for rule in kept]).encode()
        sealed = await self._vault.seal(work.org_id, COLLECTION, device_id, FIELD, data)
        learned = Learned(rules=kept, token=uuid4().hex)
        work.guard()
        change = {"$set": {FIELD: sealed, TOKEN: learned.token}}
        unchanged = {"_id": device_id, TOKEN: known.token}
        try:
            stored = await self._rows.update(work.org_id, unchanged, change, upsert=known.token is None)
        except Duplicate:  # another capture has learned and inserted a row meanwhile
            stored = False
        return learned if stored else known

    async def forget(self, org_id: OrgId, device_id: str) -> None:
        await self._rows.update(org_id, {"_id": device_id}, {"$unset": {FIELD: "", TOKEN: ""}})

    async def purge(self, org_id: OrgId, device_id: str) -> None:
        """Delete the rules of a device that is gone for good."""
        await self._rows.delete(org_id, {"_id": device_id})
