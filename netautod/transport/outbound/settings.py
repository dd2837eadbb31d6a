"""The settings of outgoing requests."""

from dataclasses import dataclass
from typing import ClassVar

from netautod.core.net.networks import cover_everything, overlapping
from netautod.core.settings.field import check_networks, setting
from netautod.core.settings.risks import RiskRule
from netautod.transport.outbound.addresses import METADATA


@dataclass(frozen=True, kw_only=True)
class OutboundSettings:
    RISKS: ClassVar[tuple[RiskRule["OutboundSettings"], ...]] = (
        RiskRule(
            name="outbound-all",
            cause="`outbound.allow` takes in every address",
            text="a user who may name an address can talk to the services of this machine and of its cloud",
            found=lambda one: (
                ["outbound.allow takes in every address"] if cover_everything(one.allow) else ()
            ),
            refused=True,
        ),
        RiskRule(
            name="outbound-metadata",
            cause="`outbound.allow` takes in the metadata service of a cloud",
            text="a user who may name an address can read this machine's credentials in the cloud",
            found=lambda one: [f"outbound.allow: {text}" for text in overlapping(one.allow, METADATA)],
        ),
    )

    allow: tuple[str, ...] = setting(
        (), "Addresses or networks that outgoing requests and devices may have although they are local."
    )

    def check(self) -> None:
        check_networks("outbound.allow", self.allow)
