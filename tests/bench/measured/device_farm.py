"""Simulated switches as a process of their own.

`python -m tests.bench.measured.device_farm <count> <prefix> [<interfaces> <latency in ms>]` prints their
names and ports as one JSON object.
"""

import asyncio
import sys
from contextlib import AsyncExitStack

import asyncssh

from netautod.testing import SimulatedDevice
from netautod.testing.devices.ios import ios_config
from tests.bench.measuring.children import parent_gone, say

USERNAME, PASSWORD = "backup", "simulated-password"


async def main(count: int, prefix: str, interfaces: int = 24, latency_ms: int = 0) -> None:
    host_key = asyncssh.generate_private_key("ssh-ed25519")
    async with AsyncExitStack() as stack:
        devices = [
            await stack.enter_async_context(
                SimulatedDevice(
                    hostname=f"{prefix}{number}",
                    username=USERNAME,
                    password=PASSWORD,
                    host_key=host_key,
                    config=ios_config(f"{prefix}{number}", interfaces),
                    latency=latency_ms / 1000,
                )
            )
            for number in range(count)
        ]
        say({device.hostname: device.port for device in devices})
        await parent_gone()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])))
