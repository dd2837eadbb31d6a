"""Simulated switches as a process of their own.

`python -m tests.bench.device_farm <count> <prefix>` prints their names and ports as one JSON object.
"""

import asyncio
import sys
from contextlib import AsyncExitStack

import asyncssh

from netautod.testing import SimulatedDevice
from tests.bench.children import parent_gone, say

USERNAME, PASSWORD = "backup", "simulated-password"


async def main(count: int, prefix: str) -> None:
    host_key = asyncssh.generate_private_key("ssh-ed25519")
    async with AsyncExitStack() as stack:
        devices = [
            await stack.enter_async_context(
                SimulatedDevice(
                    hostname=f"{prefix}{number}", username=USERNAME, password=PASSWORD, host_key=host_key
                )
            )
            for number in range(count)
        ]
        say({device.hostname: device.port for device in devices})
        await parent_gone()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
