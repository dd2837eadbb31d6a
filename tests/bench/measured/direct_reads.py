"""Bare asyncssh reads of the running-config: what a backup costs without a product around it."""

import asyncio
import resource
import sys
import time
from collections.abc import Iterable

import asyncssh

from tests.bench.measured.device_farm import PASSWORD, USERNAME
from tests.bench.measuring.children import say

COMMANDS = "terminal length 0\nshow running-config\nexit\n"


async def main(at_once: int, ports: Iterable[int]) -> None:
    """Logs in to each device, reads until it hangs up, keeps nothing; says what that took."""
    slots = asyncio.Semaphore(at_once)

    async def read(port: int) -> None:
        async with (
            slots,
            asyncssh.connect(
                "127.0.0.1",
                port,
                config=None,
                known_hosts=None,
                client_keys=None,
                agent_path=None,
                username=USERNAME,
                password=PASSWORD,
            ) as connection,
            connection.create_process(term_type="vt100") as shell,
        ):
            shell.stdin.write(COMMANDS)
            text = await shell.stdout.read()
            assert "\nend" in text, text

    started = time.perf_counter()
    await asyncio.gather(*(read(port) for port in ports))
    seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_SELF)
    say({"seconds": seconds, "cpu_seconds": used.ru_utime + used.ru_stime})


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), [int(port) for port in sys.argv[2:]]))
