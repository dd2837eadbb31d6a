"""The service of discovered data for tests, with or without a poller to wake."""

from collections.abc import Callable

from netautod.core.work.pauses import FixedPauses, Pauses
from netautod.network.devices.service import DeviceService
from netautod.network.discovery.polling.requests import PollRequests
from netautod.network.discovery.service import DiscoveryService
from netautod.network.discovery.topology.service import Networks
from tests.support.installation import Installation


def discovery_of(
    installation: Installation,
    devices: DeviceService,
    *,
    kick: Callable[[], None] | None = None,
    pauses: Pauses = FixedPauses(),  # noqa: B008  # it is frozen
    most: int = 1000,
) -> DiscoveryService:
    """Without `kick` nobody polls."""
    stores = installation.stores
    return DiscoveryService(
        devices=devices,
        reads=stores.discovered_reads,
        polls=stores.polls,
        requests=PollRequests(
            polls=stores.polls,
            devices=devices,
            pauses=pauses,
            audit=installation.audit,
            clock=installation.clock,
            most=most,
            kick=kick,
        ),
        network=Networks(reads=stores.discovered_reads, devices=devices, clock=installation.clock),
    )
