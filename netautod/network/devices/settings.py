"""The settings of sessions on devices."""

from dataclasses import dataclass
from typing import ClassVar

from netautod.core.settings.field import SettingsError, setting
from netautod.core.settings.risks import RiskRule


@dataclass(frozen=True, kw_only=True)
class DeviceSettings:
    RISKS: ClassVar[tuple[RiskRule["DeviceSettings"], ...]] = (
        RiskRule(
            name="telnet",
            cause="`devices.allow_telnet`: passwords and configurations of devices in the clear",
            text="the passwords and configurations of devices may cross the network in the clear",
            found=lambda section: ["devices.allow_telnet"] if section.allow_telnet else [],
        ),
    )

    concurrent_sessions: int = setting(100, "Device sessions that one node holds at a time.", low=1)
    sessions_per_site: int = setting(
        0, "Sessions of bulk work that one node holds at one site at a time; 0: no limit.", low=0
    )
    allow_telnet: bool = setting(
        False, "Whether devices may be reached by telnet, which encrypts nothing: protocol = telnet."
    )
    connect_seconds: float = setting(
        45.0, "Seconds for a device to accept the login; its prompt may take 10 more.", low=0.1
    )
    command_seconds: float = setting(60.0, "Seconds for a device to answer one command.", low=0.1)
    linux_capture: tuple[str, ...] = setting(
        (),
        "Files (/...) and commands that a Linux host is read by, in place of those of the platform linux; "
        "one behind a - may fail.",
    )
    max_config_bytes: int = setting(8 * 1024 * 1024, "Largest config read from a device.", low=1024)

    def check(self) -> None:
        for entry in self.linux_capture:
            if not entry.removeprefix("-").strip() or not entry.isprintable():
                raise SettingsError(
                    f"devices.linux_capture: {entry!r} is not one line with a file or a command"
                )
