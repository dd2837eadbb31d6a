"""The contract of collectors, which read the tables of one device over one transport.

A collector only reads and says what it has read. Which devices are polled and when, which credential may go
where, the time limit, and what is stored are the service's affair.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from netautod.plugin_api.discovery.rows import Collected, Table

SNMP, CLI = "snmp", "cli"


@dataclass(frozen=True, kw_only=True)
class SnmpUser:
    """A user of SNMPv3 (RFC 3414). A protocol is None where the user has no such key.

    `auth_protocol` is `md5`, `sha`, `sha224`, `sha256`, `sha384` or `sha512`; `priv_protocol` is `des`,
    `3des`, `aes`, `aes192` or `aes256`, in lower case. The keys are pass phrases.
    """

    name: str
    auth_protocol: str | None = None
    auth_key: str | None = field(default=None, repr=False)
    priv_protocol: str | None = None
    priv_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class SnmpAccess:
    """The agent of a device: an IP address that was checked, and a community (v2c) or a user (v3)."""

    address: str
    port: int
    community: str | None = field(default=None, repr=False)
    user: SnmpUser | None = None


class CliReader(Protocol):
    """A session on the command line of a device, with paging off, in its first mode or privileged."""

    async def run(self, command: str, *, timeout: float | None = None, max_bytes: int | None = None) -> str:
        r"""Return what the command prints, lines with `\n`; raises DeviceFailed.

        `refused_command` means that the device does not know it; the session goes on. `timeout` in seconds.
        """


class Channel(Protocol):
    """The two directions of a subsystem of SSH."""

    async def send(self, data: bytes) -> None:
        """Send bytes. Raises DeviceFailed `lost`."""

    async def receive(self) -> bytes:
        """Return the next bytes, up to 64 KiB; b"" at the end. Raises DeviceFailed `lost`."""


@dataclass(frozen=True, kw_only=True)
class HttpReply:
    """A reply of any status."""

    status: int
    body: bytes = field(repr=False)


class PollTarget(Protocol):
    """A device in one poll.

    Each way to it is opened by the service, with the credential that belongs to it, after the checks of
    addresses and approvals; what is refused there raises DeviceFailed.
    """

    @property
    def org_id(self) -> str: ...

    @property
    def device_id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def device_type(self) -> str:
        """The platform's own name, not a synonym: `cisco_ios`; `generic` where it is not known."""

    async def snmp(self) -> SnmpAccess:
        """Return the address of its agent, and the secrets for it."""

    def login(self) -> AbstractAsyncContextManager[CliReader]:
        """Open a session on its command line for the block; one at a time on all nodes."""

    def connect(self, subsystem: str, *, port: int) -> AbstractAsyncContextManager[Channel]:
        """Open a subsystem of SSH (`netconf`) for the block, at the device's automation port, else
        at `port`.
        """

    async def post(self, path: str, body: Any, *, port: int, seconds: float) -> HttpReply:
        """Send JSON by POST to `https://HOST:PORT<path>` with HTTP basic authentication.

        The port is the device's automation port, else `port`.
        """


class Collector(Protocol):
    """A reader of devices over one transport.

    `transport` is `snmp` (used where the device has a credential for it), `cli` (where it has one for SSH),
    or what a device must name as its `automation_transport`: that one is used first, `cli` last. `tables` are
    those that it can give at all.
    """

    @property
    def transport(self) -> str: ...

    @property
    def tables(self) -> frozenset[Table]: ...

    async def collect(self, target: PollTarget, wanted: frozenset[Table]) -> Collected:
        """Read the `wanted` tables, which are among `tables`; may be cancelled at any await.

        Raises DeviceFailed if the device did not answer at all. A table that could not be read to its end is
        left out, with the reason in `problems`; any other exception is a failure with a logged trace.
        """
