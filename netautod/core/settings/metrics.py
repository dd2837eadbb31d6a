"""The settings of the metrics page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netautod.core.net.networks import is_this_machine
from netautod.core.settings.field import setting
from netautod.core.settings.risks import RiskRule


@dataclass(frozen=True, kw_only=True)
class MetricsSettings:
    RISKS: ClassVar[tuple[RiskRule["MetricsSettings"], ...]] = (
        RiskRule(
            name="metrics-on-network",
            cause="`metrics.port` with a `metrics.host` that is not this machine",
            text="anyone who reaches the port reads how much is done here and what fails; there is no login",
            found=lambda one: _on_network(one),
        ),
    )

    host: str = setting("127.0.0.1", "Address on which /metrics is served for Prometheus.")
    port: int = setting(0, "Its TCP port; 0: no metrics are served.", low=0, high=65535)


def _on_network(metrics: MetricsSettings) -> Sequence[str]:
    open_to_all = metrics.port and not is_this_machine(metrics.host)
    return [f"metrics.host: {metrics.host}"] if open_to_all else ()
