"""The telnet connection, through SSH to its jump devices if any; each failure is a DeviceFailed."""

import asyncio
import errno
from collections.abc import Callable
from dataclasses import dataclass

import asyncssh

from netautod.core.work.guard import Guard
from netautod.transport.ssh.connection.connect import Connection, connect_jumps, network_problem
from netautod.transport.ssh.failures import DeviceFailed, FailureKind
from netautod.transport.ssh.platform.redact import quoted
from netautod.transport.ssh.target import Login, OnStep, Step, Target, anywhere, as_named
from netautod.transport.ssh.telnet.stream import OverSsh, OverTcp, TelnetStream

_CLOSE_SECONDS = 2.0
_WHY_NO_KEY = "telnet knows no keys, and this credential is a private key"
_WHY_NO_CHANNELS = "runs each command on a channel of its own, which telnet does not have; use ssh"


@dataclass(frozen=True, kw_only=True)
class TelnetConnection:
    """An open connection, not logged in; `jumps` is the one that it goes through, and lives as long."""

    stream: TelnetStream
    jumps: Connection | None

    @property
    def fingerprints(self) -> tuple[str | None, ...]:
        """Return no fingerprint for the device itself: telnet does not prove its identity."""
        return (*(self.jumps.fingerprints if self.jumps is not None else ()), None)

    def abort(self) -> None:
        """Drop everything at once."""
        self.stream.abort()
        if self.jumps is not None:
            self.jumps.abort()

    async def close(self) -> None:
        """Disconnect, and abort when that takes over two seconds."""
        self.stream.close()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.stream.hung_up.wait()
        except TimeoutError:
            self.stream.abort()
        if self.jumps is not None:
            await self.jumps.close()


async def connect_telnet(
    target: Target,
    login: Login,
    *,
    guard: Guard,
    seconds: float,
    stream: Callable[[], TelnetStream],
    on_step: OnStep,
) -> TelnetConnection:
    """Connect, each leg of the path within `seconds`; the login is a dialog on the terminal.

    `guard` is called before each connection and before a jump device gets a credential.
    """
    _require_password(target, login)
    guard()
    jumps = await connect_jumps(target, guard=guard, seconds=seconds, on_step=on_step)
    on_step(Step(kind="waits", text=f"{target.host} port {target.port}: no connection"))
    try:
        async with asyncio.timeout(seconds):
            return TelnetConnection(stream=await _connect_checked(target, jumps, guard, stream), jumps=jumps)
    except BaseException as exc:
        if jumps is not None:
            jumps.abort()
        if isinstance(exc, TimeoutError):
            raise _failure(target, "timeout", f"no connection within {seconds:g} s") from exc
        if isinstance(exc, OSError | UnicodeError):
            raise _failure(target, *network_problem(exc, service="telnet")) from exc
        if isinstance(exc, asyncssh.Error):
            text = f"the jump device could not connect to it ({quoted(str(exc))})"
            raise _failure(target, "refused", text) from exc
        raise


def _require_password(target: Target, login: Login) -> None:
    """Raise, before anything is sent, for a login that cannot succeed over telnet."""
    if login.password is None:
        raise _failure(target, "credential", _WHY_NO_KEY)
    if target.platform.channel != "shell":
        text = f"the platform {target.platform.name} {_WHY_NO_CHANNELS}"
        raise DeviceFailed(text, kind="refused_command", final=True)


async def _connect_checked(
    target: Target, jumps: Connection | None, guard: Guard, stream: Callable[[], TelnetStream]
) -> TelnetStream:
    """Connect to an address that was checked once."""
    reach = target.reach or (anywhere if jumps is None else as_named)
    try:
        places = await reach(target.host, target.port)
    except DeviceFailed as exc:
        raise _failure(target, exc.kind, exc.text) from exc
    for number, place in enumerate(places, start=1):
        guard()
        try:
            return await _opened(place, target.port, jumps, stream())
        except (OSError, asyncssh.ChannelOpenError):
            if number == len(places):
                raise
    raise OSError(errno.EHOSTUNREACH, "the name has no address")


async def _opened(place: str, port: int, jumps: Connection | None, stream: TelnetStream) -> TelnetStream:
    if jumps is None:
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: OverTcp(stream), place, port)
    else:
        await jumps.ssh.create_connection(lambda: OverSsh(stream), place, port)
    return stream


def _failure(target: Target, kind: FailureKind, text: str) -> DeviceFailed:
    return DeviceFailed(f"{target.host} port {target.port}: {text}", kind=kind)
