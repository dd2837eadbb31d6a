"""The interface to the SNMP agent of a device, and the values it returns."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

Value = int | bytes | str | float | None
"""A number, the bytes of a text or an address, or an OID with dots."""
Rows = dict[str, Value]
"""Values by what stands behind the root of the walk: `{"1": ...}` for `1.3.6.1.2.1.2.2.1.2.1`."""

REQUEST_SECONDS = 3.0
TRIES = 3
REPETITIONS = (40, 10, 1)  # rows in one request; fewer where an answer would be too long
OBJECTS_AT_ONCE = 20
MOST_ROWS = 200_000
# RFC 3416 3; an agent of version 1 says noSuchName where there is nothing more.
TOO_BIG, NO_SUCH_NAME = 1, 2
ERRORS: Mapping[int, str] = {
    TOO_BIG: "tooBig",
    5: "genErr",
    6: "noAccess",
    13: "resourceUnavailable",
    16: "authorizationError",
}


class Agent(Protocol):
    """An SNMP agent. `latency_ms` is how long its first answer took."""

    latency_ms: float | None

    async def get(self, oids: Iterable[str]) -> Rows:
        """Return the objects that exist. WalkFailed, or DeviceFailed `timeout` without an answer."""

    async def walk(self, root: str) -> Rows:
        """Return all objects below the root, in the order of the agent. WalkFailed, or DeviceFailed
        `timeout`.
        """

    def vlan(self, number: int) -> "AbstractAsyncContextManager[Agent]":
        """Return the same agent for one VLAN, as Cisco's switches have one instance of BRIDGE-MIB
        for each.
        """


class WalkFailed(Exception):
    """A request or a walk without a good end; `text` says why, for the operator."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class TooLong(Exception):
    """An answer that did not arrive whole, or that the agent would not send: fewer rows may do."""


def error_name(status: int | None) -> str:
    return ERRORS.get(status or 0, f"error {status}")
