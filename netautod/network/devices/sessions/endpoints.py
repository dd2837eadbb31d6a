"""The ways into a device: its command line, or a subsystem of SSH at a port that may be another one."""

from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from netautod.core.identity.caller import OrgId
from netautod.core.work.guard import Guard
from netautod.network.devices.models import SSH, Device
from netautod.network.devices.service import DeviceService
from netautod.transport.ssh.session import CliSession, open_session
from netautod.transport.ssh.subsystem import Subsystem, open_subsystem
from netautod.transport.ssh.target import Login, OnStep, SessionLimits, Target

Opened = TypeVar("Opened", CliSession, Subsystem)


class Endpoint(ABC, Generic[Opened]):
    """An endpoint of a device: how a session is opened, and how the device looks behind it; `transport` is
    its name.
    """

    transport: str

    @abstractmethod
    def device(self, device: Device) -> Device:
        """Return the device as the session needs it: with the port, and the key that is pinned for it."""

    @abstractmethod
    def open(
        self, target: Target, login: Login, *, guard: Guard, limits: SessionLimits, on_step: OnStep
    ) -> AbstractAsyncContextManager[Opened]: ...

    @abstractmethod
    async def pin(self, devices: DeviceService, org_id: OrgId, visited: Device, key: str) -> str | None:
        """Pin the key of a first visit; return the key that is pinned then, None where none may be."""


class CommandLine(Endpoint[CliSession]):
    """The device at its own port, by its own protocol."""

    transport = "cli"

    def device(self, device: Device) -> Device:
        return device

    def open(
        self, target: Target, login: Login, *, guard: Guard, limits: SessionLimits, on_step: OnStep
    ) -> AbstractAsyncContextManager[CliSession]:
        return open_session(target, login, guard=guard, limits=limits, on_step=on_step)

    async def pin(self, devices: DeviceService, org_id: OrgId, visited: Device, key: str) -> str | None:
        return await devices.pin_host_key(org_id, visited, key)


@dataclass(frozen=True, kw_only=True)
class SubsystemAt(Endpoint[Subsystem]):
    """A subsystem at a port. The key there is pinned by itself: another server may answer than at the
    device's own port.
    """

    name: str
    port: int

    @property
    def transport(self) -> str:  # type: ignore[override]  # of a frozen value
        return self.name

    def device(self, device: Device) -> Device:
        if device.protocol == SSH and device.port == self.port:
            return device
        return replace(
            device,
            protocol=SSH,
            port=self.port,
            host_key_fingerprint=device.port_keys.get(self.port),
            other_key_seen=False,
        )

    def open(
        self, target: Target, login: Login, *, guard: Guard, limits: SessionLimits, on_step: OnStep
    ) -> AbstractAsyncContextManager[Subsystem]:
        return open_subsystem(target, login, self.name, guard=guard, limits=limits, on_step=on_step)

    async def pin(self, devices: DeviceService, org_id: OrgId, visited: Device, key: str) -> str | None:
        return await devices.pin_port_key(org_id, visited, key)
