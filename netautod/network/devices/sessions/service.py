"""Opens CLI sessions: one per device at a time on all nodes, a bounded number per node, with the right login.

A way through a jump device takes no lease on that device: it is a tunnel, not a session. The key of a first
visit is pinned right after the login, since the engine learns it in the same step.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic

from netautod.activity.audit.service import AuditLog
from netautod.core.logs.tracing import Tracer
from netautod.core.metrics import Metrics
from netautod.core.work.answers import ANSWER_SECONDS
from netautod.core.work.context import Work
from netautod.core.work.guard import Guard, LeaseLostError
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.host_keys.service import HostKeys
from netautod.network.devices.models import Device
from netautod.network.devices.service import DeviceService
from netautod.network.devices.sessions.answer_limit import AnswerLimit
from netautod.network.devices.sessions.caller_suspension_store import CallerSuspension
from netautod.network.devices.sessions.caller_suspensions import PERMISSION, REFUSALS, CallerSuspensions
from netautod.network.devices.sessions.endpoints import CommandLine, Endpoint, Opened, SubsystemAt
from netautod.network.devices.sessions.failure_log import visiting
from netautod.network.devices.sessions.host_key_check import ShownKeys, failing
from netautod.network.devices.sessions.login_limits import CredentialGate, JumpGates
from netautod.network.devices.sessions.login_paths import Leg, Paths, target_of
from netautod.network.devices.sessions.session_limits import Turns
from netautod.network.devices.sessions.suspensions import Suspensions
from netautod.network.devices.sessions.target_addresses import DeviceReach
from netautod.network.devices.settings import DeviceSettings
from netautod.network.devices.vouching.destinations import is_same
from netautod.store.leases.lease import Lease
from netautod.store.leases.named import NamedLeases
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import CliSession
from netautod.transport.ssh.subsystem import Subsystem
from netautod.transport.ssh.target import SessionLimits

BUSY_SECONDS = 60.0  # how long to wait for another session on the same device
_LOST = "the exclusive right to the device was lost meanwhile"
_WANTED = "gave way to another session on the device"


def lease_name(device_id: str) -> str:
    """Return the name of the lease that a session on the device holds."""
    return f"device:{device_id}"


@dataclass(frozen=True, kw_only=True)
class Visit(Generic[Opened]):
    """A session on a device, for `work` under a guard that asks for the lease of the device too.

    `deadline` is when the visit ends, on the clock of the loop; None for one without a limit. `legs` are the
    logins of the way that was taken, the device's own last.
    """

    device: Device
    legs: Sequence[Leg]
    session: Opened
    credential_id: str
    work: Work
    deadline: float | None

    def seconds_left(self) -> float:
        """Return the seconds left; infinite without a deadline."""
        return math.inf if self.deadline is None else self.deadline - asyncio.get_running_loop().time()


OpenDevice = Visit[CliSession]


@dataclass(kw_only=True, eq=False)
class DeviceSessions:
    """The sessions on devices of a node, made once per node; `scope` for each request or run."""

    devices: DeviceService
    credentials: CredentialService
    platforms: PlatformRegistry
    leases: NamedLeases
    audit: AuditLog
    suspensions: Suspensions
    caller_suspensions: CallerSuspensions
    host_keys: HostKeys
    authority: SshAuthority
    settings: DeviceSettings
    reach: DeviceReach
    busy_seconds: float = BUSY_SECONDS
    answer_seconds: float = ANSWER_SECONDS
    metrics: Metrics = field(default_factory=Metrics)
    tracer: Tracer | None = None

    def __post_init__(self) -> None:
        self.turns = Turns(total=self.settings.concurrent_sessions, per_site=self.settings.sessions_per_site)
        self.limits = SessionLimits(
            login_seconds=self.settings.connect_seconds,
            command_seconds=self.settings.command_seconds,
            output_bytes=self.settings.max_config_bytes,
        )

    def scope(
        self,
        work: Work,
        *,
        background: bool | None = None,
        seconds: float | None = None,
        patience: float | None = None,
        answer: float | None = None,
        audited: set[str] | None = None,
        gives_way: bool = False,
        **details: Any,
    ) -> "SessionScope":
        """Return the sessions of one request or run. `details` go into audit events.

        `background` (bulk work is, unless stated otherwise) leaves suspended logins alone; a person who waits
        for one device may try them. What the guard of `work` raises ends the session. A visit ends after
        `seconds`, counted from its beginning, or for bulk work from when it has one of the node's sessions;
        half of them at most are spent on a busy device, and `patience` seconds. Within `answer` seconds a
        device must have accepted the login, whatever the settings give it for that: those of the node where
        a person waits for one device, else there is no such limit unless stated. `audited` are the ids of
        credentials whose use has been recorded, for work that goes on in many scopes. A session that
        `gives_way` ends as soon as another one is wanted on the device.
        """
        return SessionScope(
            node=self,
            work=work,
            background=work.bulk if background is None else background,
            seconds=seconds,
            patience=self.busy_seconds if patience is None else patience,
            answer=self.answer_seconds if answer is None and not work.bulk else answer,
            details={**details, **work.audit_details},
            audited=set() if audited is None else audited,
            gives_way=gives_way,
        )


@dataclass(kw_only=True, eq=False)
class SessionScope:
    """The sessions of one request or run: it audits the use of each credential once, and counts refusals."""

    node: DeviceSessions
    work: Work
    background: bool
    seconds: float | None
    patience: float
    answer: float | None
    details: Mapping[str, Any]
    audited: set[str]
    gives_way: bool = False

    def __post_init__(self) -> None:
        node = self.node
        self._paths = Paths(
            devices=node.devices,
            credentials=node.credentials,
            audit=node.audit,
            authority=node.authority,
            allow_telnet=node.settings.allow_telnet,
            work=self.work,
            details=self.details,
            audited=self.audited,
        )
        self._keys = ShownKeys(
            devices=node.devices,
            host_keys=node.host_keys,
            org_id=self.work.org_id,
            by_hand=not self.background,
        )
        self._limits = self.node.limits
        if self.work.bulk and self.answer is not None:
            # Of several devices some wait for the outcome of others: it must leave them time.
            half = min(self.answer / 2, self._limits.login_seconds)
            self._limits = replace(self._limits, login_seconds=half)
        self._gates: dict[str, CredentialGate] = {}
        self._jumps = JumpGates()

    def open(
        self, device_id: str, *, credential_id: str | None = None
    ) -> AbstractAsyncContextManager[OpenDevice]:
        """Open a session on the command line for the block; see `through`."""
        return self.through(CommandLine(), device_id, credential_id=credential_id)

    def subsystem(
        self, device_id: str, name: str, *, port: int, credential_id: str | None = None
    ) -> AbstractAsyncContextManager[Visit[Subsystem]]:
        """Open a subsystem of SSH for the block; see `through`."""
        return self.through(SubsystemAt(name=name, port=port), device_id, credential_id=credential_id)

    @asynccontextmanager
    async def through(
        self, endpoint: Endpoint[Opened], device_id: str, *, credential_id: str | None = None
    ) -> AsyncIterator[Visit[Opened]]:
        """Open a session as `_through`, logged and counted by how it ends."""
        work, transport, metrics = self.work, endpoint.transport, self.node.metrics
        result = "cancelled"
        try:
            with visiting(work, device_id, transport, metrics=metrics, tracer=self.node.tracer):
                async with self._through(endpoint, device_id, credential_id=credential_id) as visit:
                    with _counted_as_open(metrics):
                        yield visit
            result = "ok"
        except DeviceFailed as exc:
            result = exc.kind
            raise
        except Exception:
            result = "error"
            raise
        finally:
            metrics.add("device_sessions", 1, result)

    @asynccontextmanager
    async def _through(
        self, endpoint: Endpoint[Opened], device_id: str, *, credential_id: str | None = None
    ) -> AsyncIterator[Visit[Opened]]:
        """Open a session for the block, closed at its end, and at once when the block fails or is cancelled.

        Without `credential_id` the device's own credential is used, else the organization's. Raises NotFound
        for a device that does not exist, and DeviceFailed, with the credential that was used.
        """
        used: str | None = None
        answer = AnswerLimit(self.answer)
        late = asyncio.timeout(None if self.work.bulk else self.seconds)
        lost, wanted = asyncio.timeout(None), asyncio.timeout(None)
        try:
            async with late, lost, wanted, answer.timeout, AsyncExitStack() as stack:
                legs = await self._paths.to(device_id, credential_id, endpoint.device)
                used = legs[-1].credential_id
                visit = await self._begin(
                    stack, legs, endpoint, answer=answer, late=late, lost=lost, wanted=wanted
                )
                answer.end()
                yield visit
        except DeviceFailed as exc:
            exc.credential_id = used or exc.credential_id
            raise
        except TimeoutError as exc:
            if lost.expired():
                raise DeviceFailed(_LOST, kind="lost", credential_id=used) from exc
            if wanted.expired():
                raise DeviceFailed(_WANTED, kind="busy", credential_id=used) from exc
            if answer.timeout.expired():
                raise answer.failure(used) from exc
            if late.expired():
                text = f"not finished within {self.seconds:g} s"
                raise DeviceFailed(text, kind="timeout", credential_id=used) from exc
            raise

    async def _begin(
        self,
        stack: AsyncExitStack,
        legs: list[Leg],
        endpoint: Endpoint[Opened],
        *,
        answer: AnswerLimit,
        late: asyncio.Timeout,
        lost: asyncio.Timeout,
        wanted: asyncio.Timeout,
    ) -> Visit[Opened]:
        node, work, device = self.node, self.work, legs[-1].device
        now = asyncio.get_running_loop().time
        await stack.enter_async_context(node.turns.at_site(work, _site(device)))
        async with self._jumps.through(legs[:-1]), self._admitted(legs), self._keys.noting(legs):
            answer.waits("no session of this node became free", kind="busy")
            await stack.enter_async_context(node.turns.session(work))
            if work.bulk and self.seconds is not None:
                late.reschedule(now() + self.seconds)
            answer.waits(f"{device.name}: another session on the device did not end", kind="busy")
            held = await self._lease(stack, device)
            held.on_lost = lambda: lost.reschedule(now())
            if self.gives_way:
                held.on_wanted = partial(_end, wanted)
            guarded = work.under(_combined(work.guard, held))
            fresh, known, of_caller = await asyncio.gather(
                self._unchanged(device, endpoint), node.suspensions.of(work, legs), self._of_caller(legs)
            )
            legs[-1] = replace(legs[-1], device=fresh)
            node.caller_suspensions.refuse(of_caller, legs, work)
            if self.background:
                node.suspensions.refuse(known, legs)
            target = target_of(legs, node.platforms.get(device.device_type), node.reach)
            opening = endpoint.open(
                target, legs[-1].login, guard=guarded.guard, limits=self._limits, on_step=answer.on_step
            )
            session = await stack.enter_async_context(opening)
        await node.suspensions.lift(work.org_id, known)
        await node.caller_suspensions.lift(work.org_id, of_caller)
        await self._keys.pin(legs, endpoint, session)
        for leg in legs:
            await node.host_keys.answered(work.org_id, leg.device)
        return Visit(
            device=legs[-1].device,
            legs=tuple(legs),
            session=session,
            credential_id=legs[-1].credential_id,
            work=guarded,
            deadline=late.when(),
        )

    @asynccontextmanager
    async def _admitted(self, legs: list[Leg]) -> AsyncIterator[None]:
        """Hold the login's admission for the block; its outcome decides whether others with its credentials
        go on.
        """
        admitted: list[CredentialGate] = []
        accepted, tried, refused = False, True, ""
        try:
            for gate in self._gates_of(legs):
                await gate.begin()
                admitted.append(gate)
            try:
                yield
                accepted = True
            except DeviceFailed as exc:
                tried = exc.kind != "suspended"
                leg = failing(legs, exc)
                if leg is not None and exc.kind in REFUSALS:
                    await self.node.caller_suspensions.refused(self.work, leg, by_hand=not self.background)
                if leg is not None and exc.kind == "auth":
                    refused = leg.credential_id
                    suspension = await self.node.suspensions.refused(self.work.org_id, leg)
                    exc.suspended_until = suspension.until
                raise
        finally:
            for gate in admitted:
                gate.end(accepted=accepted, refused=gate.credential_id == refused, tried=tried)

    def _gates_of(self, legs: list[Leg]) -> list[CredentialGate]:
        """Return the gates in one order for all logins, so that no two wait for each other."""
        ordered = sorted({leg.credential_id: leg for leg in legs}.items())
        own = [self._gates.setdefault(used, CredentialGate(used)) for used, _ in ordered]
        if self.work.caller.can(PERMISSION):
            return own
        return [*own, *(self.node.caller_suspensions.gate(self.work.org_id, leg) for _, leg in ordered)]

    async def _of_caller(self, legs: list[Leg]) -> list[CallerSuspension]:
        """Return the suspensions of the caller: none for background work of callers who may manage
        credentials.
        """
        if self.background and self.work.caller.can(PERMISSION):
            return []
        return await self.node.caller_suspensions.of(self.work, legs)

    async def _lease(self, stack: AsyncExitStack, device: Device) -> Lease:
        seconds = self.patience
        if self.seconds is not None:
            seconds = min(seconds, self.seconds / 2)
        try:
            turn = self.node.leases.hold(
                lease_name(device.id), wait_seconds=seconds, work=self.work, wanting=not self.gives_way
            )
            return await stack.enter_async_context(turn)
        except TimeoutError as exc:
            text = f"{device.name}: another session stayed open on the device for {seconds:g} s"
            raise DeviceFailed(text, kind="busy") from exc

    async def _unchanged(self, device: Device, endpoint: Endpoint[Opened]) -> Device:
        """Return the device as it is now, with the key that a session before ours may have pinned."""
        now = endpoint.device(await self.node.devices.get(self.work.org_id, device.id, self.work))
        if not is_same(device, now):
            raise DeviceFailed(f"{device.name}: the device was edited at this moment", kind="busy")
        return now


@contextmanager
def _counted_as_open(metrics: Metrics) -> Iterator[None]:
    metrics.add("device_sessions_open")
    try:
        yield
    finally:
        metrics.add("device_sessions_open", -1)


def _end(limit: asyncio.Timeout) -> None:
    """End a timeout now, unless it has an end already."""
    if limit.when() is None:
        limit.reschedule(asyncio.get_running_loop().time())


def _site(device: Device) -> tuple[str, str] | None:
    site = device.site_id or device.site
    return None if site is None else (device.org_id, site)


def _combined(guard: Guard, held: Lease) -> Guard:
    def both() -> None:
        guard()
        try:
            held.guard()
        except LeaseLostError as exc:  # not that of the run: this device failed, the run goes on
            raise DeviceFailed(_LOST, kind="lost") from exc

    return both
