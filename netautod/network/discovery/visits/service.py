"""Visits one device: asks one transport after the other for what is still missing, within one time limit.

What was read before the limit, or before a transport failed, counts. A collector that goes on although it was
cancelled is left behind, and counted: it must not keep the poller from the other devices.
"""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from netautod.core.logs.lines import current
from netautod.core.logs.tracing import Span
from netautod.core.metrics import Metrics
from netautod.core.work.context import Work
from netautod.core.work.guard import LeaseLostError
from netautod.core.work.plugin_calls import no_exit
from netautod.network.devices.models import Device
from netautod.network.devices.sessions.failure_log import log_failure, visiting
from netautod.network.discovery.access.target import Access, DeviceTarget
from netautod.network.discovery.visits.order import CLI, merged, missing_from, not_served, transports_of
from netautod.network.discovery.visits.reachability import probe
from netautod.plugin_api import TABLES, Collected, Collector, Table
from netautod.transport.ssh.failures import DeviceFailed

logger = logging.getLogger(__name__)
GRACE_SECONDS = 5.0  # for a collector that was cancelled
EVERYTHING: frozenset[Table] = frozenset(TABLES)


@dataclass(frozen=True, kw_only=True)
class Visited:
    """The result of a visit. `sources`: the transport that gave each table. `reachable` is None without a
    try.

    `failures`: a sentence for each transport that could not be used, with its name in front.
    """

    collected: Collected = field(default_factory=Collected)
    sources: Mapping[Table, str] = field(default_factory=dict)
    reachable: bool | None = None
    latency_ms: float | None = None
    failures: tuple[str, ...] = ()


@dataclass(kw_only=True, eq=False)
class Visits:
    """The visits of a node. `collectors` by their transports."""

    access: Access
    collectors: Mapping[str, Collector]
    metrics: Metrics
    grace_seconds: float = GRACE_SECONDS

    def __post_init__(self) -> None:
        self._left: set[asyncio.Task[Collected]] = set()

    async def left(self) -> None:
        """Wait until no collector runs any more that was left behind."""
        await asyncio.gather(*self._left, return_exceptions=True)

    async def visit(
        self,
        work: Work,
        device: Device,
        *,
        seconds: float,
        wanted: frozenset[Table] = EVERYTHING,
        audited: set[str] | None = None,
        **details: Any,
    ) -> Visited:
        """Visit a device for `seconds` at most, and the grace. Raises nothing but cancellation and what the
        guard raises.

        `audited` and `details`: see `Access.target`.
        """
        audited_ids = set() if audited is None else audited
        target = self.access.target(work, device, audited=audited_ids, device_id=device.id, **details)
        has_agent = device.snmp_credential_id is not None or await self.access.has_agent(work.org_id)
        transports = transports_of(device, served=self.collectors, has_agent=has_agent)
        visit = _Visit(visits=self, target=target, ends=asyncio.get_running_loop().time() + seconds)
        complaint = not_served(device, self.collectors)
        visit.failures += [] if complaint is None else [complaint]
        for transport in transports:
            await visit.ask(transport, wanted)
        await visit.probe()
        return visit.result()

    async def within(
        self, collector: Collector, target: DeviceTarget, requested: frozenset[Table], seconds: float
    ) -> Collected:
        """Return what the collector gives in time; DeviceFailed, also for what it raises by mistake."""
        work, metrics, tracer = target.used.work, self.metrics, self.access.sessions.tracer
        with visiting(work, target.device_id, collector.transport, metrics=metrics, tracer=tracer) as span:
            return await self._read(_collect(collector, target, requested, span), collector, seconds)

    async def _read(
        self, work: Coroutine[Any, Any, Collected], collector: Collector, seconds: float
    ) -> Collected:
        reading = asyncio.create_task(work)
        try:
            done, _ = await asyncio.wait({reading}, timeout=max(0.0, seconds))
        except asyncio.CancelledError:
            await self._stop(reading, collector)
            raise
        if not done:
            await self._stop(reading, collector)
            raise DeviceFailed("not finished within the time of one poll", kind="timeout")
        return reading.result()

    async def _stop(self, reading: "asyncio.Task[Collected]", collector: Collector) -> None:
        reading.cancel()
        await asyncio.wait({reading}, timeout=self.grace_seconds)
        if not reading.done():
            logger.warning(
                "the collector of %s ignores its cancellation and is left behind", collector.transport
            )
            self.metrics.add("collectors_abandoned")
            self._left.add(reading)
            reading.add_done_callback(self._left.discard)
        elif not reading.cancelled():
            reading.exception()  # else asyncio complains that it was never retrieved


