"""A device as collectors see it, for their tests: it answers what it is given, and keeps what it was sent."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from netautod.plugin_api.discovery.collectors import Channel, CliReader, HttpReply, SnmpAccess
from netautod.transport.ssh.failures import DeviceFailed


@dataclass(kw_only=True)
class PolledDevice:
    """A `PollTarget`. A `DeviceFailed` in the place of an answer is raised.

    `responses` are the outputs of commands; any other command is refused. `replies` are those of HTTPS by
    path, `agent` is where its SNMP agent is, `channels` what its subsystems of SSH say. `sent` has the
    commands and the bodies of requests, in their order.
    """

    org_id: str = "00000000-0000-0000-0000-000000000000"
    device_id: str = "00000000-0000-0000-0000-000000000001"
    name: str = "sw1"
    device_type: str = "generic"
    responses: Mapping[str, str | DeviceFailed] = field(default_factory=dict)
    replies: Mapping[str, HttpReply | DeviceFailed] = field(default_factory=dict)
    agent: SnmpAccess | None = None
    channels: Mapping[str, Channel] = field(default_factory=dict)
    sent: list[Any] = field(default_factory=list)

    async def snmp(self) -> SnmpAccess:
        if self.agent is None:
            raise DeviceFailed("there is no SNMP credential", kind="credential")
        return self.agent

    @asynccontextmanager
    async def login(self) -> AsyncIterator[CliReader]:
        yield _Session(self)

    @asynccontextmanager
    async def connect(self, subsystem: str, *, port: int) -> AsyncIterator[Channel]:
        if subsystem not in self.channels:
            raise DeviceFailed(f"the device does not offer the subsystem {subsystem}", kind="refused")
        yield self.channels[subsystem]

    async def post(self, path: str, body: Any, *, port: int, seconds: float) -> HttpReply:
        self.sent.append(body)
        reply = self.replies.get(path, HttpReply(status=404, body=b""))
        if isinstance(reply, DeviceFailed):
            raise reply
        return reply


class _Session:
    def __init__(self, device: PolledDevice) -> None:
        self._device = device

    async def run(self, command: str, *, timeout: float | None = None, max_bytes: int | None = None) -> str:
        self._device.sent.append(command)
        refused = DeviceFailed(f"% Invalid input: {command}", kind="refused_command")
        answer = self._device.responses.get(command, refused)
        if isinstance(answer, DeviceFailed):
            raise answer
        return answer
