"""Asks for one path again and again on one connection, and tells how long the answers took.

`python -m tests.bench.measuring.pings <url> [<milliseconds>]` prints `true` when it begins, asks every 10 ms
(or so many) until its stdin closes, and prints the milliseconds of all answers as one JSON list.
"""

import asyncio
import sys
import time
from asyncio import StreamReader, StreamWriter
from urllib.parse import urlsplit

from tests.bench.measuring.children import parent_gone, say

PAUSE_MS = 10


async def ask(reader: StreamReader, writer: StreamWriter, request: bytes) -> float:
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
    reader, writer = await asyncio.open_connection(split.hostname, split.port)
    request = f"GET {split.path} HTTP/1.1\r\nHost: {split.netloc}\r\n\r\n".encode()
    took: list[float] = []

    async def forever() -> None:
        while True:
            took.append(await ask(reader, writer, request))
            await asyncio.sleep(pause_ms / 1000)

    asking = asyncio.create_task(forever())
    say(True)
    stopped = asyncio.create_task(parent_gone())
    await asyncio.wait([asking, stopped], return_when=asyncio.FIRST_COMPLETED)
    asking.cancel()
    say(took)
    writer.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
