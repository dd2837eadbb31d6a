"""A bare Tornado handler with the find and the count of the device list: what the API is measured against.

`python -m tests.bench.measured.bare_tornado <uri> <database> <organization>` serves `GET /` and prints its
port.
"""

import asyncio
import json
import sys
from datetime import datetime
from typing import Any

from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorCollection
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from netautod.devices.documents import ITEM_FIELDS
from netautod.devices.queries import LIVE
from tests.bench.measuring.children import parent_gone, say

LIMIT = 50


class Devices(RequestHandler):
    """No authentication, no validation, no models: the documents as they are."""

    devices: AsyncIOMotorCollection[dict[str, Any]]
    wanted: dict[str, Any]

    def initialize(self, devices: AsyncIOMotorCollection[dict[str, Any]], wanted: dict[str, Any]) -> None:
        self.devices = devices
        self.wanted = wanted

    async def get(self) -> None:
        cursor = self.devices.find(self.wanted, ITEM_FIELDS, sort=[("name", 1)], limit=LIMIT)
        found = await cursor.to_list(None)
        total = await self.devices.count_documents(self.wanted)
        answer = {"devices": found, "total": total, "limit": LIMIT, "offset": 0}
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(answer, separators=(",", ":"), default=datetime.isoformat))


async def main(uri: str, name: str, org_id: str) -> None:
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(uri, tz_aware=True)
    services = {"devices": client[name]["devices"], "wanted": {**LIVE, "org_id": org_id}}
    server = HTTPServer(Application([("/", Devices, services)]))
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    say(sockets[0].getsockname()[1])
    await parent_gone()
    server.stop()
    await server.close_all_connections()
    client.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
