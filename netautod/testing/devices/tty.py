"""The terminal line of a simulated device: echoes what is typed, and sends output slowly, cut or dirty."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import asyncssh

from netautod.testing.devices.cli_script import CliScript
from netautod.testing.devices.echo import EDITED, Echo
from netautod.testing.devices.state import DeviceState
from netautod.transport.ssh.encoding import to_bytes, to_text
from netautod.transport.ssh.shell.terminal import unfinished_escape, visible

_PIECE = 40
_DIRT = b"\x1b[1m\x00\xff\x1b[0m"


class Tty(asyncssh.SSHServerSession[bytes]):
    """A channel of the device: a shell, or one command, each played by `serve`."""

    def __init__(self, device: DeviceState, serve: "Serve") -> None:
        self.device = device
        self._serve = serve
        self.command: str | None = None
        self.mode = ""
        self.lines_per_page = 0
        if device.script is not None:
            script = device.script
            locked = device.enable_password is not None and script.unprivileged
            self.mode = script.unprivileged if locked else script.mode
            self.lines_per_page = 0 if script.pager is None else script.pager.lines
        self._echoes = True
        self._wants_key = False
        self._after_return = False
        self._typed = bytearray()
        self._written = bytearray()  # since the last line feed
        self._echo: Echo | None = None
        self._reading = False
        self._in_escape = False
        self._held_echo = b""
        self._lines: asyncio.Queue[tuple[str, str]] = asyncio.Queue()  # with what is echoed when it is read
        self._keys: asyncio.Queue[str] = asyncio.Queue()
        self._channel: asyncssh.SSHServerChannel[bytes] | None = None
        self._input = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._task: asyncio.Task[None] | None = None

    @property
    def script(self) -> CliScript:
        """Return the script that a shell of the device plays."""
        if self.device.script is None:
            raise RuntimeError("this device has exec channels only")
        return self.device.script

    def connection_made(self, chan: "asyncssh.SSHServerChannel[bytes]") -> None:
        self._channel = chan

    def pty_requested(self, term_type: str, term_size: Any, term_modes: Any) -> bool:
        return True

    def shell_requested(self) -> bool:
        return self.device.script is not None

    def exec_requested(self, command: str) -> bool:
        self.command = command
        return self.device.script is None

    def session_started(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._serve(self))
        self.device.note_session(self._task)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._task is not None:
            self._task.cancel()

    def eof_received(self) -> bool:
        return True  # an exec client may close its side first

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes, datatype: Any) -> None:
        self._input.set()
        self._after_return = False
        for byte in data:
            if self._wants_key:
                self._keys.put_nowait(chr(byte))
            elif byte == 0x0A and self._after_return:
                self._after_return = False  # the second half of CR LF
            elif byte in b"\r\n":
                self._after_return = byte == 0x0D
                self._end_line()
            else:
                self._after_return = False
                self._typed.append(byte)
                self._show(self._new_echo().of(to_text(bytes([byte]))))

    async def read_line(self, prompt: str = "", *, hidden: bool = False, noted: bool = True) -> str:
        """Return one line as typed; hidden ones (passwords) are neither echoed nor recorded as commands."""
        self._echoes = not hidden
        await self.write(prompt)
        self._reading = True
        line, echo = await self._lines.get()
        self._reading = False
        if not hidden:
            await self.write(echo)
        self._echoes = True
        if noted and not hidden and line.strip():
            self.device.commands.append(line)
            self.device.note_change()
        return line

    async def something_typed(self, *, within: float | None = None) -> None:
        """Wait until more input comes, for that many seconds at most."""
        self._input.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._input.wait()

    async def read_key(self, prompt: str) -> str:
        """Return one key, not echoed, as a pager reads it."""
        self._wants_key = True
        try:
            await self.write(prompt)
            return await self._keys.get()
        finally:
            self._wants_key = False

    async def write(self, text: str) -> None:
        """Send text with the line ends of a terminal."""
        plain = text.replace("\n", self.script.line_end) if self.command is None else text
        data = to_bytes(plain)
        if self.device.faults.dirty:
            data = data.replace(b"description", _DIRT + b"description")
        if self.device.faults.slow:
            for start in range(0, len(data), _PIECE):
                await self._send(data[start : start + _PIECE])
                await asyncio.sleep(self.device.faults.slow)
        else:
            await self._send(data)

    def cut(self) -> None:
        """Drop the TCP connection under the session."""
        if self._channel is not None:
            self._channel.get_connection().abort()

    def exit(self, status: int = 0) -> None:
        """End the session."""
        if self._channel is not None:
            self._channel.exit(status)

    async def _send(self, data: bytes) -> None:
        await self._writable.wait()
        self._written = (self._written + data).rpartition(b"\n")[2]
        piece = self.device.faults.piece or len(data)
        for start in range(0, len(data), piece or 1):
            self._hand_over(data[start : start + piece])
            self._in_escape = bool(unfinished_escape(bytearray(data[: start + piece])))
            if not self._in_escape and self._held_echo:
                self._hand_over(self._held_echo)
                self._held_echo = b""
            if piece < len(data):
                await asyncio.sleep(0)

    def _hand_over(self, data: bytes) -> None:
        if self._channel is not None and not self._channel.is_closing():
            self._channel.write(data)

    def _new_echo(self) -> Echo:
        """Return the echo of the line that is typed now; a line editor echoes nothing while the device is
        busy.
        """
        if self._echo is None:
            faults = self.device.faults
            form = "late" if faults.echo in EDITED and not self._reading else faults.echo
            self._echo = Echo(form, prompt=visible(to_text(bytes(self._written))), columns=faults.columns)
        return self._echo

    def _end_line(self) -> None:
        echo, line = self._new_echo(), self._typed.decode(errors="replace")
        self._show(echo.at_end())
        self._lines.put_nowait((line, f"{line}\n" if echo.form == "late" else ""))
        self._echo = None
        self._typed.clear()

    def _show(self, text: str) -> None:
        if text and self._echoes and self._channel is not None:
            data = to_bytes(text)
            self._written = (self._written + data).rpartition(b"\n")[2]
            if self._in_escape:  # which a device writes at once, however it comes over the network
                self._held_echo += data
            else:
                self._channel.write(data)


Serve = Callable[[Tty], Coroutine[Any, Any, None]]
