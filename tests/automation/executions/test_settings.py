"""The bounds and the defaults of the settings of schedules and runs."""

from pathlib import Path
from typing import Any

import pytest

from netautod.automation.executions.settings import ExecutionSettings, SchedulerSettings
from netautod.core.settings.field import SettingsError
from netautod.core.settings.reader import Reader
from netautod.core.work.deadlines import LEASE_SECONDS

SECTIONS: dict[str, Any] = {"scheduler": SchedulerSettings, "executions": ExecutionSettings}
LEASE = {"heartbeat_seconds": 0.1, "abandon_seconds": 0.2, "lease_seconds": 0.3}


def read(folder: Path, section: str, values: dict[str, float]) -> Any:
    file = folder / "netautod.toml"
    file.write_text("\n".join([f"[{section}]", *(f"{key} = {value}" for key, value in values.items())]))
    return Reader(file=file, environment={}, flags={}).section(section, SECTIONS[section])


@pytest.mark.parametrize(
    ("section", "key", "taken", "refused"),
    [
        ("scheduler", "scan_seconds", 0.05, 0.049),
        ("scheduler", "catch_up_seconds", 0, -0.1),
        ("scheduler", "batch", 1, 0),
        ("scheduler", "batch", 10000, 10001),
        ("executions", "slots", 1, 0),
        ("executions", "reap_grace_seconds", 0, -0.1),
        ("executions", "approval_hours", 0, -0.1),
        ("executions", "log_lines", 1, 0),
        ("executions", "log_bytes", 1024, 1023),
        ("executions", "cancel_grace_seconds", 0, -0.1),
    ],
)
def test_bounds(tmp_path: Path, section: str, key: str, taken: float, refused: float) -> None:
    assert getattr(read(tmp_path, section, {key: taken}), key) == taken
    with pytest.raises(SettingsError, match=f"{section}.{key}"):
        read(tmp_path, section, {key: refused})


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        pytest.param("heartbeat_seconds", 0.09, "executions.heartbeat_seconds", id="too small"),
        pytest.param("heartbeat_seconds", 0.2, "must hold", id="a heartbeat as rare as the abandoning"),
        pytest.param("abandon_seconds", 0.19, "executions.abandon_seconds", id="abandoned too soon"),
        pytest.param("abandon_seconds", 0.3, "must hold", id="abandoned when the lease is over"),
        pytest.param("lease_seconds", 0.29, "executions.lease_seconds", id="too short a lease"),
    ],
)
def test_a_lease_outlasts_the_abandoning_and_that_the_heartbeat(
    tmp_path: Path, key: str, value: float, text: str
) -> None:
    read(tmp_path, "executions", LEASE).check()
    with pytest.raises(SettingsError, match=text):
        read(tmp_path, "executions", {**LEASE, key: value}).check()


def test_defaults() -> None:
    """Check that an installation without a settings file has the values that the manual gives."""
    scheduler, runs = SchedulerSettings(), ExecutionSettings()
    assert (scheduler.scan_seconds, scheduler.catch_up_seconds, scheduler.batch) == (1.0, 3600.0, 1000)
    assert (runs.slots, runs.heartbeat_seconds, runs.abandon_seconds, runs.lease_seconds) == (20, 3, 20, 30)
    assert (runs.reap_grace_seconds, runs.cancel_grace_seconds, runs.approval_hours) == (5.0, 5.0, 24.0)
    assert (runs.log_lines, runs.log_bytes) == (10_000, 4_194_304)
    runs.check()


def test_an_election_passes_before_a_node_abandons_its_runs() -> None:
    """Check a replica set with MongoDB's defaults whose primary hangs right before a heartbeat."""
    runs = ExecutionSettings()
    # electionTimeoutMillis, and what a member adds at random (replElectionTimeoutOffsetLimitFraction).
    election = 10 * 1.15
    tries_again = LEASE_SECONDS + runs.heartbeat_seconds / 10
    assert runs.heartbeat_seconds + election + tries_again < runs.abandon_seconds
