"""Asks for one path again and again, and tells how long the answers took.

`python -m tests.bench.measuring.pings <url> [<milliseconds>]` prints `true` when it begins, asks every 10 ms
(or so many) until its stdin closes, and prints the milliseconds of all answers as one JSON list. It asks at
its times whether earlier answers have come or not, over as many connections as that takes: a client that
waits for each answer counts a pause of the server once, however many it would have kept waiting.
"""

import asyncio
import sys
import time
from asyncio import StreamReader, StreamWriter
from urllib.parse import urlsplit

from tests.bench.measuring.children import parent_gone, say

PAUSE_MS = 10


Connection = tuple[StreamReader, StreamWriter]


async def ask(reader: StreamReader, writer: StreamWriter, request: bytes) -> float:
    """Milliseconds until the answer."""
    began = time.perf_counter()
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(int(length.partition(b":")[2]))
    if b" 200 " not in head.partition(b"\r\n")[0]:
        raise SystemExit(head.decode())
    return (time.perf_counter() - began) * 1000


async def main(url: str, pause_ms: int = PAUSE_MS) -> None:
    split = urlsplit(url)
    request = f"GET {split.path} HTTP/1.1\r\nHost: {split.netloc}\r\n\r\n".encode()
    free: list[Connection] = [await asyncio.open_connection(split.hostname, split.port)]
    took: list[float] = []

    async def one() -> None:
        connection = free.pop() if free else await asyncio.open_connection(split.hostname, split.port)
        took.append(await ask(*connection, request))
        free.append(connection)

    async def forever() -> None:
        due = time.perf_counter()
        async with asyncio.TaskGroup() as asking:
            while True:
                asking.create_task(one())
                due += pause_ms / 1000
                await asyncio.sleep(max(0.0, due - time.perf_counter()))

    asking = asyncio.create_task(forever())
    say(True)
    stopped = asyncio.create_task(parent_gone())
    await asyncio.wait([asking, stopped], return_when=asyncio.FIRST_COMPLETED)
    asking.cancel()
    say(took)
    for _, writer in free:
        writer.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
