"""A directory that answers every search as its attacker wishes, in bytes of LDAP (RFC 4511)."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.support.servers.listener import listening

SEARCH = 0x63
BIND_OK = bytes.fromhex("61070a010004000400")
Answer = Callable[[socket.socket, bytes], None]


@dataclass(kw_only=True)
class HostileDirectory:
    url: str
    searches: int = 0


def done(code: int) -> bytes:
    """SearchResultDone without a word of explanation."""
    return bytes((0x65, 7, 0x0A, 1, code, 4, 0, 4, 0))


def reference(uri: str) -> bytes:
    """SearchResultReference: the rest is on another server."""
    text = uri.encode()
    return bytes((0x73, len(text) + 2, 4, len(text))) + text


def answering(*operations: bytes) -> Answer:
    """Each search gets these, then nothing more comes."""

    def answer(connection: socket.socket, message_id: bytes) -> None:
        for operation in operations:
            body = message_id + operation
            connection.sendall(bytes((0x30, len(body))) + body)

    return answer


def hanging_up(connection: socket.socket, message_id: bytes) -> None:
    connection.shutdown(socket.SHUT_RDWR)


def silent(connection: socket.socket, message_id: bytes) -> None:
    """Never answers: the client has to give up."""


@contextmanager
def hostile_directory(answer: Answer) -> Iterator[HostileDirectory]:
    def speak(connection: socket.socket) -> None:
        received = b""
        while data := connection.recv(65536):
            received += data
            while (message := _first(received)) is not None:
                received = received[len(message) :]
                operation, message_id = _parts(message)
                if operation == SEARCH:
                    seen.searches += 1
                    answer(connection, message_id)
                elif operation == BIND_OK[0] - 1:
                    answering(BIND_OK)(connection, message_id)

    with listening(speak) as server:
        seen = HostileDirectory(url=server.url)
        yield seen


def _first(received: bytes) -> bytes | None:
    """One whole message; the lengths of BER (X.690 8.1.3)."""
    if len(received) < 2:
        return None
    start, length = _content(received)
    return received[: start + length] if len(received) >= start + length else None


def _parts(message: bytes) -> tuple[int, bytes]:
    """The tag of the operation, and the message id as it was encoded."""
    start, _ = _content(message)
    end = start + 2 + message[start + 1]
    return message[end], message[start:end]


def _content(message: bytes) -> tuple[int, int]:
    first = message[1]
    if first < 0x80:
        return 2, first
    size = first & 0x7F
    return 2 + size, int.from_bytes(message[2 : 2 + size])
