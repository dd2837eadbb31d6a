"""The records that a plugin keeps in the service's database: JSON values by key, each organization apart.

They are sealed with the organization's key, as all secrets are; keys stay in clear, so that they can be
listed. Backups have them, and they go with their organization. What a plugin has stored stays when the plugin
is uninstalled, until `netautod plugins purge NAME`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from netautod.core.errors import NetautodError, Unavailable

MAX_KEY = 200
MAX_LISTED = 1000


class StorageRefused(NetautodError):
    """Raised when nothing was written; the text says what is wrong with the organization, the key or the
    value.
    """


class StorageFull(StorageRefused):
    """Raised when it would be more than the settings `plugins.storage_...` allow a plugin for one
    organization.
    """


@dataclass(frozen=True, kw_only=True)
class StoredValue:
    """A stored value. `revision` changes with each write of the key, also after a deletion in between."""

    key: str
    value: Any = field(repr=False)
    revision: str
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class StorageUsage:
    """The usage of a plugin in an organization: at least what there is, at most what was under way.

    `bytes` are those of keys and values as JSON in UTF-8.
    """

    records: int
    bytes: int


class PluginStorage(Protocol):
    """The storage of a plugin. All but `usage` are one record or one page; every call names the organization
    first.

    Keys are 1 to 200 characters of `A-Z a-z 0-9 . _ : / @ + = -`. Values are what JSON has, without NaN.
    Raises StorageRefused for what no call may hold, Unavailable while the database does not answer, and
    UnknownOutcome (an Unavailable) for a write that was not acknowledged: read again.
    """

    async def get(self, org_id: str, key: str) -> StoredValue | None:
        """Return the value; None if there is none."""
        ...

    async def put(self, org_id: str, key: str, value: Any) -> StoredValue:
        """Write the value, whatever was there; the last of two at once stays. Raises StorageFull."""
        ...

    async def compare_and_set(
        self, org_id: str, key: str, value: Any, *, revision: str | None
    ) -> StoredValue | None:
        """Write the value only over this `revision` (None: only if there is none); None: another value is
        there.

        Raises StorageFull.
        """
        ...

    async def delete(self, org_id: str, key: str, *, revision: str | None = None) -> bool:
        """Delete the value, with a `revision` only that one. False if it was not there."""
        ...

    async def list(
        self, org_id: str, *, prefix: str = "", after: str = "", limit: int = 100
    ) -> Sequence[StoredValue]:
        """Return up to `limit` (1 to 1,000) values in the order of the keys' characters.

        Their keys begin with `prefix` and come after the key `after`. A page may end early, at 4 MiB: only an
        empty page is behind the last value.
        """
        ...

    async def usage(self, org_id: str) -> StorageUsage:
        """Return what counts against the quotas."""
        ...


class NoStorage:
    """The storage where no database is at hand, such as in `netautod plugins`: every call raises."""

    async def get(self, org_id: str, key: str) -> StoredValue | None:
        raise _without_database()

    async def put(self, org_id: str, key: str, value: Any) -> StoredValue:
        raise _without_database()

    async def compare_and_set(
        self, org_id: str, key: str, value: Any, *, revision: str | None
    ) -> StoredValue | None:
        raise _without_database()

    async def delete(self, org_id: str, key: str, *, revision: str | None = None) -> bool:
        raise _without_database()

    async def list(
        self, org_id: str, *, prefix: str = "", after: str = "", limit: int = 100
    ) -> Sequence[StoredValue]:
        raise _without_database()

    async def usage(self, org_id: str) -> StorageUsage:
        raise _without_database()


def _without_database() -> Unavailable:
    return Unavailable("This command lends no storage to plugins")
