"""The events that observers get, as frozen values.

They hold ids, names and numbers: no config text, no secret.
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class FinishedExecution:
    """The end of an execution. `state` is completed, failed, timeout or cancelled; retries are not reported,
    only the end.

    `task_id` is None for one that belongs to no task, such as a bulk pull. `recovered`: it completed, and the
    task's last finished execution before it had failed or timed out.
    """

    id: str
    org_id: str
    task_id: str | None
    task_name: str
    task_type: str
    state: str
    error_message: str | None
    recovered: bool = False


@dataclass(frozen=True, kw_only=True)
class ConfigChanged:
    """A new version has been stored; `previous_version` is None for the first one of a device.

    `execution_id` is None for a pull that no task made. `config_hash` is that of the redacted text.
    """

    org_id: str
    device_id: str
    device_name: str
    version: int
    previous_version: int | None
    config_hash: str
    execution_id: str | None


@dataclass(frozen=True, kw_only=True)
class BackupStale:
    """The device has had no good capture for `hours`, reported once until the next good one.

    `last_success_at` is None for a device that never had one: it counts from its creation.
    """

    org_id: str
    device_id: str
    device_name: str
    last_success_at: datetime | None
    hours: float


@dataclass(frozen=True, kw_only=True)
class CredentialSuspended:
    """The device refused the credential for the n-th time in a row (`failures`).

    Background work does not try it there again before `until`.
    """

    org_id: str
    device_id: str
    device_name: str
    credential_id: str
    credential_name: str
    failures: int
    until: datetime


@dataclass(frozen=True, kw_only=True)
class DeviceChanged:
    """A poll has found a change of a device; reported once, after it is stored.

    `kind`: `neighbor_lost` (who was heard on `interface` is not any more), `interface_down` (it was up, and
    is not turned off), `device_unreachable` (`polling.unreachable_after` polls in a row had no answer)
    or `device_reachable` (again). `id` is that of the event: an observer that gets it twice, after a crash,
    recognizes it by that.
    """

    id: str
    org_id: str
    device_id: str
    device_name: str
    kind: str
    at: datetime
    interface: str | None = None
    neighbor_name: str | None = None
    neighbor_chassis_id: str | None = None
