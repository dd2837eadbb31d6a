"""The storage of a plugin without a database, for tests: `PluginHost(..., storage=MemoryStorage())`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from netautod.automation.system.plugin_storage.models import require_key, require_page, written
from netautod.core.clock import Clock, SystemClock
from netautod.plugin_api.storage import StorageFull, StorageUsage, StoredValue


@dataclass(kw_only=True)
class MemoryStorage:
    """A `PluginStorage` with the rules of the service's own; every organization exists in it.

    The quotas are those of the settings by default. `rows` are values as JSON, by organization and key.
    """

    records: int = 10_000
    bytes: int = 64 << 20
    value_bytes: int = 256 << 10
    clock: Clock = field(default_factory=SystemClock)
    rows: dict[tuple[str, str], tuple[str, StoredValue]] = field(default_factory=dict)

    async def get(self, org_id: str, key: str) -> StoredValue | None:
        require_key(key)
        found = self.rows.get((org_id, key))
        return None if found is None else _opened(*found)

    async def put(self, org_id: str, key: str, value: Any) -> StoredValue:
        require_key(key)
        text = written(value).decode()
        self._require_room(org_id, key, len(text.encode()))
        made = StoredValue(key=key, value=value, revision=str(uuid4()), updated_at=self.clock.now())
        self.rows[org_id, key] = (text, made)
        return made

    async def compare_and_set(
        self, org_id: str, key: str, value: Any, *, revision: str | None
    ) -> StoredValue | None:
        require_key(key)
        written(value)
        found = await self.get(org_id, key)
        if revision != (None if found is None else found.revision):
            return None
        return await self.put(org_id, key, value)

    async def delete(self, org_id: str, key: str, *, revision: str | None = None) -> bool:
        found = await self.get(org_id, key)
        if found is None or revision not in (None, found.revision):
            return False
        del self.rows[org_id, key]
        return True

    async def list(
        self, org_id: str, *, prefix: str = "", after: str = "", limit: int = 100
    ) -> Sequence[StoredValue]:
        require_page(prefix, after, limit)
        mine = sorted(key for owner, key in self.rows if owner == org_id)
        keys = [key for key in mine if key.startswith(prefix) and key > after]
        return [_opened(*self.rows[org_id, key]) for key in keys[:limit]]

    async def usage(self, org_id: str) -> StorageUsage:
        sizes = [len(key) + len(row[0].encode()) for (org, key), row in self.rows.items() if org == org_id]
        return StorageUsage(records=len(sizes), bytes=sum(sizes))

    def _require_room(self, org_id: str, key: str, size: int) -> None:
        if size > self.value_bytes:
            raise StorageFull(f"{key}: the value is {size} bytes long, more than {self.value_bytes}")
        others = [
            len(name) + len(row[0].encode())
            for (org, name), row in self.rows.items()
            if org == org_id and name != key
        ]
        new = (org_id, key) not in self.rows
        if (new and len(others) >= self.records) or sum(others) + len(key) + size > self.bytes:
            raise StorageFull(
                f"A plugin may store {self.records} records and {self.bytes} bytes for an organization"
            )


def _opened(text: str, stored: StoredValue) -> StoredValue:
    return StoredValue(
        key=stored.key, value=json.loads(text), revision=stored.revision, updated_at=stored.updated_at
    )
