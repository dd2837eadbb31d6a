"""A name server of an attacker: what the resolver of this process answers for the names in his zone."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ZONE = ".mallory.example"
_system = socket.getaddrinfo


@contextmanager
def hostile_names(answers: dict[str, list[str]]) -> Iterator[None]:
    """Names in the zone of the attacker mean these addresses, within the block; all others what they mean."""

    def getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else str(host)
        own, found = name.rstrip("."), []
        for address in answers.get(own.removesuffix(ZONE), []) if own.endswith(ZONE) else [name]:
            found += _system(address, port, *args, **options)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return found

    socket.getaddrinfo = getaddrinfo
    try:
        yield
    finally:
        socket.getaddrinfo = _system
