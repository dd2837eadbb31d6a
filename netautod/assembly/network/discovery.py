"""The discovered data of devices: the poller, the findings of its polls, and their service."""

from dataclasses import dataclass

from netautod.assembly.base import Base
from netautod.assembly.network.device_services import DeviceServices
from netautod.http.routing.services import Services
from netautod.network.discovery.access.target import Access
from netautod.network.discovery.changes.service import LOOK_SECONDS, Changes
from netautod.network.discovery.places.service import Places
from netautod.network.discovery.polling.poll_results import KeptFindings
from netautod.network.discovery.polling.poll_run import Visiting
from netautod.network.discovery.polling.poller import Poller
from netautod.network.discovery.polling.requests import PollRequests
from netautod.network.discovery.service import DiscoveryService
from netautod.network.discovery.topology.service import Networks
from netautod.network.discovery.visits.service import Visits
from netautod.store.leases.periodic import Periodic


@dataclass(frozen=True, kw_only=True)
class Discovery(Services):
    """The services of discovered data.

    `poller` is None on a node that does not poll; `notices` reports changes that a crash left unreported.
    """

    service: DiscoveryService
    places: Places
    poller: Poller | None
    notices: Periodic


def build_discovery(base: Base, services: DeviceServices) -> Discovery:
    stores, devices, reads = base.stores, services.devices.devices, base.stores.discovered_reads
    changes = Changes(
        tables=stores.discovered,
        observers=base.observers,
        clock=base.clock,
        unreachable_after=base.settings.polling.unreachable_after,
    )
    poller = _build_poller(base, services, changes)
    enabled = base.settings.polling.enabled
    requests = PollRequests(
        polls=stores.polls,
        devices=devices,
        pauses=base.pauses,
        audit=base.audit,
        clock=base.clock,
        most=base.settings.polling.queue,
        kick=poller.kick if enabled else None,
    )
    return Discovery(
        service=DiscoveryService(
            devices=devices,
            reads=reads,
            polls=stores.polls,
            requests=requests,
            network=Networks(reads=reads, devices=devices, clock=base.clock),
        ),
        places=Places(reads=reads, devices=devices),
        poller=poller if enabled else None,
        notices=Periodic(
            changes.look,
            name="report of unreported changes",
            seconds=LOOK_SECONDS,
            at_once=True,
            lease="changes of devices",
            leases=base.leases,
        ),
    )


def _build_poller(base: Base, services: DeviceServices, changes: Changes) -> Poller:
    stores, clock, metrics, settings = base.stores, base.clock, base.metrics, base.settings.polling
    devices, sessions = services.devices.devices, services.operations.sessions
    findings = KeptFindings(
        tables=stores.discovered,
        reads=stores.discovered_reads,
        devices=devices,
        knows=sessions.platforms.knows,
        changes=changes,
    )
    for forget in (stores.polls.forget_device, findings.forget):
        devices.deleted.register(forget)
    access = Access(
        credentials=services.devices.credentials,
        sessions=sessions,
        audit=base.audit,
        http=base.http,
        verify_tls=settings.verify_tls,
    )
    return Poller(
        polls=stores.polls,
        due=stores.due_polls,
        visiting=Visiting(
            polls=stores.polls,
            due=stores.due_polls,
            devices=devices,
            visitor=Visits(access=access, collectors=services.collectors, metrics=metrics),
            findings=findings,
            clock=clock,
            metrics=metrics,
            seconds=settings.device_seconds,
        ),
        leases=base.leases,
        pauses=base.pauses,
        clock=clock,
        metrics=metrics,
        # The other half of the sessions is for backups and for people, however many devices are due.
        concurrency=min(settings.concurrency, max(1, sessions.settings.concurrent_sessions // 2)),
        scan_seconds=settings.scan_seconds,
    )
