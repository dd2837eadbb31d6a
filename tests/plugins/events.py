"""Events as the product tells them to plugins."""

from datetime import UTC, datetime

from netautod.plugin_api import (
    BackupStale,
    ConfigChanged,
    CredentialSuspended,
    DeviceChanged,
    FinishedExecution,
)

NOON = datetime(2026, 11, 21, 12, 0, 0, 7000, tzinfo=UTC)


def ended(number: int = 0, *, state: str = "completed") -> FinishedExecution:
    return FinishedExecution(
        id=f"e{number}",
        org_id="o",
        task_id="t",
        task_name="nightly",
        task_type="backup",
        state=state,
        error_message=None,
        recovered=True,
    )


CHANGED = ConfigChanged(
    org_id="o",
    device_id="d",
    device_name="Küche",
    version=2,
    previous_version=1,
    config_hash="h",
    execution_id=None,
)
STALE = BackupStale(org_id="o", device_id="d", device_name="sw1", last_success_at=NOON, hours=48.0)
SUSPENDED = CredentialSuspended(
    org_id="o",
    device_id="d",
    device_name="sw1",
    credential_id="c",
    credential_name="default",
    failures=3,
    until=NOON,
)


def changed(kind: str) -> DeviceChanged:
    return DeviceChanged(
        id="event-1",
        org_id="o",
        device_id="d",
        device_name="sw1",
        kind=kind,
        at=NOON,
        interface="Ethernet1",
    )
