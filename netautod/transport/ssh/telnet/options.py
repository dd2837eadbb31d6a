"""The options of a telnet connection: takes them out of what comes, and answers them as a terminal would."""

import logging
from collections import deque
from collections.abc import Callable

from telnetlib3.stream_writer import TelnetWriter
from telnetlib3.telopt import BINARY, ECHO, IAC, NAWS, SGA, TTYPE

from netautod.transport.ssh.failures import DeviceFailed

_TERMINAL = "vt100"
_HERE = frozenset({BINARY, NAWS, SGA, TTYPE})  # options that this side accepts on request
_THERE = frozenset({BINARY, ECHO, SGA})  # what the device may do
_ALL = frozenset(bytes([number]) for number in range(256))
_LONGEST_COMMAND = 65536  # bytes without any text between them
_MOST_ANSWERS = 1000  # a device that negotiates for ever would otherwise keep us at it, and fill our memory
# The library would log odd options with the device's own bytes, which must not be in our log.
_SILENT = logging.Logger("options of telnet", level=logging.CRITICAL + 1)


class Options:
    """The options of RFC 855, with telnetlib3's state machine; all but the few options of a terminal are
    declined.

    `send` gets what goes to the device: answers to its requests, and what `sent` makes of our text.
    """

    def __init__(self, send: Callable[[bytes], None], *, columns: int, rows: int) -> None:
        self._answering = _Answering(send)
        self._command_bytes = 0  # of the command that is under way
        machine = _Machine(self._answering, None, client=True)  # type: ignore[arg-type]  # it needs no more
        machine.log = _SILENT
        machine.slc_simulated = False
        machine.always_wont = set(_ALL - _HERE)
        machine.always_dont = set(_ALL - _THERE)
        machine.set_ext_send_callback(TTYPE, lambda: _TERMINAL)
        machine.set_ext_send_callback(NAWS, lambda: (rows, columns))
        self._machine = machine
        self._after_return = False

    def received(self, data: bytes) -> bytes:
        """Return the text in the received data; DeviceFailed `prompt` for a device that only negotiates."""
        text = bytearray()
        start, machine = 0, self._machine
        while start < len(data):
            if not machine.is_oob:
                found = data.find(IAC, start)
                end = len(data) if found < 0 else found
                text += data[start:end]
                start = end
            while start < len(data):
                byte = data[start : start + 1]
                start += 1
                if self._is_text(byte):
                    text += byte
                if not machine.is_oob:
                    break
        return self._without_padding(bytes(text))

    def sent(self, text: bytes) -> bytes:
        """Encode a text: a line end becomes what a terminal sends for Enter; a byte 255 is doubled.

        RFC 1123 3.3.1 wants devices to take CR LF and CR NUL alike. They are tested with people's telnet
        clients: those send CR NUL while the device echoes, and CR LF while it does not.
        """
        machine = self._machine
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(IAC, IAC + IAC)
        if machine.outbinary:
            return text.replace(b"\n", b"\r")
        echoes = machine.remote_option.enabled(ECHO)
        return text.replace(b"\n", b"\r\x00" if echoes else b"\r\n")

    def _is_text(self, byte: bytes) -> bool:
        try:
            is_text = self._machine.feed_byte(byte)
        except (ValueError, LookupError):  # a command that makes no sense on this side: nothing to answer
            is_text = False
        self._command_bytes = 0 if is_text else self._command_bytes + 1
        if self._command_bytes > _LONGEST_COMMAND:
            raise _endless()
        return is_text

    def _without_padding(self, text: bytes) -> bytes:
        """Remove the NUL that follows a carriage return which ends no line (RFC 854), but not in binary
        transmission.
        """
        if self._machine.inbinary:
            self._after_return = False
            return text
        if self._after_return and text.startswith(b"\x00"):
            text = text[1:]
            self._after_return = False
        if text:
            self._after_return = text.endswith(b"\r")
        return text.replace(b"\r\x00", b"\r")


class _Machine(TelnetWriter):
    """A state machine without the parts of options that were declined: they may come all the same."""

    def handle_subnegotiation(self, buf: "deque[bytes]") -> None:
        if buf and buf[0] == TTYPE:
            super().handle_subnegotiation(buf)


class _Answering:
    """The object that the state machine uses as its transport."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._left = _MOST_ANSWERS

    def write(self, data: bytes) -> None:
        self._left -= 1
        if self._left < 0:
            raise _endless()
        self._send(data)

    def is_closing(self) -> bool:
        return False

    def get_extra_info(self, name: str, default: object = None) -> object:
        return default


def _endless() -> DeviceFailed:
    return DeviceFailed("the device negotiates options of telnet without an end", kind="prompt")
