"""Prompts about changed host keys, kept in the documents of their devices.

There they end by the very write that makes them pointless: a new pin, the reset of one, the deletion of the
device. So there is no moment at which an old prompt could be decided about, and nothing to clean up.
"""

from datetime import datetime
from uuid import uuid4

from netautod.core.identity.caller import OrgId
from netautod.network.devices.host_keys.models import HostKeyPrompt
from netautod.network.devices.models import SSH, Device
from netautod.network.devices.records.documents import PROMPT
from netautod.network.devices.records.queries import COLLECTION, live
from netautod.network.devices.records.vouched import VOUCHED
from netautod.store.client import Database, Document
from netautod.store.expressions import literal
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

WAITS, NEWEST = f"{PROMPT}.waits", [(f"{PROMPT}.created_at", -1), ("_id", 1)]
INDEXES = (
    Index(
        collection=COLLECTION,
        keys=(("org_id", 1), *NEWEST),
        partial={"live": True, WAITS: True},
    ),
)
PIN = "host_key_fingerprint"
PLACE = ("host", "port", "jump_device_id")
FIELDS = dict.fromkeys(("name", "protocol", PIN, PROMPT, VOUCHED, *PLACE), 1)
MOST = 1000  # prompts of one answer: clients ask for all of them again and again


class HostKeyStore:
    def __init__(self, database: Database) -> None:
        self._devices = scoped(database, COLLECTION)

    async def waiting(self, org_id: OrgId) -> list[HostKeyPrompt]:
        """Return the prompts, newest first."""
        found = await self._devices.find(
            org_id, live(**{WAITS: True}), fields=FIELDS, sort=NEWEST, limit=MOST
        )
        return [_prompt(document) for document in found if _is_current(document)]

    async def of(self, org_id: OrgId, device_id: str) -> HostKeyPrompt | None:
        found = await self._devices.find_one(org_id, live(_id=device_id, **{WAITS: True}), fields=FIELDS)
        return _prompt(found) if found is not None and _is_current(found) else None

    async def get(self, org_id: OrgId, prompt_id: str) -> HostKeyPrompt | None:
        wanted = live(**{WAITS: True, f"{PROMPT}.id": prompt_id})
        found = await self._devices.find_one(org_id, wanted, fields=FIELDS)
        return _prompt(found) if found is not None and _is_current(found) else None

    async def seen(
        self, org_id: OrgId, visited: Device, key: str, *, trusted: bool, by_hand: bool, at: datetime
    ) -> None:
        """Record that the device showed that key instead of its pinned one.

        The prompt about the same key stays the same. A key that was rejected waits again only if a person has
        tried the device: background work would report it again after every rejection.
        """
        pinned = visited.host_key_fingerprint
        same = {
            "$and": [
                {"$eq": [f"${PROMPT}.fingerprint", {"$literal": key}]},
                {"$eq": [f"${PROMPT}.previous_fingerprint", {"$literal": pinned}]},
            ]
        }
        kept = {"$and": [same, {"$eq": [f"${WAITS}", True]}]}
        place = {name: getattr(visited, name) for name in PLACE}
        prompt = {
            **literal({"fingerprint": key, "previous_fingerprint": pinned, "trusted": trusted, **place}),
            "id": {"$cond": [kept, f"${PROMPT}.id", str(uuid4())]},
            "created_at": {"$cond": [kept, f"${PROMPT}.created_at", at]},
            "waits": {"$or": [{"$not": [same]}, by_hand, {"$eq": [f"${WAITS}", True]}]},
        }
        where = live(_id=visited.id, **{PIN: pinned}, **place)
        await self._devices.update(org_id, where, [{"$set": {PROMPT: prompt}}])

    async def end(self, org_id: OrgId, device: Device) -> None:
        """Delete the prompt, since the pinned key answered."""
        where = live(_id=device.id, **{PIN: device.host_key_fingerprint})
        await self._devices.update(org_id, where, {"$unset": {PROMPT: ""}})

    async def approve(self, org_id: OrgId, prompt: HostKeyPrompt, *, at: datetime) -> bool:
        """Pin the key of the prompt, while the device is where the key was seen, and vouched for."""
        where = live(
            _id=prompt.device_id,
            protocol=SSH,
            **{PIN: prompt.previous_fingerprint, VOUCHED: True},
            **{name: getattr(prompt, name) for name in PLACE},
            **{WAITS: True, f"{PROMPT}.id": prompt.id, f"{PROMPT}.trusted": True},
        )
        change = {"$set": {PIN: prompt.fingerprint, "updated_at": at}, "$unset": {PROMPT: ""}}
        return await self._devices.update(org_id, where, change)

    async def reject(self, org_id: OrgId, prompt: HostKeyPrompt) -> bool:
        where = live(_id=prompt.device_id, **{WAITS: True, f"{PROMPT}.id": prompt.id})
        return await self._devices.update(org_id, where, {"$set": {WAITS: False}})


def _is_current(document: Document) -> bool:
    """Return whether the device is still where it showed the key: what is elsewhere has shown nothing yet."""
    prompt = document[PROMPT]
    same_place = document["protocol"] == SSH and all(document[name] == prompt[name] for name in PLACE)
    return same_place and document[PIN] == prompt["previous_fingerprint"]


def _prompt(document: Document) -> HostKeyPrompt:
    prompt = document[PROMPT]
    return HostKeyPrompt(
        id=prompt["id"],
        device_id=document["_id"],
        device_name=document["name"],
        **{name: prompt[name] for name in PLACE},
        fingerprint=prompt["fingerprint"],
        previous_fingerprint=prompt["previous_fingerprint"],
        trusted=bool(prompt["trusted"] and document.get(VOUCHED)),
        created_at=prompt["created_at"],
    )
