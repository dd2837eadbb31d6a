"""The settings of retention: how long records are kept; each resource deletes its own."""

from dataclasses import dataclass

from netautod.core.settings.field import setting


@dataclass(frozen=True, kw_only=True)
class RetentionSettings:
    execution_days: float = setting(90.0, "Executions older than this are deleted.", low=0)
    executions_per_task: int = setting(200, "Executions kept per task at most.", low=1)
    config_versions: int = setting(0, "Config versions kept per device at most; 0: all.", low=0)
    config_days: float = setting(
        0.0,
        "Config versions that a device has not had for so many days are deleted; 0: none.",
        low=0,
        high=36_500,
    )
    deleted_device_days: float = setting(
        90.0, "Configs and snapshots of a deleted device are kept so many days.", low=0, high=36_500
    )
    discovered_days: float = setting(
        30.0,
        "MAC and ARP entries that a device has no more are remembered so many days, with their first time.",
        low=0,
        high=36_500,
    )
    audit_days: float = setting(
        400.0, "Audit events older than this are deleted; 0: none.", low=0, high=36_500
    )
    webhook_delivery_days: float = setting(
        7.0,
        "Deliveries of webhooks are kept in the history so many days after their end.",
        low=0.01,
        high=36_500,
    )
    poll_history: int = setting(200, "Polls kept in the history per device.", low=1)
    sync_history: int = setting(200, "Synchronisations kept in the history per inventory source.", low=1)
    interval_seconds: float = setting(3600.0, "Seconds between two clean-ups, by one node.", low=1)
