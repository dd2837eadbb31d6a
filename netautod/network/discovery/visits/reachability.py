"""The reachability of a device: whether its own port accepts a connection, and how long that takes; no
privilege is needed.
"""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass

from netautod.network.devices.models import Device
from netautod.network.devices.sessions.target_addresses import DeviceReach
from netautod.transport.ssh.connection.connect import network_problem
from netautod.transport.ssh.failures import DeviceFailed

PROBE_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A result of a probe. `failed`: why there was no connection, None if there was one. `latency_ms`: until
    it stood.
    """

    failed: DeviceFailed | None = None
    latency_ms: float | None = None


async def probe(device: Device, reach: DeviceReach, *, seconds: float = PROBE_SECONDS) -> Probe:
    """Connect to the port and hang up; each address of the name is tried until one answers.

    Raises DeviceFailed `address` for an address that may not be connected to.
    """
    allowed = reach.to(vouched=device.vouched, allowed_hosts=(), jumps=False)
    failure: OSError | UnicodeError = OSError("the name has no address")
    try:
        async with asyncio.timeout(seconds):
            for address in await allowed(device.host, device.port):
                began = time.monotonic()
                try:
                    _, writer = await asyncio.open_connection(address, device.port)
                except OSError as exc:
                    failure = exc
                    continue
                latency = (time.monotonic() - began) * 1000
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
                return Probe(latency_ms=round(latency, 3))
    except TimeoutError:
        text = f"port {device.port} does not answer within {seconds:g} s"
        return Probe(failed=DeviceFailed(text, kind="timeout"))
    except DeviceFailed:
        raise
    except (OSError, UnicodeError) as exc:
        failure = exc
    kind, text = network_problem(failure, service=device.protocol.upper())
    return Probe(failed=DeviceFailed(f"port {device.port}: {text}", kind=kind))
