"""The whole service in one process with a probe of its event loop, for benchmarks over HTTP.

`python -m tests.bench.measured.probed_service <uri> <folder>` prints its URL. Beside the API: `GET
/bench/bare` for everybody, `GET /bench/guarded` for `devices.access`, and `GET /bench/stalls`, which answers
by how many milliseconds the loop was late since the last asking, in ticks of one millisecond; `GET
/bench/worked_stalls` leaves out the time in which the process waited for a processor or a disk.
"""

import asyncio
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

from netautod.assembly.build import build
from netautod.assembly.configuration import Configuration
from netautod.assembly.installation import open_installation
from netautod.assembly.settings import Settings, table
from netautod.automation.executions.abandoned.watched import Watched
from netautod.core.errors import Unavailable
from netautod.core.loop.garbage import LOOK_SECONDS, frozen_heap
from netautod.http.access import public, requires
from netautod.http.handler import JsonHandler
from netautod.http.settings import LimitSettings
from netautod.http.status.health import Health
from netautod.identity.auth.settings import AuthSettings
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.store.connection import connect
from netautod.store.leases.periodic import Periodic
from tests.bench.measuring.children import parent_gone, say
from tests.support.serving import serve_application

PASSWORD = "a password for the benchmark"
DATABASE = "auth"
TICK = 0.001
NEVER = 1_000_000


class Bare(JsonHandler):
    @public()
    async def get(self) -> None:
        """What a handler without authentication costs."""
        self.answer({"ok": True})


class Guarded(JsonHandler):
    @requires("devices.access")
    async def get(self) -> None:
        """The same with token, session and permission checked."""
        self.answer({"ok": True})


class Stalls(JsonHandler):
    late: list[float]

    @public()
    async def get(self) -> None:
        """How late the loop was."""
        found = list(self.late)
        self.late.clear()
        self.answer(found)


async def probe(late: list[float], worked: list[float]) -> None:
    """`worked`: the part of the lateness in which a processor was really at work for this process."""
    loop = asyncio.get_running_loop()
    while True:
        due, spent = loop.time() + TICK, time.process_time()
        await asyncio.sleep(TICK)
        lateness = max(0.0, loop.time() - due)
        late.append(lateness * 1000)
        worked.append(min(lateness, time.process_time() - spent) * 1000)


async def main(uri: str, folder: str) -> None:
    settings = Settings(
        data_dir=Path(folder),
        admin_password=PASSWORD,
        limits=LimitSettings(requests_per_second=0, anonymous_per_second=0),
        auth=AuthSettings(lockout_failures=NEVER),
    )
    database = connect(uri, DATABASE)

    async def health() -> Health:
        try:
            return "ok" if (await database.hello())["isWritablePrimary"] else "unavailable"
        except Unavailable:
            return "unavailable"

    late: list[float] = []
    worked: list[float] = []
    async with AsyncExitStack() as stack:
        installation = await stack.enter_async_context(open_installation(settings, database))
        configuration = Configuration(settings=settings, plugins=LoadedPlugins.load(table()))
        service = await stack.enter_async_context(build(configuration, installation, health, Watched()))
        routes = [
            (r"/bench/bare", Bare),
            (r"/bench/guarded", Guarded),
            (r"/bench/stalls", Stalls, {"late": late}),
            (r"/bench/worked_stalls", Stalls, {"late": worked}),
        ]
        service.application.add_handlers(".*", routes)  # type: ignore[arg-type]
        server, url = serve_application(service.application)
        garbage = stack.enter_context(frozen_heap())
        await stack.enter_async_context(Periodic(garbage.look, name="garbage", seconds=LOOK_SECONDS))
        probing = asyncio.create_task(probe(late, worked))
        say(url)
        await parent_gone()
        probing.cancel()
        server.stop()
        await server.close_all_connections()
    database.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
