"""Public helpers for the tests of plugins and of netautod itself: simulated network devices."""

from netautod.ssh.failures import DeviceFailed
from netautod.testing.cli_script import (
    CliScript,
    LoginStep,
    ModeChange,
    PagerScript,
    ScriptedCommand,
    read_script,
)
from netautod.testing.device import SimulatedDevice
from netautod.testing.ios import ios_config, ios_script
from netautod.testing.reading import DeviceReading, read_device
from netautod.testing.state import Faults, LoginAttempt

__all__ = [
    "CliScript",
    "DeviceFailed",
    "DeviceReading",
    "Faults",
    "LoginAttempt",
    "LoginStep",
    "ModeChange",
    "PagerScript",
    "ScriptedCommand",
    "SimulatedDevice",
    "ios_config",
    "ios_script",
    "read_device",
    "read_script",
]
