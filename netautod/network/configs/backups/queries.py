"""The state of backups in the documents of devices: its fields, its indexes, and what filters and sorts mean.

The fields stand in one sub-document: `at` (the end of the last capture), `state`, `error` and `kind` of it,
`success_at`, `fresh_at` (the last success, before the first one the creation), and what the look for stale
backups notes (stale_store.py).

An index of names ends with the fields that filters look at, so that what does not match is seen from the keys
alone, and no document is read but those of the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from netautod.activity.webhooks.outbox.pending import pending_index
from netautod.network.configs.backups.models import FAILED, STALE, STATUSES, BackupFilter, Sorting
from netautod.network.devices.models import DeviceFilter
from netautod.network.devices.records.queries import COLLECTION, LIVE, SEARCH, best_index, order, where
from netautod.store.client import Document, Sort
from netautod.store.indexes import Index

AT, STATE, ERROR, KIND = "backup.at", "backup.state", "backup.error", "backup.kind"
SUCCESS_AT, FRESH_AT = "backup.success_at", "backup.fresh_at"
# When staleness was reported, and its event until it is delivered to the webhooks that want it.
EVENT = "owed"
REPORTED_AT, UNDELIVERED, UNDELIVERED_AT = "backup.stale_at", f"backup.{EVENT}", f"backup.{EVENT}.at"


def _of_organization(*keys: str) -> Index:
    ascending = tuple((key, 1) for key in ("org_id", "live", *keys))
    return Index(collection=COLLECTION, keys=ascending, partial=LIVE)


BY_STATE = _of_organization(STATE, SEARCH, KIND, FRESH_AT)
BY_TIME = _of_organization(AT, SEARCH, STATE, KIND, FRESH_AT)
# Also what is counted by type: every key of an organization tells all that such counts ask for.
BY_AGE = _of_organization(FRESH_AT, STATE, KIND, "device_type")
INDEXES = (
    BY_STATE,
    BY_TIME,
    BY_AGE,
    # The look for stale backups, in all organizations.
    Index(collection=COLLECTION, keys=((REPORTED_AT, 1), (FRESH_AT, 1)), partial=LIVE),
    pending_index(COLLECTION, UNDELIVERED_AT),
)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A query: what it matches, in which order, and through which index (None: the server chooses)."""

    where: Document
    sort: Sort
    index: str | None


def found_by(
    narrowed: DeviceFilter, backups: BackupFilter, sorting: Sorting, *, now: datetime, stale_hours: float
) -> Found:
    """Return the query of a list. `stale_hours` 0: nothing is stale."""
    conditions = _conditions(backups, now=now, stale_hours=stale_hours)
    wanted = where(narrowed)
    if not conditions and sorting == "name":
        return Found(where=wanted, sort=order(narrowed), index=best_index(narrowed))
    # What narrows devices has indexes of its own, each by name; but for a search, which the keys answer.
    others = bool(wanted.keys() - LIVE.keys() - {SEARCH})
    name = "name" if others else SEARCH
    if sorting == "last_backup_at":
        sort, index = [(AT, 1), (name, 1)], BY_TIME
    else:
        if not others:
            # The states by themselves: the server merges the names of each instead of sorting all.
            conditions.setdefault(STATE, {"$in": list(STATUSES)})
        sort, index = [(name, 1)] if sorting == "name" else [(STATE, 1), (name, 1)], BY_STATE
    return Found(where={**wanted, **conditions}, sort=sort, index=None if others else index.name)


def _conditions(backups: BackupFilter, *, now: datetime, stale_hours: float) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    moments = []
    if backups.older_than_hours is not None:
        moments.append(now - timedelta(hours=backups.older_than_hours))
    if backups.status == STALE:
        moments.append(stale_since(now, stale_hours))
    elif backups.status is not None:
        wanted[STATE] = backups.status
    if backups.error_kind is not None:
        # Nothing else has a kind: so said, only the failed ones are looked through.
        failed = {STATE: FAILED, KIND: backups.error_kind}
        wanted = {**failed, **wanted}
    if moments:
        wanted[FRESH_AT] = {"$lt": min(moments)}
    return wanted


def stale_since(now: datetime, stale_hours: float) -> datetime:
    """Return the moment before which a capture is stale."""
    return now - timedelta(hours=stale_hours) if stale_hours else datetime.min.replace(tzinfo=now.tzinfo)


def keys_alone(narrowed: DeviceFilter) -> bool:
    """Return whether BY_AGE tells which devices the filter matches; by a site fewer have to be read."""
    return not (_named(narrowed) - {"device_type"})


def narrows(narrowed: DeviceFilter) -> bool:
    return bool(_named(narrowed))


def _named(narrowed: DeviceFilter) -> set[str]:
    return set(where(narrowed).keys() - LIVE.keys())


def facts_fields() -> Mapping[str, int]:
    """Return the fields that BackupFacts are made of."""
    return dict.fromkeys((AT, STATE, ERROR, KIND, SUCCESS_AT), 1)
