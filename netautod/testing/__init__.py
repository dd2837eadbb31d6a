"""Public helpers for the tests of plugins: simulated network devices, runs of executors without a server."""

from netautod.testing.config_lines import check_config_lines
from netautod.testing.devices.cli_script import (
    CliScript,
    LoginStep,
    ModeChange,
    PagerScript,
    ScriptedCommand,
    read_script,
)
from netautod.testing.devices.device import SimulatedDevice
from netautod.testing.devices.ios import ios_config, ios_script
from netautod.testing.devices.polled import PolledDevice
from netautod.testing.devices.state import Faults, LoginAttempt
from netautod.testing.reading import DeviceReading, read_device
from netautod.testing.runs.context import FakeResults, FakeRunContext
from netautod.testing.runs.fakes import FakeGuardedClient, http_answer
from netautod.testing.runs.run import ExecutorRun, run_executor
from netautod.testing.runs.run_devices import RunDevice
from netautod.testing.runs.run_records import LogLine
from netautod.testing.runs.storage import MemoryStorage
from netautod.testing.services.client import ServiceAnswer, ServiceClient
from netautod.testing.services.inventory import DeviceUnderTest
from netautod.testing.services.local_server import LocalRequest, LocalServer
from netautod.testing.services.service import NotServing, ServiceUnderTest
from netautod.transport.ssh.failures import DeviceFailed

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
    "check_config_lines",
    "http_answer",
    "ios_config",
    "ios_script",
    "read_device",
    "read_script",
    "run_executor",
]
