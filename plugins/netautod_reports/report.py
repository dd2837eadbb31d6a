"""A report on the backups of an organization: one row for each device, and the number of devices by state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from netautod.plugin_api import BackupState, UserServices, csv_text

GOOD, STALE, FAILED, NEVER = "good", "stale", "failed", "never"
STATUSES = (GOOD, STALE, FAILED, NEVER)
COLUMNS = (
    "device",
    "host",
    "device_type",
    "site",
    "status",
    "last_backup_at",
    "last_success_at",
    "version",
    "changed_at",
    "error",
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """The state of one device.

    `status`: `failed` if the last capture failed; `stale` if nothing failed but the last good one is old.
    """

    device_id: str
    device: str
    host: str
    device_type: str
    site: str | None
    status: str
    last_backup_at: str | None
    last_success_at: str | None
    version: int | None
    changed_at: str | None
    error: str | None

    def to_json(self) -> dict[str, Any]:
        return {"device_id": self.device_id, **{name: getattr(self, name) for name in COLUMNS}}


@dataclass(frozen=True, kw_only=True)
class Report:
    """A report.

    `rows` are sorted by the name of the device and have the requested `status`; `counts` are of all devices.
    """

    generated_at: datetime
    rows: Sequence[Row]
    counts: Mapping[str, int]

    @property
    def all_good(self) -> bool:
        return not any(self.counts[status] for status in (STALE, FAILED, NEVER))

    def to_csv(self) -> str:
        """Return the rows as CSV (RFC 4180), with a header."""
        return csv_text([COLUMNS, *([getattr(row, name) for name in COLUMNS] for row in self.rows)])


async def report_on(
    services: UserServices,
    *,
    stale_hours: float,
    site: str | None = None,
    status: str | None = None,
    now: datetime | None = None,
) -> Report:
    """Build the report of an organization. Raises Forbidden without devices.access."""
    now = now or datetime.now(UTC)
    stale_before = now - timedelta(hours=stale_hours)
    counts = dict.fromkeys(STATUSES, 0)
    rows: list[Row] = []
    async for state in services.backups(site=site):
        row = _row(state, stale_before)
        counts[row.status] += 1
        if status in (None, row.status):
            rows.append(row)
    rows.sort(key=lambda row: (row.device, row.device_id))
    return Report(generated_at=now, rows=rows, counts=counts)


def text(moment: datetime | None) -> str | None:
    """Return ISO 8601 in UTC with milliseconds, as the API writes it."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _row(state: BackupState, stale_before: datetime) -> Row:
    device = state.device
    return Row(
        device_id=device.id,
        device=device.name,
        host=device.host,
        device_type=device.device_type,
        site=device.site,
        status=_status(state, stale_before),
        last_backup_at=text(state.last_backup_at),
        last_success_at=text(state.last_success_at),
        version=state.version,
        changed_at=text(state.changed_at),
        error=state.error,
    )


def _status(state: BackupState, stale_before: datetime) -> str:
    if state.status != "success":
        return state.status
    return GOOD if state.last_success_at is not None and state.last_success_at >= stale_before else STALE
