"""The section `[webhook]` of the settings."""

from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from netautod.plugin_api import (
    AddressRefused,
    RiskRule,
    SettingsError,
    is_this_machine,
    origin_of,
    setting,
)

EVENTS = ("execution_finished", "config_changed", "backup_stale", "credential_suspended")
CHANGES = ("neighbor_lost", "device_unreachable", "device_reachable")
KNOWN = (*EVENTS, *CHANGES, "interface_down")
SHORTEST_SECRET = 16


@dataclass(frozen=True, kw_only=True)
class WebhookSettings:
    """The settings of the plugin.

    A URL may hold a secret of the receiver: it is in no repr and no log.
    """

    RISKS: ClassVar[tuple[RiskRule["WebhookSettings"], ...]] = (
        RiskRule(
            name="webhook-in-clear",
            cause="an `http://` address of another machine in `webhook.urls`",
            text="events, and what is secret in the URL, cross the network in clear",
            # The server alone: the rest of the URL may be secret.
            found=lambda one: [f"webhook.urls: {host}" for host in map(_host_in_clear, one.urls) if host],
        ),
    )

    urls: tuple[str, ...] = setting(
        (), "Where events of all organizations are posted to; empty: nowhere.", secret=True
    )
    secret: str = setting(
        "", f"What deliveries are signed with, {SHORTEST_SECRET} characters at least.", secret=True
    )
    events: tuple[str, ...] = setting(
        (*EVENTS, *CHANGES),
        "Events that are posted; interface_down is one more, of each port that goes down.",
    )
    ca_file: str = setting("", "PEM file of the only authorities to trust; empty: the system's.")
    timeout_seconds: float = setting(10.0, "Seconds for a receiver to answer.", low=0.1, high=60)
    tries: int = setting(8, "Times that a delivery is tried.", low=1, high=20)
    retry_seconds: float = setting(
        1.0, "Pause before the second try, doubled with each further one up to 300.", low=0.01, high=300
    )
    queue: int = setting(1000, "Events that wait for one receiver; it misses more.", low=1, high=100_000)
    drain_seconds: float = setting(5.0, "Seconds to deliver what waits at a stop.", low=0, high=20)

    def check(self) -> None:
        """Raise SettingsError for settings that cannot work. Without urls the section may be incomplete."""
        for event in self.events:
            if event not in KNOWN:
                raise SettingsError(f"webhook.events: {event!r} is none of {', '.join(KNOWN)}")
        for url in self.urls:
            try:
                origin_of(url)
            except AddressRefused as error:
                raise SettingsError(f"webhook.urls: {error.text}") from error
        if len(set(self.urls)) < len(self.urls):
            raise SettingsError("webhook.urls lists a URL twice")
        if self.urls and len(self.secret) < SHORTEST_SECRET:
            raise SettingsError(f"webhook.secret must have {SHORTEST_SECRET} characters at least")


def _host_in_clear(url: str) -> str:
    """Return the server of a URL without TLS to another machine; else nothing."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return host if parts.scheme == "http" and not is_this_machine(host) else ""
