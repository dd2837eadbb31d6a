"""The settings of polls."""

from dataclasses import dataclass
from typing import ClassVar

from netautod.core.settings.field import setting
from netautod.core.settings.risks import RiskRule


@dataclass(frozen=True, kw_only=True)
class PollingSettings:
    RISKS: ClassVar[tuple[RiskRule["PollingSettings"], ...]] = (
        RiskRule(
            name="device-tls-unverified",
            cause="`polling.verify_tls = false`: passwords go to any host that answers for a device by HTTPS",
            text="an attacker between here and a device gets the password of its HTTPS interface",
            found=lambda section: [] if section.verify_tls else ["polling.verify_tls"],
        ),
    )

    enabled: bool = setting(True, "Whether this node polls devices, and takes requests for polls.")
    queue: int = setting(1000, "Requested polls that may wait; more are answered 503.", low=1)
    concurrency: int = setting(
        20, "Polls of one node at a time, and never more than half of devices.concurrent_sessions.", low=1
    )
    device_seconds: float = setting(120.0, "Seconds that the poll of one device may take.", low=1, high=120)
    verify_tls: bool = setting(True, "Whether HTTPS interfaces of devices have to show a good certificate.")
    unreachable_after: int = setting(
        3, "Polls in a row without an answer after which a device is reported as unreachable.", low=1
    )
    scan_seconds: float = setting(2.0, "Seconds between two looks for devices that are due.", low=0.05)
