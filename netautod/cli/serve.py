"""The command `netautod serve`: one process of the service, or several on one listening socket."""

import argparse
import asyncio
import logging
import os
import signal
import socket
from collections.abc import Coroutine
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from netautod.assembly.configuration import Configuration
from netautod.automation.executions.abandoned.watched import Watched
from netautod.cli.output import say
from netautod.cli.parsing import SETTINGS_FLAGS, Commands
from netautod.cli.risks import refuse
from netautod.core.errors import InvalidInput, NetautodError
from netautod.core.logs import setup as logs
from netautod.core.settings.field import SettingsError
from netautod.http.settings import ServerSettings
from netautod.server.listening import bind
from netautod.server.watch import systemd
from netautod.server.watch.parent import Parent

logger = logging.getLogger(__name__)
MOST_WORKERS = 64
# A process is given up before another node can take over what it runs.
LEASE_SHARE = 2 / 3


def add(commands: Commands) -> None:
    parser = commands.add("serve", run, "run the service")
    parser.add_argument("--host", help="address to listen on")
    parser.add_argument("--port", type=int, help="TCP port; 0 picks a free one")
    parser.add_argument("--demo", action="store_true", help="add two simulated switches and a backup task")
    parser.add_argument(
        "--workers", type=_workers, default=1, metavar="N", help="equal processes on one socket"
    )
    parser.add_argument("--worker-fd", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--metrics-socket", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--restarts", type=int, default=0, help=argparse.SUPPRESS)


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    try:
        return _run(parsed, configuration)
    except NetautodError as error:
        if configuration.settings.log.format != "json":
            raise
        logger.critical("%s", error.text)  # a program reads every line, the last one above all
        return 2 if isinstance(error, InvalidInput | SettingsError) else 1


def _run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    if not os.isatty(0):  # at a terminal it says that the terminal is gone
        signal.signal(signal.SIGHUP, _nothing_to_reload)
    refuse(configuration.risks)
    configuration.settings.telemetry.require_installed()
    if parsed.worker_fd is None:  # the supervisor of workers has said it
        for risk in configuration.risks.warned:
            logger.warning("insecure setting: %s", risk)
    if parsed.workers == 1:
        return _serve_watched(parsed, configuration)
    from netautod.server import supervisor

    asyncio.run(
        _counting(
            supervisor.supervise(
                configuration.settings,
                workers=parsed.workers,
                with_demo=parsed.demo,
                arguments=_given_flags(parsed),
                out=_out,
            )
        )
    )
    return 0


def _nothing_to_reload(number: int, frame: object) -> None:
    """Ignore the signal until there is something to reload; it must not end the process."""


async def _counting(work: Coroutine[Any, Any, None]) -> None:
    """Do the work of the service, and report meanwhile how often lines of the log have been repeated."""
    reporting = asyncio.create_task(logs.report_counts_forever(), name="counts of repeated lines")
    try:
        await work
    finally:
        reporting.cancel()
        await asyncio.gather(reporting, return_exceptions=True)


def _serve_watched(parsed: argparse.Namespace, configuration: Configuration) -> int:
    """Serve by one process of the service, and watch it by another."""
    settings, shared = configuration.settings, parsed.worker_fd is not None
    # The socket is the watching process's: clients wait while the other one is started again.
    listener = socket.socket(fileno=parsed.worker_fd) if shared else bind(settings)

    def serve(watched: Watched) -> int:
        # Not before the fork: the process that watches would hold 50 MB that it never uses.
        from netautod.server import server

        serving = server.serve(
            configuration,
            with_demo=parsed.demo,
            out=_out,
            listener=listener,
            watched=watched,
            shared=shared,
            metrics_socket=parsed.metrics_socket,
        )
        with asyncio.Runner(loop_factory=partial(_loop, settings.server)) as runner:
            runner.run(_counting(serving))
        return 0

    lease = settings.executions.lease_seconds
    return Parent(
        serve,
        give_up_seconds=min(settings.server.max_stall_seconds, LEASE_SHARE * lease),
        notify=(lambda _: None) if shared else systemd.notify,
        watchdog_seconds=None if shared else systemd.watchdog_seconds(),
        restarts=parsed.restarts,
    ).run()


def _loop(settings: ServerSettings) -> asyncio.AbstractEventLoop:
    if not settings.uvloop or find_spec("uvloop") is None:
        from netautod.core.watch.loop import WatchedLoop

        return WatchedLoop()
    from netautod.core.watch.uv_loop import WatchedUvLoop

    return WatchedUvLoop()


def _out(line: str) -> None:
    say(line)


def _given_flags(parsed: argparse.Namespace) -> list[str]:
    """Return the arguments with which the workers read the same settings."""
    return [
        word
        for name in ("config", *SETTINGS_FLAGS)
        if (value := getattr(parsed, name, None)) is not None
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]


def _workers(text: str) -> int:
    number = int(text)
    if not 1 <= number <= MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"must be 1 to {MOST_WORKERS}")
    return number
