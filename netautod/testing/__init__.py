"""Public helpers for the tests of plugins and of netautod itself: simulated network devices."""

from netautod.testing.device import Faults, LoginAttempt, SimulatedDevice
from netautod.testing.ios_config import ios_config

__all__ = ["Faults", "LoginAttempt", "SimulatedDevice", "ios_config"]
