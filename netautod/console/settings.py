"""The settings of the web console."""

from dataclasses import dataclass

from netautod.core.settings.field import setting


@dataclass(frozen=True, kw_only=True)
class ConsoleSettings:
    enabled: bool = setting(True, "Serve the web console at /.")
    idle_minutes: float = setting(
        480.0, "A login at the console ends after so many minutes without a request by a person.", low=1
    )
