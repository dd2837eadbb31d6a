"""The reading of a simulated device by a platform file as the service does it, for the tests of platforms."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from netautod.network.configs.texts.normalise import normalise
from netautod.testing.devices.device import SimulatedDevice
from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.encoding import encoding_of, readable
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import CliSession, open_session
from netautod.transport.ssh.target import Login, SessionLimits, Target

_KEY = b"netautod.testing".ljust(32)  # tokens differ from those of every organization
_LIMITS = SessionLimits(prompt_seconds=5, command_seconds=5, capture_seconds=5, quiet_seconds=0.2)


@dataclass(frozen=True, kw_only=True)
class DeviceReading:
    """A reading of a device. `text` is what was captured, `notes` are sentences on what was left out.

    `compared` is the text that shows whether a device changed: without noise, each secret a token. `shown` is
    the text for people who may not see secrets.
    """

    text: str
    notes: tuple[str, ...]
    compared: str
    shown: str


async def read_device(
    device: SimulatedDevice, platform_file: Path, *, enable_secret: str | None = None
) -> DeviceReading:
    """Log in with the password of the device and capture what the platform file says.

    InvalidInput for a faulty file; DeviceFailed with its `kind` for a capture that the service would refuse.
    """
    async with opened_device(device, platform_file, enable_secret=enable_secret) as session:
        return await reading_of(session)


@asynccontextmanager
async def opened_device(
    device: SimulatedDevice, platform_file: Path | None, *, enable_secret: str | None
) -> AsyncIterator[CliSession]:
    """Open a session by the platform of the file, or by the product's platform of the device's name."""
    platforms = PlatformRegistry()
    platform = (
        platforms.get(device.platform)
        if platform_file is None
        else platforms.register(platform_file, override=True)
    )
    login = Login(username=device.username, password=device.password, enable_secret=enable_secret)
    target = Target(host=device.host, port=device.port, platform=platform)
    async with open_session(target, login, limits=_LIMITS) as session:
        yield session


async def reading_of(session: CliSession) -> DeviceReading:
    platform = session.platform
    found = await capture(session)
    encoding = encoding_of(found.raw)
    return DeviceReading(
        text=readable(found.raw),
        notes=found.notes,
        compared=readable(normalise(found.raw, platform, _KEY), encoding),
        shown=readable(redact(found.raw, platform), encoding),
    )
