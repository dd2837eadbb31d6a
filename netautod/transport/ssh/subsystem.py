"""A subsystem of SSH on one device, such as `netconf` (RFC 4254 6.5): two streams of bytes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncssh

from netautod.core.work.guard import Guard
from netautod.transport.ssh.connection.connect import Connection, connect
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.redact import quoted
from netautod.transport.ssh.target import Login, OnStep, SessionLimits, Target

RECEIVED_BYTES = 64 * 1024  # at a time


class Subsystem:
    """A subsystem, opened by `open_subsystem`; its fingerprints mean the same as those of a CliSession."""

    def __init__(self, connection: Connection, name: str, streams: tuple[Any, Any], guard: Guard) -> None:
        self._name = name
        self._writer, self._reader = streams
        self._guard = guard
        self.host_key_fingerprint: str | None = connection.fingerprints[-1]
        self.jump_host_key_fingerprints = connection.fingerprints[:-1]

    async def send(self, data: bytes) -> None:
        """Send the bytes; return when the device accepts more. DeviceFailed `lost`."""
        self._guard()
        try:
            self._writer.write(data)
            await self._writer.drain()
        except (asyncssh.Error, OSError) as exc:
            raise self._lost(exc) from exc

    async def receive(self) -> bytes:
        """Return the next bytes, RECEIVED_BYTES at most; b"" at the end. DeviceFailed `lost`."""
        try:
            received = await self._reader.read(RECEIVED_BYTES)
        except (asyncssh.Error, OSError) as exc:
            raise self._lost(exc) from exc
        assert isinstance(received, bytes)
        return received

    def _lost(self, exc: Exception) -> DeviceFailed:
        text = f"the connection of the subsystem {self._name} dropped ({quoted(str(exc))})"
        return DeviceFailed(text, kind="lost")


@asynccontextmanager
async def open_subsystem(
    target: Target, login: Login, name: str, *, guard: Guard, limits: SessionLimits, on_step: OnStep
) -> AsyncIterator[Subsystem]:
    """Connect, log in and open the subsystem for the block; guard and failures as in `open_session`.

    `refused`: the device does not offer it.
    """
    connection = await connect(target, login, guard=guard, seconds=limits.login_seconds, on_step=on_step)
    try:
        guard()
        try:
            writer, reader, _ = await connection.ssh.open_session(
                subsystem=name, encoding=None, env=None, send_env=None
            )
        except asyncssh.ChannelOpenError as exc:
            text = f"the device does not offer the subsystem {name} ({quoted(str(exc))})"
            raise DeviceFailed(text, kind="refused") from exc
        except (asyncssh.Error, OSError) as exc:
            text = f"the connection dropped after the login ({quoted(str(exc))})"
            raise DeviceFailed(text, kind="lost") from exc
        yield Subsystem(connection, name, (writer, reader), guard)
    except BaseException:
        connection.abort()
        raise
    else:
        await connection.close()
