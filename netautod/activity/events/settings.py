"""The settings of event streams."""

from dataclasses import dataclass

from netautod.core.settings.field import setting


@dataclass(frozen=True, kw_only=True)
class EventSettings:
    listeners: int = setting(
        1000, "Listeners at GET /api/events of a process; further ones are answered 503.", low=0, high=100_000
    )
    change_streams: bool = setting(
        True, "Follow the database by its change streams, where it has them; false: look every second."
    )
