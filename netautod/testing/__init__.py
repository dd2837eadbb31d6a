"""Public helpers for the tests of plugins: simulated network devices, runs of executors without a server."""

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
from netautod.testing.polled import PolledDevice
from netautod.testing.reading import DeviceReading, read_device
from netautod.testing.run import ExecutorRun, LogLine, run_executor
from netautod.testing.run_devices import RunDevice
from netautod.testing.state import Faults, LoginAttempt
from netautod.testing.storage import MemoryStorage

__all__ = [
    "CliScript",
    "DeviceFailed",
    "DeviceReading",
    "ExecutorRun",
    "Faults",
    "LogLine",
    "LoginAttempt",
    "LoginStep",
    "MemoryStorage",
    "ModeChange",
    "PagerScript",
    "PolledDevice",
    "RunDevice",
    "ScriptedCommand",
    "SimulatedDevice",
    "ios_config",
    "ios_script",
    "read_device",
    "read_script",
    "run_executor",
]
