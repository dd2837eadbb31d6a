"""HTTP load over keep-alive connections, as a process of its own with raw sockets.

`python -m tests.bench.measuring.load <url> <connections> <seconds> [header ...]` sends GET after GET, each
connection the next one when the answer is complete, and prints one JSON line.
"""

import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

from tests.bench.measuring.children import say
from tests.bench.measuring.report import ROOT, BenchmarkError

HEAD_END = b"\r\n\r\n"
FINISH_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Load:
    """What came back: only answers with status 200 count; `bytes` is the size of one body."""

    requests: int
    seconds: float
    bytes: int

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds


async def run_load(url: str, *, connections: int, seconds: float, headers: Sequence[str] = ()) -> Load:
    """Runs the process. Raises BenchmarkError if any answer is not a 200."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.bench.measuring.load",
        url,
        str(connections),
        str(seconds),
        *headers,
        stdout=PIPE,
        cwd=ROOT,
    )
    out, _ = await process.communicate()
    if process.returncode != 0:
        raise BenchmarkError(f"the load on {urlsplit(url).path} ended with exit code {process.returncode}")
    return Load(**json.loads(out))


class Connection(asyncio.Protocol):
    """One connection; `done` is set with an exception when an answer is not what it should be."""

    def __init__(self, request: bytes, done: asyncio.Future[None]) -> None:
        self._request = request
        self._done = done
        self._buffer = bytearray()
        self._wanted: int | None = None
        self._body = 0
        self._last = False
        self.answers = 0
        self.body_size = 0
        self.idle = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._wanted is None and not self._read_head():
            return
        if self._wanted is None or len(self._buffer) < self._wanted:
            return
        self.answers += 1
        self.body_size = self._body
        self._buffer.clear()
        self._wanted = None
        if self._last:
            self.idle.set()
        else:
            self._transport.write(self._request)

    def finish(self) -> None:
        """Sends nothing more; `idle` is set when the answer that is under way has come."""
        self._last = True

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(f"the server closed the connection: {exc}")

    def _read_head(self) -> bool:
        end = self._buffer.find(HEAD_END)
        if end < 0:
            return False
        head = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
        if " 200 " not in head[0]:
            self._fail(head[0])
            return False
        lengths = [line.partition(":")[2] for line in head if line.lower().startswith("content-length:")]
        self._body = int(lengths[0])
        self._wanted = end + len(HEAD_END) + self._body
        return True

    def _fail(self, reason: str) -> None:
        if not self._done.done():
            self._done.set_exception(BenchmarkError(reason))


async def main(url: str, connections: int, seconds: float, headers: Sequence[str]) -> None:
    split = urlsplit(url)
    assert split.hostname is not None
    assert split.port is not None
    host, port = split.hostname, split.port
    target = f"{split.path}?{split.query}" if split.query else split.path
    lines = [f"GET {target} HTTP/1.1", f"Host: {split.netloc}", *headers, "", ""]
    request = "\r\n".join(lines).encode()
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    started = time.perf_counter()
    made = [
        (await loop.create_connection(lambda: Connection(request, done), host, port))[1]
        for _ in range(connections)
    ]
    try:
        async with asyncio.timeout(seconds):
            await done
    except TimeoutError:
        took = time.perf_counter() - started
        answers = sum(connection.answers for connection in made)
        # Cut off in the middle, the server would log errors that are ours.
        for connection in made:
            connection.finish()
        async with asyncio.timeout(FINISH_SECONDS):
            await asyncio.gather(*(connection.idle.wait() for connection in made))
        say(asdict(Load(requests=answers, seconds=took, bytes=made[0].body_size)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]))
