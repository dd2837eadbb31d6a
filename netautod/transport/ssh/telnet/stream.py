"""The bytes of one telnet connection, over TCP or through a jump device."""

import asyncio
from importlib import import_module
from typing import Any, Protocol

import asyncssh

from netautod.core.work.guard import Guard
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.shell.stream import ByteStream


class Carrier(Protocol):
    """A connection that bytes are written to: a transport of asyncio, or a channel of asyncssh."""

    def write(self, data: bytes) -> None: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...


class TelnetStream(ByteStream):
    """The text that a device prints; what it negotiates is answered while its text is waited for.

    There and not where it arrives, because each thing that is sent needs the guard, and what the guard raises
    has to reach the owner of the session.
    """

    def __init__(self, *, guard: Guard, limit: int, columns: int, rows: int) -> None:
        # telnetlib3 brings servers and terminals along, which few installations need; `load` has imported it.
        from netautod.transport.ssh.telnet.options import Options

        super().__init__(guard=guard, limit=limit)
        self.hung_up = asyncio.Event()
        self._carrier: Carrier | None = None
        self._failed: DeviceFailed | None = None
        self._answers = bytearray()
        self._options = Options(self._answers.extend, columns=columns, rows=rows)

    def opened(self, carrier: Carrier) -> None:
        """Take the connection; called once it stands."""
        self._carrier = carrier

    def arrived(self, data: bytes) -> None:
        """Take a piece of data; called for each one that comes."""
        try:
            text = self._options.received(data)
        except DeviceFailed as exc:
            self._failed, text = exc, b""
            self.abort()
        self.received(text)

    def closed(self, exc: Exception | None) -> None:
        super().closed(exc)
        self.hung_up.set()

    @staticmethod
    async def load() -> None:
        """Import the state machine; await it before creating one: the first import takes 50 ms, so a thread
        does it.
        """
        await asyncio.to_thread(import_module, "netautod.transport.ssh.telnet.options")

    @property
    def is_open(self) -> bool:
        return self._carrier is not None

    async def news(self, *, within: float) -> bool:
        self._answer()
        happened = await super().news(within=within)
        self._answer()
        return happened

    def close(self) -> None:
        """End the connection once everything is sent."""
        if self._carrier is not None:
            self._carrier.close()

    def abort(self) -> None:
        if self._carrier is not None:
            self._carrier.abort()

    def _answer(self) -> None:
        if self._failed is not None:
            raise self._failed
        if self._answers and self._carrier is not None and not self.ended:
            self._guard()
            self._carrier.write(bytes(self._answers))
        self._answers.clear()

    def _send(self, data: bytes) -> None:
        if self._carrier is not None:
            self._carrier.write(self._options.sent(data))


class OverTcp(asyncio.Protocol):
    """The callbacks of a TCP connection to the device."""

    def __init__(self, stream: TelnetStream) -> None:
        self._stream = stream

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # what create_connection makes
        self._stream.opened(transport)

    def data_received(self, data: bytes) -> None:
        self._stream.arrived(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stream.closed(exc)


class OverSsh(asyncssh.SSHTCPSession[bytes]):
    """The callbacks of a connection that a jump device makes for us (RFC 4254 7.2)."""

    def __init__(self, stream: TelnetStream) -> None:
        self._stream = stream

    def connection_made(self, chan: "asyncssh.SSHTCPChannel[bytes]") -> None:
        self._stream.opened(chan)

    def data_received(self, data: bytes, datatype: Any) -> None:
        self._stream.arrived(data)

    def eof_received(self) -> bool:
        return False  # closes our side as well; connection_lost follows

    def connection_lost(self, exc: Exception | None) -> None:
        self._stream.closed(exc)
