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
from netautod.testing.client import ServiceAnswer, ServiceClient
from netautod.testing.context import FakeResults, FakeRunContext
from netautod.testing.device import SimulatedDevice
from netautod.testing.fakes import FakeGuardedClient, http_answer
from netautod.testing.inventory import DeviceUnderTest
from netautod.testing.ios import ios_config, ios_script
from netautod.testing.local_server import LocalRequest, LocalServer
from netautod.testing.polled import PolledDevice
from netautod.testing.reading import DeviceReading, read_device
from netautod.testing.run import ExecutorRun, run_executor
from netautod.testing.run_devices import RunDevice
from netautod.testing.run_records import LogLine
from netautod.testing.service import NotServing, ServiceUnderTest
from netautod.testing.state import Faults, LoginAttempt
from netautod.testing.storage import MemoryStorage

__all__ = [
    "CliScript",
    "DeviceFailed",
    "DeviceReading",
    "DeviceUnderTest",
    "ExecutorRun",
    "FakeGuardedClient",
    "FakeResults",
    "FakeRunContext",
    "Faults",
    "LocalRequest",
    "LocalServer",
    "LogLine",
    "LoginAttempt",
    "LoginStep",
    "MemoryStorage",
    "ModeChange",
    "NotServing",
    "PagerScript",
    "PolledDevice",
    "RunDevice",
    "ScriptedCommand",
    "ServiceAnswer",
    "ServiceClient",
    "ServiceUnderTest",
    "SimulatedDevice",
    "http_answer",
    "ios_config",
    "ios_script",
    "read_device",
    "read_script",
    "run_executor",
]
