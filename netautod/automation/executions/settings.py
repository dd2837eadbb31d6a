"""The settings of the due scan and of the runs."""

from dataclasses import dataclass

from netautod.core.settings.field import SettingsError, setting


@dataclass(frozen=True, kw_only=True)
class SchedulerSettings:
    scan_seconds: float = setting(1.0, "Seconds between two scans for due tasks.", low=0.05)
    catch_up_seconds: float = setting(
        3600.0, "Seconds that a missed run may be late and is started all the same.", low=0
    )
    batch: int = setting(1000, "Due tasks handled in one round trip.", low=1, high=10000)


@dataclass(frozen=True, kw_only=True)
class ExecutionSettings:
    slots: int = setting(20, "Executions that one node runs at a time.", low=1)
    lease_seconds: float = setting(
        30.0, "Seconds that a run belongs to its node without a heartbeat.", low=0.3
    )
    heartbeat_seconds: float = setting(3.0, "Seconds between two heartbeats.", low=0.1)
    abandon_seconds: float = setting(
        20.0, "Seconds without an acknowledged heartbeat after which a node aborts its runs.", low=0.2
    )
    reap_grace_seconds: float = setting(
        5.0, "Seconds from the end of a dead node's lease until its run is taken over.", low=0
    )
    approval_hours: float = setting(24.0, "Hours that a run waits for its approval.", low=0)
    log_lines: int = setting(10_000, "Log lines kept per execution at most.", low=1)
    log_bytes: int = setting(4 * 1024 * 1024, "Bytes of log kept per execution at most.", low=1024)
    cancel_grace_seconds: float = setting(5.0, "Seconds that a cancelled executor has to clean up.", low=0)

    def check(self) -> None:
        if not self.heartbeat_seconds < self.abandon_seconds < self.lease_seconds:
            raise SettingsError("executions: heartbeat_seconds < abandon_seconds < lease_seconds must hold")
