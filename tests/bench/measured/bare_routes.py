"""Bare Tornado handlers for the ten most used routes: what the API is measured against.

Each reads the documents that the route shows and counts those that it counts, and writes them as they are: no
authentication, no validation, no models, no limits.

`python -m tests.bench.measured.bare_routes <driver> <uri> <database> <organization> <device> <task>
<execution> <user>` serves `GET /<name of the route>` and prints its port. The driver is one of
`drivers.DRIVERS`.
"""

import base64
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import uvloop
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from netautod.automation.executions.store import LIST_FIELDS
from netautod.network.configs.backups.queries import facts_fields
from netautod.network.devices.models import DeviceFilter
from netautod.network.devices.records.documents import ITEM_FIELDS
from netautod.network.devices.records.queries import LIVE, best_index
from tests.bench.measured.drivers import DRIVERS, Driver
from tests.bench.measuring.children import parent_gone, say

LIMIT = 50
Raw = dict[str, Any]


@dataclass(frozen=True)
class Bare:
    driver: Driver
    org: str
    device_id: str
    task_id: str
    execution_id: str
    user_id: str

    async def devices(self) -> Any:
        return await self._page("devices", LIVE, [("name", 1)], ITEM_FIELDS, best_index(DeviceFilter()))

    async def device(self) -> Any:
        return await self._one("devices", {"_id": self.device_id, **LIVE})

    async def backups(self) -> Any:
        fields = {**ITEM_FIELDS, **facts_fields()}
        page = await self._page("devices", LIVE, [("name", 1)], fields, best_index(DeviceFilter()))
        ids = [row["_id"] for row in page["items"]]
        newest: list[Raw] = [
            {"$match": {"org_id": self.org, "device_id": {"$in": ids}}},
            {"$sort": {"device_id": -1, "version": -1}},
            {"$group": {"_id": "$device_id", "row": {"$first": "$$ROOT"}}},
        ]
        page["configs"] = await self.driver.aggregate("configs", newest)
        return page

    async def config(self) -> Any:
        config = await self.driver.find_one(
            "configs", {"org_id": self.org, "device_id": self.device_id}, sort=[("version", -1)]
        )
        assert config is not None
        return [
            config,
            await self._one("devices", {"_id": self.device_id, **LIVE}),
            await self._one("config_texts", {"_id": config["text_id"]}),
            await self._one("backup_facts", {"_id": self.device_id}),
        ]

    async def schedules(self) -> Any:
        return await self._page("tasks", {}, [("name", 1), ("_id", 1)])

    async def schedule(self) -> Any:
        return await self._one("tasks", {"_id": self.task_id})

    async def executions(self) -> Any:
        return await self._page("executions", {}, [("created_at", -1), ("_id", 1)], LIST_FIELDS)

    async def execution(self) -> Any:
        results = {"execution_id": self.execution_id}
        return [
            await self._one("executions", {"_id": self.execution_id}),
            await self.me(),
            await self._page("execution_results", results, [("_id", 1)]),
        ]

    async def docs(self) -> Any:
        return await self._find("documents", {"deleted_at": None}, [("category", 1), ("name", 1), ("_id", 1)])

    async def me(self) -> Any:
        roles = {"from": "roles", "localField": "role_ids", "foreignField": "_id", "as": "roles"}
        wanted = [{"$match": {"_id": self.user_id}}, {"$lookup": roles}]
        return await self.driver.aggregate("users", wanted)

    async def _one(self, name: str, where: Raw) -> Any:
        return await self.driver.find_one(name, {"org_id": self.org, **where})

    async def _find(self, name: str, where: Raw, sort: Any = None) -> list[Raw]:
        return await self.driver.find(name, {"org_id": self.org, **where}, sort=sort)

    async def _page(self, name: str, where: Raw, sort: Any, fields: Any = None, hint: Any = None) -> Raw:
        wanted = {"org_id": self.org, **where}
        found = await self.driver.find(name, wanted, fields, sort=sort, limit=LIMIT, hint=hint)
        counted: dict[str, Any] = {} if hint is None else {"hint": hint}
        total = await self.driver.count(name, wanted, **counted)
        return {"items": found, "total": total, "limit": LIMIT, "offset": 0}


class Route(RequestHandler):
    def initialize(self, read: Callable[[], Awaitable[Any]]) -> None:
        self.read = read

    async def get(self) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(await self.read(), separators=(",", ":"), default=_text))


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else base64.b64encode(bytes(value)).decode()  # type: ignore[call-overload]


async def main(kind: str, uri: str, name: str, *ids: str) -> None:
    driver = DRIVERS[kind](uri, name)
    bare = Bare(driver, *ids)
    names = [name for name in vars(Bare) if not name.startswith("_") and callable(getattr(Bare, name))]
    server = HTTPServer(Application([(f"/{name}", Route, {"read": getattr(bare, name)}) for name in names]))
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    say(sockets[0].getsockname()[1])
    await parent_gone()
    server.stop()
    await server.close_all_connections()
    await driver.close()


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
