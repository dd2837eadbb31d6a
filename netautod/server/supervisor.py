"""`netautod serve --workers N`: N equal processes on one listening socket that is handed down to them.

The socket is bound once: with SO_REUSEPORT the kernel would reset the connections that wait in the queue
of a worker that stops. A worker that dies is started again; what it ran is taken over by the others.
"""

import asyncio
import logging
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from netautod.assembly.installation import open_installation
from netautod.assembly.settings import Settings
from netautod.core.loop.ioloop import use_monotonic_time
from netautod.plugin_host.offers.services import STEP_SECONDS
from netautod.server import server
from netautod.server.listening import StartError, bind
from netautod.server.metrics.listener import handed_page, serving_page
from netautod.server.metrics.page import page_of_workers
from netautod.server.server import ServiceState
from netautod.server.watch import systemd

logger = logging.getLogger(__name__)
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
STEADY_SECONDS = 60.0
FAILED_STARTS = 3
RELOAD_SECONDS = 15.0
STOP_MARGIN = 15.0
STOP = b"stop\n"
READY, RELOADED = b"netautod ready", server.RELOADED.encode()  # lines of a worker


class Worker:
    """A child process; `ready` is set whenever it serves, `_reloaded` when it has read everything anew.

    `served` is set once any worker has served: before, one that keeps ending calls `give_up` with the reason.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: dict[str, str],
        descriptor: int,
        *,
        served: asyncio.Event,
        give_up: Callable[[str], None],
    ) -> None:
        self._command = command
        self._environment = environment
        self._descriptor = descriptor
        self._served = served
        self._give_up = give_up
        self._process: Process | None = None
        self._restarts = 0
        self.ready = asyncio.Event()
        self._reloaded = asyncio.Event()

    async def keep_running(self) -> None:
        """Start it again whenever it ends, sooner or later depending on how long it lived."""
        pause = FIRST_PAUSE
        loop = asyncio.get_running_loop()
        while True:
            started_at = loop.time()
            code = await self._run_once()
            self._restarts += 1
            if self._restarts >= FAILED_STARTS and not self._served.is_set():
                times = self._restarts
                self._give_up(f"the workers cannot start: one has ended with code {code} {times} times")
                return
            if loop.time() - started_at > STEADY_SECONDS:
                pause = FIRST_PAUSE
            logger.error("a worker ended with code %d; starting it again in %g s", code, pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _run_once(self) -> int:
        # The pipe at its stdin tells the worker of our death, whatever kills us.
        process = await asyncio.create_subprocess_exec(
            *self._command,
            *("--restarts", str(self._restarts)),
            stdin=PIPE,
            stdout=PIPE,
            env=self._environment,
            pass_fds=(self._descriptor,),
        )
        self._process = process
        assert process.stdout is not None
        async for line in process.stdout:
            if line.startswith(READY):
                self.ready.set()
                self._served.set()
            if line.startswith((READY, RELOADED)):
                self._reloaded.set()
        self.ready.clear()
        self._reloaded.set()  # the one that is started in its place reads everything
        return await process.wait()

    async def reload(self) -> None:
        """Reload it and wait until it has; one that starts reads everything anyway."""
        if self.ready.is_set() and self._process is not None:
            self._reloaded.clear()
            self._process.send_signal(signal.SIGHUP)
            try:
                async with asyncio.timeout(RELOAD_SECONDS):
                    await self._reloaded.wait()
            except TimeoutError:
                logger.error("a worker has not reloaded within %g s", RELOAD_SECONDS)

    async def stop(self, seconds: float) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.write(STOP)  # before the signal: a worker that stops alone takes no connections
        process.terminate()
        try:
            async with asyncio.timeout(seconds):
                await process.wait()
        except TimeoutError:
            logger.error("a worker does not stop and is killed")
            process.kill()
            await process.wait()


async def supervise(
    settings: Settings,
    *,
    workers: int,
    with_demo: bool,
    arguments: Sequence[str],
    out: Callable[[str], None],
) -> None:
    """Run the workers until SIGTERM or SIGINT. `arguments`: the flags that the workers get too."""
    state = ServiceState()
    use_monotonic_time()
    server.stop_on_signals(state)
    async with AsyncExitStack() as stack:
        listener = bind(settings)
        stack.callback(listener.close)
        database, uri = await stack.enter_async_context(server.open_database(settings, state))
        async with open_installation(settings, database, busy=systemd.StartExtension()) as installation:
            password = installation.initial_password
        command = [sys.executable, "-m", "netautod", "serve", *arguments]
        command += ["--worker-fd", str(listener.fileno())]
        sockets = _metrics_sockets(settings, workers, stack)
        environment, served = {**os.environ, "NETAUTOD_MONGODB_URI": uri}, asyncio.Event()
        children = [
            Worker(
                [
                    *command,
                    *(["--demo"] if with_demo and number == 0 else []),
                    *(["--metrics-socket", str(sockets[number])] if sockets else []),
                ],
                environment,
                listener.fileno(),
                served=served,
                give_up=state.fail,
            )
            for number in range(workers)
        ]
        await stack.enter_async_context(serving_page(settings, partial(_page, sockets)))
        runs = [asyncio.create_task(child.keep_running()) for child in children]
        ready = asyncio.create_task(_all_ready(children))
        stopping = asyncio.create_task(state.stop.wait())
        alive = asyncio.create_task(_say_alive())
        server.on_hangup(state, partial(_reload, children, asyncio.Lock()))
        try:
            await asyncio.wait({ready, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if ready.done():
                server.announce(settings, server.url_of(settings, listener), password, out)
                systemd.notify(systemd.READY)
            await stopping
            systemd.notify(systemd.STOPPING)
        finally:
            for task in (*runs, ready, stopping, alive):
                task.cancel()
            await asyncio.gather(*runs, ready, stopping, alive, return_exceptions=True)
            limit = settings.server.drain_seconds + STEP_SECONDS + STOP_MARGIN
            await asyncio.gather(*(child.stop(limit) for child in children))
    if state.failure is not None:
        raise StartError(state.failure)


async def _all_ready(children: Sequence[Worker]) -> None:
    for child in children:
        await child.ready.wait()


def _metrics_sockets(settings: Settings, workers: int, stack: AsyncExitStack) -> list[Path]:
    """Return where each worker hands its metrics to us; none without a page of metrics."""
    if not settings.metrics.port:
        return []
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="netautod-")))  # mode 700
    return [folder / str(number) for number in range(workers)]


async def _page(sockets: Sequence[Path]) -> bytes:
    pages = await asyncio.gather(*(handed_page(socket) for socket in sockets))
    by_number = {str(number): page for number, page in enumerate(pages)}
    return await asyncio.to_thread(page_of_workers, by_number)


async def _reload(children: Sequence[Worker], one_at_a_time: asyncio.Lock) -> None:
    async with one_at_a_time:
        systemd.notify(systemd.reloading())
        await asyncio.gather(*(child.reload() for child in children))
        systemd.notify(systemd.READY)


async def _say_alive() -> None:
    """Notify systemd that this process lives: a worker whose loop is held up is given up by its watcher."""
    seconds = systemd.watchdog_seconds()
    while seconds is not None:
        systemd.notify(systemd.ALIVE)
        await asyncio.sleep(seconds)