@dataclass(kw_only=True, eq=False)
class _Visit:
    """The state of one visit."""

    visits: Visits
    target: DeviceTarget
    ends: float
    collected: Collected = field(default_factory=Collected)
    sources: dict[Table, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    reachable: bool | None = None
    latency_ms: float | None = None

    def seconds_left(self) -> float:
        return self.ends - asyncio.get_running_loop().time()

    async def ask(self, transport: str, wanted: frozenset[Table]) -> None:
        collector = self.visits.collectors[transport]
        requested = missing_from(self.collected, wanted) & collector.tables
        if not requested - self.collected.given:
            return
        if transport == CLI and not await self._may_log_in():
            return
        try:
            given = await self.visits.within(collector, self.target, requested, self.seconds_left())
        except DeviceFailed as exc:
            # A device that is read by SNMP needs no login.
            if not (exc.kind == "credential" and self.collected.given):
                self.failures.append(f"{transport}: {exc.text}")
            return
        self.reachable = True
        before = self.collected.given
        self.collected = merged(self.collected, given, requested=requested)
        self.sources |= dict.fromkeys(self.collected.given - before, transport)
        self.latency_ms = self.latency_ms if self.latency_ms is not None else given.latency_ms

    async def _may_log_in(self) -> bool:
        """Return whether a login makes sense: at a device that is down it takes its whole time, so the port
        is tried first.
        """
        await self.probe()
        return self.reachable is not False

    async def probe(self) -> None:
        """Probe the device unless it has answered already; behind a jump device only a login tells."""
        device = self.target.device
        if self.reachable is not None or device.jump_device_id is not None:
            return
        try:
            found = await probe(device, self.target.used.reach)
        except DeviceFailed as exc:  # it may not be connected to: no connection was tried
            self._log_failure(exc)
            self.failures.append(f"{CLI}: {exc.text}")
            return
        self.reachable, self.latency_ms = found.failed is None, found.latency_ms
        if found.failed is not None:
            self._log_failure(found.failed)
            self.failures.append(f"{device.protocol}: {found.failed.text}")

    def _log_failure(self, failed: DeviceFailed) -> None:
        target, metrics = self.target, self.visits.metrics
        log_failure(failed, work=target.used.work, device_id=target.device_id, transport=CLI, metrics=metrics)

    def result(self) -> Visited:
        return Visited(
            collected=self.collected,
            sources=self.sources,
            reachable=self.reachable,
            latency_ms=self.latency_ms,
            failures=tuple(self.failures),
        )


async def _collect(
    collector: Collector, target: DeviceTarget, requested: frozenset[Table], span: Span | None
) -> Collected:
    if span is not None:
        current.set(current.get()._replace(traceparent=span.traceparent))
    try:
        with no_exit():
            given = await collector.collect(target, requested)
    except (DeviceFailed, LeaseLostError):
        raise
    except Exception as exc:
        logger.exception("the collector of %s failed on %s", collector.transport, target.device_id)
        raise DeviceFailed(f"the collector failed ({type(exc).__name__})", kind="lost") from exc
    if not isinstance(given, Collected):
        raise DeviceFailed("the collector returned something else than Collected", kind="lost")
    return given
