"""A service of this machine that nobody outside should find: it counts who connects."""

import asyncio
from typing import Self


class Listening:
    """On all addresses and one free port, from `async with` to its end; says nothing to anybody."""

    def __init__(self) -> None:
        self.connections = 0
        self.port = 0
        self._servers: list[asyncio.Server] = []

    async def __aenter__(self) -> Self:
        for host in ("0.0.0.0", "::"):
            server = await asyncio.start_server(self._connected, host, self.port)
            self.port = server.sockets[0].getsockname()[1]
            self._servers.append(server)
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()
            await server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.close()
