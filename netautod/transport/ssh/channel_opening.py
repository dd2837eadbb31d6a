"""The opening of a session: the connection, a channel of it, and the shell behind the login."""

import asyncio
import time

import asyncssh

from netautod.core.work.guard import Guard
from netautod.secrets.redaction.commands import shown_command
from netautod.transport.ssh.connection.connect import Connection, connect
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import quoted
from netautod.transport.ssh.shell.shell import Shell
from netautod.transport.ssh.shell.stream import SshStream
from netautod.transport.ssh.target import Login, OnStep, SessionLimits, Target
from netautod.transport.ssh.telnet.connecting import TelnetConnection, connect_telnet
from netautod.transport.ssh.telnet.login import with_login
from netautod.transport.ssh.telnet.stream import TelnetStream

_COLUMNS, _ROWS = 511, 1000  # wide enough that no device wraps the echo of a command


async def connected(
    target: Target, login: Login, *, guard: Guard, limits: SessionLimits, on_step: OnStep
) -> Connection | TelnetConnection:
    if target.protocol == "ssh":
        return await connect(target, login, guard=guard, seconds=limits.login_seconds, on_step=on_step)

    await TelnetStream.load()

    def stream() -> TelnetStream:
        return TelnetStream(guard=guard, limit=limits.output_bytes, columns=_COLUMNS, rows=_ROWS)

    return await connect_telnet(
        target, login, guard=guard, seconds=limits.login_seconds, stream=stream, on_step=on_step
    )


async def open_shell(
    connection: Connection | TelnetConnection,
    platform: Platform,
    login: Login,
    *,
    guard: Guard,
    limits: SessionLimits,
    started: float,
) -> Shell | None:
    """Open a shell and log in on its terminal; return None for a platform whose commands get a channel each.

    The login, that on the terminal included, has `login_seconds` since `started` for each machine on the way
    (learning the prompt has `prompt_seconds` more).
    """
    ends = started + limits.login_seconds * len(connection.fingerprints)
    if isinstance(connection, TelnetConnection):
        shell = Shell(connection.stream, with_login(platform), limits)
    elif platform.channel == "shell":
        stream = SshStream(guard=guard, limit=limits.output_bytes)
        await _open_in_time(connection, stream, guard=guard, seconds=ends - time.monotonic())
        # A password that SSH has accepted goes to no question of which the platform knows nothing.
        shell = Shell(stream, platform if connection.offered else with_login(platform), limits)
    else:
        return None
    await shell.start(username=login.username, password=login.password, seconds=ends - time.monotonic())
    return shell


async def open_channel(
    connection: Connection, stream: SshStream, *, guard: Guard, command: str | None
) -> None:
    """Open a shell with a terminal (no command), or a command on a channel without one."""
    guard()
    try:
        await connection.ssh.create_session(
            lambda: stream,
            command=command,
            request_pty=command is None,
            term_type="vt100",
            term_size=(_COLUMNS, _ROWS),
            env=None,
            send_env=None,
            encoding=None,
        )
    except asyncssh.ChannelOpenError as exc:
        what = "a shell" if command is None else f"`{shown_command(command)}`"
        text = f"the device does not run {what} ({quoted(str(exc))})"
        raise DeviceFailed(text, kind="refused_command") from exc
    except (asyncssh.Error, OSError) as exc:
        raise DeviceFailed(
            f"the connection dropped after the login ({quoted(str(exc))})", kind="lost"
        ) from exc


async def _open_in_time(connection: Connection, stream: SshStream, *, guard: Guard, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await open_channel(connection, stream, guard=guard, command=None)
    except TimeoutError as exc:
        text = f"no shell within {round(seconds, 1):g} s after the login"
        raise DeviceFailed(text, kind="timeout") from exc
