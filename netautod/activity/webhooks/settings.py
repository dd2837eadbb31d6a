"""The settings of webhooks of organizations; the section `[webhook]` is that of the plugin."""

from dataclasses import dataclass

from netautod.core.settings.field import setting


@dataclass(frozen=True, kw_only=True)
class WebhooksSettings:
    timeout_seconds: float = setting(10.0, "Seconds for a receiver to answer.", low=0.1, high=30)
    retry_seconds: float = setting(
        1.0, "Pause before the second try of a delivery, doubled with each further one.", low=0.01, high=3600
    )
    longest_retry_seconds: float = setting(
        3600.0,
        "The longest pause between two tries, and the longest that a receiver can ask for by Retry-After.",
        low=0.01,
        high=21_600,
    )
    expire_hours: float = setting(
        24.0, "A delivery that was not accepted for so many hours is given up.", low=0.001, high=168
    )
    concurrency: int = setting(8, "Requests to one receiver at a time.", low=1, high=100)
    queue: int = setting(
        100_000, "Deliveries that wait for one webhook; of more the oldest are given up.", low=1
    )
