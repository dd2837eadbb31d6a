"""A bare Tornado handler with the find of the device list: what the API is measured against.

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
from netautod.devices.models import DeviceFilter
from netautod.devices.queries import LIVE, best_index
from tests.bench.measuring.children import parent_gone, say

LIMIT = 50


class Devices(RequestHandler):
    """No authentication, no validation, no models: the documents as they are.

    `total` was counted at the start: the service keeps its totals too, and nothing changes here.
    """

    devices: AsyncIOMotorCollection[dict[str, Any]]
    wanted: dict[str, Any]
    total: int

    def initialize(
        self, devices: AsyncIOMotorCollection[dict[str, Any]], wanted: dict[str, Any], total: int
    ) -> None:
        self.devices = devices
        self.wanted = wanted
        self.total = total

    async def get(self) -> None:
        cursor = self.devices.find(
            self.wanted, ITEM_FIELDS, sort=[("name", 1)], limit=LIMIT, hint=best_index(DeviceFilter())
        )
        found = await cursor.to_list(None)
        answer = {"devices": found, "total": self.total, "limit": LIMIT, "offset": 0}
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(answer, separators=(",", ":"), default=datetime.isoformat))


async def main(uri: str, name: str, org_id: str) -> None:
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(uri, tz_aware=True)
    devices, wanted = client[name]["devices"], {**LIVE, "org_id": org_id}
    total = await devices.count_documents(wanted)
    services = {"devices": devices, "wanted": wanted, "total": total}
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
