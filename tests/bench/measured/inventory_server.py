"""A replaying NetBox with a generated fleet as a process of its own; prints its address.

`python -m tests.bench.measured.inventory_server <devices> <milliseconds of a device>`
"""

import asyncio
import sys

from tests.bench.measuring.children import parent_gone, say
from tests.support.servers.netbox import NetBoxReplay, generated_devices


async def main(devices: int, milliseconds: float) -> None:
    server = NetBoxReplay(generated_devices(devices))
    server.device_seconds = milliseconds / 1000
    say(server.url)
    await parent_gone()
    server.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
