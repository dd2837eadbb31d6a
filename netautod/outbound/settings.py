"""The settings of outgoing requests."""

from dataclasses import dataclass

from netautod.core.settings.field import check_networks, setting


@dataclass(frozen=True, kw_only=True)
class OutboundSettings:
    allow: tuple[str, ...] = setting(
        (), "Addresses or networks that outgoing requests may reach although they are local."
    )

    def check(self) -> None:
        check_networks("outbound.allow", self.allow)
