"""The part of the composition root about discovered data: the poller, what it finds, and its service."""

from collections.abc import Mapping
from dataclasses import dataclass

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.core.clock import Clock
from netautod.core.metrics import Metrics
from netautod.core.work.pauses import Pauses
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.service import DeviceService
from netautod.network.devices.sessions.service import DeviceSessions
from netautod.network.discovery.access.target import Access
from netautod.network.discovery.changes.service import LOOK_SECONDS, ChangeObservers, Changes
from netautod.network.discovery.places.service import Places
from netautod.network.discovery.polling.poll_results import KeptFindings
from netautod.network.discovery.polling.poll_run import Visiting
from netautod.network.discovery.polling.poller import Poller
from netautod.network.discovery.polling.requests import PollRequests
from netautod.network.discovery.polling.settings import PollingSettings
from netautod.network.discovery.service import DiscoveryService
from netautod.network.discovery.topology.service import Networks
from netautod.network.discovery.visits.service import Visits
from netautod.plugin_api import Collector
from netautod.store.leases.named import NamedLeases
from netautod.store.leases.periodic import Periodic
from netautod.transport.outbound.client import GuardedClient


@dataclass(frozen=True, kw_only=True)
class DiscoveryParts:
    """`poller` is None on a node that does not poll; `telling` tells what a crash has left untold."""

    discovery: DiscoveryService
    places: Places
    poller: Poller | None
    telling: Periodic


def discovery_of(
    *,
    stores: Stores,
    clock: Clock,
    audit: AuditLog,
    metrics: Metrics,
    devices: DeviceService,
    credentials: CredentialService,
    sessions: DeviceSessions,
    collectors: Mapping[str, Collector],
    http: GuardedClient,
    leases: NamedLeases,
    pauses: Pauses,
    settings: PollingSettings,
    observers: ChangeObservers,
) -> DiscoveryParts:
    changes = Changes(
        tables=stores.discovered,
        observers=observers,
        clock=clock,
        unreachable_after=settings.unreachable_after,
    )
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
        credentials=credentials, sessions=sessions, audit=audit, http=http, verify_tls=settings.verify_tls
    )
    poller = Poller(
        polls=stores.polls,
        due=stores.due_polls,
        visiting=Visiting(
            polls=stores.polls,
            due=stores.due_polls,
            devices=devices,
            visitor=Visits(access=access, collectors=collectors, metrics=metrics),
            findings=findings,
            clock=clock,
            metrics=metrics,
            seconds=settings.device_seconds,
        ),
        leases=leases,
        pauses=pauses,
        clock=clock,
        metrics=metrics,
        # The other half of the sessions is for backups and for people, however many devices are due.
        concurrency=min(settings.concurrency, max(1, sessions.settings.concurrent_sessions // 2)),
        scan_seconds=settings.scan_seconds,
    )
    requests = PollRequests(
        polls=stores.polls,
        devices=devices,
        pauses=pauses,
        audit=audit,
        clock=clock,
        most=settings.queue,
        kick=poller.kick if settings.enabled else None,
    )
    return DiscoveryParts(
        discovery=DiscoveryService(
            devices=devices,
            reads=stores.discovered_reads,
            polls=stores.polls,
            requests=requests,
            network=Networks(reads=stores.discovered_reads, devices=devices, clock=clock),
        ),
        places=Places(reads=stores.discovered_reads, devices=devices),
        poller=poller if settings.enabled else None,
        telling=Periodic(
            changes.look,
            name="look for changes that nobody was told of",
            seconds=LOOK_SECONDS,
            at_once=True,
            lease="changes of devices",
            leases=leases,
        ),
    )
