"""The settings of the due scan and of the runs."""

from dataclasses import dataclass

from netautod.core.settings.field import SettingsError, setting


@dataclass(frozen=True, kw_only=True)
class SchedulerSettings:
    scan_seconds: float = setting(1.0, "Seconds between two scans for due tasks.", low=0.05)
    catch_up_seconds: float = setting(3600.0, "A missed run is made up for if younger than this.", low=0)
    batch: int = setting(1000, "Due tasks handled in one round trip.", low=1, high=10000)


@dataclass(frozen=True, kw_only=True)
class ExecutionSettings:
    slots: int = setting(20, "Executions that one node runs at a time.", low=1)
    lease_seconds: float = setting(30.0, "A run belongs to its node this long without a heartbeat.", low=0.3)
    heartbeat_seconds: float = setting(3.0, "Seconds between two heartbeats.", low=0.1)
    abandon_seconds: float = setting(
        20.0, "A node without an acknowledged heartbeat aborts its runs.", low=0.2
    )
    reap_grace_seconds: float = setting(
        5.0, "A dead node's run is taken over this long after its lease.", low=0
    )
    approval_hours: float = setting(24.0, "A parked run waits this long for its approval.", low=0)
    log_lines: int = setting(10_000, "Log lines kept per execution at most.", low=1)
    log_bytes: int = setting(4 * 1024 * 1024, "Bytes of log kept per execution at most.", low=1024)
    cancel_grace_seconds: float = setting(5.0, "A cancelled executor has this long to clean up.", low=0)

    def check(self) -> None:
        if not self.heartbeat_seconds < self.abandon_seconds < self.lease_seconds:
            raise SettingsError("executions: heartbeat_seconds < abandon_seconds < lease_seconds must hold")
