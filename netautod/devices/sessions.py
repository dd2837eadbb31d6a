"""Opens CLI sessions: one per device at a time on all nodes, a bounded number per node, with the right login.

Settled here: a way through a jump device needs no turn on that device (it is a tunnel, not a session); the
key of a first visit is pinned right after the login, since the engine learns it in the same step.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from netautod.audit.service import AuditLog
from netautod.caller import Caller
from netautod.credentials.errors import CredentialUnusable
from netautod.credentials.models import UsableCredential
from netautod.credentials.service import CredentialService
from netautod.devices.links import MOST_JUMPS
from netautod.devices.models import Device
from netautod.devices.service import DeviceService
from netautod.leases.keeper import Held, LeaseLostError
from netautod.leases.named import NamedLeases
from netautod.settings import Devices as DeviceSettings
from netautod.ssh.failures import DeviceFailure, FailureKind
from netautod.ssh.guards import Guard, no_guard
from netautod.ssh.limits import Limits
from netautod.ssh.login import Hop, Login, Target
from netautod.ssh.platforms import PlatformRegistry
from netautod.ssh.session import Session, open_session
from netautod.vault.errors import VaultError

INTERACTIVE_RESERVE = 4  # sessions of a node that bulk work never takes
BUSY_SECONDS = 60.0  # how long to wait for another session on the same device
MOST_REFUSALS = 5  # in a row with one credential, then it is not tried any more
FINAL_KINDS = frozenset({"auth", "credential", "host_key"})
_LOST = "the exclusive right to the device was lost meanwhile"


class SessionFailure(DeviceFailure):
    """Why there was no session, or why it ended; `credential_id` is the chosen one, None before the choice.

    `kind` is one of the engine's, `credential` (there is none that may be used) or `busy` (another session
    is open on the device). `final`: trying again by itself cannot help, or would lock an account.
    """

    def __init__(self, kind: str, text: str, *, credential_id: str | None = None, **more: Any) -> None:
        super().__init__(cast(FailureKind, kind), text, **more)
        self.credential_id = credential_id
        self.final = kind in FINAL_KINDS


class Slots:
    """The sessions that one node may hold; interactive work goes first and always has some to itself."""

    def __init__(self, *, total: int, reserved: int = INTERACTIVE_RESERVE) -> None:
        self._free = total
        self._free_for_bulk = max(1, total - reserved)
        self._interactive: deque[asyncio.Future[None]] = deque()
        self._bulk: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def hold(self, *, bulk: bool) -> AsyncIterator[None]:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._bulk if bulk else self._interactive).append(turn)
        self._hand_out()
        try:
            await turn
            yield
        finally:
            if not turn.cancelled():  # else it was still waiting
                self._free += 1
                self._free_for_bulk += bulk
                self._hand_out()

    def _hand_out(self) -> None:
        for queue, bulk in ((self._interactive, False), (self._bulk, True)):
            while queue and self._free and (self._free_for_bulk or not bulk):
                turn = queue.popleft()
                if not turn.done():
                    self._free -= 1
                    self._free_for_bulk -= bulk
                    turn.set_result(None)


class Attempts:
    """The logins with one credential within one run, held back so that a wrong one locks no account.

    They begin with as many at a time as may be refused in a row; each one that is not refused makes room for
    two more. So a wrong password leaves the house five times, however many devices wait for their turn.
    """

    def __init__(self) -> None:
        self._window = MOST_REFUSALS
        self._under_way = self._refused = 0
        self._news = asyncio.Event()

    async def begin(self) -> None:
        """Waits for a turn; SessionFailure `auth` once too many logins were refused."""
        while self._refused < MOST_REFUSALS and self._under_way >= self._window - self._refused:
            self._news.clear()
            await self._news.wait()
        if self._refused >= MOST_REFUSALS:
            text = f"not visited: {self._refused} logins in a row were refused with this credential"
            raise SessionFailure("auth", text)
        self._under_way += 1

    def end(self, *, accepted: bool, refused: bool) -> None:
        """Both false: it did not come to a login."""
        self._under_way -= 1
        self._window += 0 if refused else 2
        self._refused = 0 if accepted else self._refused + refused
        self._news.set()


@dataclass(frozen=True, kw_only=True)
class OpenDevice:
    """A session on a device. `check` raises once the lease of the work or of the device may be lost."""

    device: Device
    session: Session
    credential_id: str
    check: Guard


@dataclass(frozen=True, kw_only=True)
class _Leg:
    device: Device
    login: Login
    credential_id: str


@dataclass(kw_only=True, eq=False)
class DeviceSessions:
    """Made once per node; `scope` for each request or run."""

    devices: DeviceService
    credentials: CredentialService
    platforms: PlatformRegistry
    leases: NamedLeases
    audit: AuditLog
    settings: DeviceSettings
    busy_seconds: float = BUSY_SECONDS

    def __post_init__(self) -> None:
        self.slots = Slots(total=self.settings.concurrent_sessions)
        self.limits = Limits(
            login_seconds=self.settings.connect_seconds,
            prompt_seconds=self.settings.connect_seconds,
            command_seconds=self.settings.command_seconds,
            output_bytes=self.settings.max_config_bytes,
        )

    def scope(
        self, caller: Caller, *, bulk: bool = False, guard: Guard = no_guard, **details: Any
    ) -> "SessionScope":
        """Sessions for one request, or with `bulk` for many devices. `details` go into audit events.

        `guard` is asked before anything is sent to a device; what it raises ends the session.
        """
        return SessionScope(node=self, caller=caller, bulk=bulk, guard=guard, details=details)


@dataclass(kw_only=True, eq=False)
class SessionScope:
    """The sessions of one request or run: it audits the use of each credential once, and counts refusals."""

    node: DeviceSessions
    caller: Caller
    bulk: bool
    guard: Guard
    details: Mapping[str, Any]

    def __post_init__(self) -> None:
        self._logins: dict[tuple[str, int], Login] = {}
        self._attempts: dict[str, Attempts] = {}
        self._auditing = asyncio.Lock()

    @asynccontextmanager
    async def open(self, device_id: str, *, credential_id: str | None = None) -> AsyncIterator[OpenDevice]:
        """A session for the block, closed at its end, and at once when the block fails or is cancelled.

        Without `credential_id` the device's own credential is used, else the organization's. Raises NotFound
        for a device that is not there, and SessionFailure; a DeviceFailure of the block becomes one too.
        """
        legs = await self._legs(device_id, credential_id)
        device, used = legs[-1].device, legs[-1].credential_id
        lost = asyncio.timeout(None)
        try:
            async with AsyncExitStack() as stack:
                async with self._turn(legs):
                    await stack.enter_async_context(self.node.slots.hold(bulk=self.bulk))
                    held = await self._lease(stack, device)
                    check = _combined(self.guard, held)
                    await stack.enter_async_context(lost)
                    held.on_lost = lambda: lost.reschedule(asyncio.get_running_loop().time())
                    legs[-1] = replace(legs[-1], device=await self._unchanged(device))
                    login, limits = legs[-1].login, self.node.limits
                    opening = open_session(self._target(legs), login, guard=check, limits=limits)
                    session = await stack.enter_async_context(opening)
                await self._pin(legs, session)
                yield OpenDevice(device=device, session=session, credential_id=used, check=check)
        except SessionFailure as exc:
            exc.credential_id = used
            raise
        except DeviceFailure as exc:
            more = {"hop": exc.hop, "partial": exc.partial}
            raise SessionFailure(exc.kind, exc.text, credential_id=used, **more) from exc
        except TimeoutError as exc:
            if not lost.expired():
                raise
            raise SessionFailure("lost", _LOST, credential_id=used) from exc

    async def _legs(self, device_id: str, override: str | None) -> list[_Leg]:
        """The way to the device: the jump device farthest from it first, itself last."""
        device = await self.node.devices.get(self.caller.org_id, device_id)
        legs = [await self._leg(device, override)]
        while (jump := legs[0].device.jump_device_id) is not None:
            if len(legs) > MOST_JUMPS:
                raise SessionFailure("refused", f"more than {MOST_JUMPS} jump devices on the way")
            hop = await self.node.devices.get(self.caller.org_id, jump)
            legs.insert(0, await self._leg(hop, None))
        return legs

    async def _leg(self, device: Device, override: str | None) -> _Leg:
        org_id, own = self.caller.org_id, device.default_credential_id
        try:
            found = await self.node.credentials.login_for(
                org_id, host=device.host, override=override, device_default=own
            )
        except (CredentialUnusable, VaultError) as exc:
            raise SessionFailure("credential", exc.text) from exc
        await self._audit_use(found.id)
        # One Login for all devices: decoding an encrypted private key is slow on purpose.
        known = (found.id, found.revision)
        if known not in self._logins:
            self._logins[known] = _login(found)
        return _Leg(device=device, login=self._logins[known], credential_id=found.id)

    async def _audit_use(self, credential_id: str) -> None:
        async with self._auditing:  # nobody uses it before the event is written
            if credential_id not in self._attempts:
                record = self.node.audit.record
                await record(self.caller, "credential.use", "credential", credential_id, self.details)
                self._attempts[credential_id] = Attempts()

    @asynccontextmanager
    async def _turn(self, legs: list[_Leg]) -> AsyncIterator[None]:
        """The block logs in; its end tells how that went to everybody who waits with the same credential."""
        begun: list[str] = []
        accepted, refused = False, None
        try:
            for credential_id in sorted({leg.credential_id for leg in legs}):  # one order: no deadlock
                await self._attempts[credential_id].begin()
                begun.append(credential_id)
            yield
            accepted = True
        except DeviceFailure as exc:
            if exc.kind == "auth" and not isinstance(exc, SessionFailure):
                at_hop = {leg.device.host: leg.credential_id for leg in legs[:-1]}
                refused = legs[-1].credential_id if exc.hop is None else at_hop.get(exc.hop)
            raise
        finally:
            for credential_id in begun:
                self._attempts[credential_id].end(accepted=accepted, refused=credential_id == refused)

    async def _lease(self, stack: AsyncExitStack, device: Device) -> Held:
        seconds = self.node.busy_seconds
        try:
            turn = self.node.leases.hold(f"device:{device.id}", wait_seconds=seconds)
            return await stack.enter_async_context(turn)
        except TimeoutError as exc:
            text = f"{device.name}: another session stayed open on the device for {seconds:g} s"
            raise SessionFailure("busy", text) from exc

    async def _unchanged(self, device: Device) -> Device:
        """The device as it is now, with the key that a session before ours may have pinned."""
        now = await self.node.devices.get(self.caller.org_id, device.id)
        if now.updated_at != device.updated_at:
            raise SessionFailure("busy", f"{device.name}: the device was edited at this moment")
        return now

    def _target(self, legs: list[_Leg]) -> Target:
        jump: Hop | None = None
        for leg in legs[:-1]:
            jump = Hop(login=leg.login, jump=jump, **_address(leg.device))
        device = legs[-1].device
        platform = self.node.platforms.get(device.device_type)
        commands = device.connect_commands
        return Target(platform=platform, connect_commands=commands, jump=jump, **_address(device))

    async def _pin(self, legs: list[_Leg], session: Session) -> None:
        shown = (*session.jump_host_key_fingerprints, session.host_key_fingerprint)
        for leg, key in zip(legs, shown, strict=True):
            if leg.device.host_key_fingerprint is None:
                pinned = await self.node.devices.pin_host_key(self.caller.org_id, leg.device.id, key)
                if pinned != key:
                    text = f"host key changed: pinned is {pinned}, {leg.device.name} shows {key}"
                    raise DeviceFailure("host_key", text)


def _login(found: UsableCredential) -> Login:
    secret = {"private_key" if found.type == "ssh_key" else "password": found.secret}
    more = {"passphrase": found.passphrase, "enable_secret": found.enable_secret}
    return Login(username=found.username, **secret, **more)


def _address(device: Device) -> dict[str, Any]:
    pinned = device.host_key_fingerprint
    return {"host": device.host, "port": device.port, "host_key_fingerprint": pinned}


def _combined(guard: Guard, held: Held) -> Guard:
    def check() -> None:
        guard()
        try:
            held.check()
        except LeaseLostError as exc:  # not that of the run: this device failed, the run goes on
            raise DeviceFailure("lost", _LOST) from exc

    return check
