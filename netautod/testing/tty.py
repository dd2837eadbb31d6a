"""The terminal line of a simulated device: echoes what is typed, and sends output slowly, cut or dirty."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import asyncssh

from netautod.ssh.encoding import bytes_of
from netautod.testing.cli_script import CliScript
from netautod.testing.state import DeviceState

_PIECE = 40
_DIRT = b"\x1b[1m\x00\xff\x1b[0m"


class Tty(asyncssh.SSHServerSession[bytes]):
    """One channel of the device: a shell, or one command, each played by `serve`."""

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
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._keys: asyncio.Queue[str] = asyncio.Queue()
        self._channel: asyncssh.SSHServerChannel[bytes] | None = None
        self._input = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._task: asyncio.Task[None] | None = None

    @property
    def script(self) -> CliScript:
        """What a shell of the device plays."""
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
        for byte in data:
            if self._wants_key:
                self._keys.put_nowait(chr(byte))
            elif byte == 0x0A and self._after_return:
                self._after_return = False  # the second half of CR LF
            elif byte in b"\r\n":
                self._after_return = byte == 0x0D
                self._echo(b"\r\n")
                self._lines.put_nowait(self._typed.decode(errors="replace"))
                self._typed.clear()
            else:
                self._after_return = False
                self._typed.append(byte)
                self._echo(bytes([byte]))

    async def read_line(self, prompt: str = "", *, hidden: bool = False, noted: bool = True) -> str:
        """One line as typed; hidden ones (passwords) are neither echoed nor noted as commands."""
        self._echoes = not hidden
        await self.write(prompt)
        line = await self._lines.get()
        if self.device.faults.late_echo and not hidden:
            await self.write(line + "\n")
        self._echoes = True
        if noted and not hidden and line.strip():
            self.device.commands.append(line)
            self.device.note_change()
        return line

    async def something_typed(self) -> None:
        """Waits until more input comes."""
        self._input.clear()
        await self._input.wait()

    async def read_key(self, prompt: str) -> str:
        """One key, not echoed, as a pager reads it."""
        self._wants_key = True
        try:
            await self.write(prompt)
            return await self._keys.get()
        finally:
            self._wants_key = False

    async def write(self, text: str) -> None:
        """Sends text with the line ends of a terminal."""
        plain = text.replace("\n", self.script.line_end) if self.command is None else text
        data = bytes_of(plain)
        if self.device.faults.dirty:
            data = data.replace(b"description", _DIRT + b"description")
        if self.device.faults.slow:
            for start in range(0, len(data), _PIECE):
                await self._send(data[start : start + _PIECE])
                await asyncio.sleep(self.device.faults.slow)
        else:
            await self._send(data)

    def cut(self) -> None:
        """Drops the TCP connection under the session."""
        if self._channel is not None:
            self._channel.get_connection().abort()

    def exit(self, status: int = 0) -> None:
        """Ends the session."""
        if self._channel is not None:
            self._channel.exit(status)

    async def _send(self, data: bytes) -> None:
        await self._writable.wait()
        if self._channel is not None and not self._channel.is_closing():
            self._channel.write(data)

    def _echo(self, data: bytes) -> None:
        faults = self.device.faults
        if self._echoes and not faults.no_echo and not faults.late_echo and self._channel is not None:
            self._channel.write(data)


Serve = Callable[[Tty], Coroutine[Any, Any, None]]
