"""Clients that send all of a body but its end, so that the service has to keep what it got."""

import asyncio
from pathlib import Path

from tests.attacks.attackers.raw import Answer, RawClient, raw

PIECE = b" " * (1024 * 1024)


async def hoard(url: str, count: int, head: bytes, mib: int) -> list[Answer]:
    """So many requests with such bodies at once; their ends are sent when all else of all has been."""
    arrived = asyncio.Barrier(count)
    return await asyncio.gather(*(_one(url, head, mib, arrived) for _ in range(count)))


async def _one(url: str, head: bytes, mib: int, arrived: asyncio.Barrier) -> Answer:
    async with raw(url) as client:
        client.send(head + b"Content-Length: %d\r\n\r\n" % (mib * len(PIECE)))
        for number in range(mib):
            await _sent(client, PIECE[number == mib - 1 :])
        await arrived.wait()
        client.send(PIECE[:1])
        return await client.answer()


async def _sent(client: RawClient, data: bytes) -> None:
    client.send(data)
    await client.sent()


def peak_mib(pid: int) -> int:
    """The most memory that the process has had so far."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    (found,) = (line for line in lines if line.startswith("VmHWM"))
    return int(found.split()[1]) // 1024
