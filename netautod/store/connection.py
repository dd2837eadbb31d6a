"""The connection of the service to its database: the options of the driver, and the threads of its calls."""

from typing import cast

from motor.core import AgnosticClient
from motor.frameworks import asyncio as asyncio_framework
from motor.metaprogramming import create_class_with_framework
from motor.motor_asyncio import AsyncIOMotorClient

from netautod.core.metrics import Metrics
from netautod.core.work.deadlines import BULK_SECONDS, REQUEST_SECONDS
from netautod.store.client import Database, Document
from netautod.store.disk_room import Room
from netautod.store.driver.calls import AWAITING_THREADS, LEASE_THREADS, Calls, LaneFramework
from netautod.store.driver.commands import CommandTimes

APP_NAME = "netautod"
MONITOR_SECONDS = 2
SELECTION_SECONDS = 15

_Client = cast(
    type[AsyncIOMotorClient[Document]],
    create_class_with_framework(AgnosticClient, LaneFramework(asyncio_framework), "motor.motor_asyncio"),
)


def connect(
    uri: str,
    name: str,
    *,
    timeout_seconds: float = REQUEST_SECONDS,
    pool: int = 100,
    room: Room | None = None,
    metrics: Metrics | None = None,
    app_name: str = APP_NAME,
) -> Database:
    """Return a database; the first call opens the connection. `timeout_seconds` is how long a request waits
    for it in all.

    With `metrics` the commands, the failures and the waits for threads are counted. `app_name` is what the
    server calls the connections by.
    """
    client = _Client(
        uri,
        tz_aware=True,
        # What has no limit of its own: bulk work sits an election out.
        serverSelectionTimeoutMS=SELECTION_SECONDS * 1000,
        socketTimeoutMS=int(BULK_SECONDS * 1000),
        # A server that hangs is given up after both: then calls that wait for it are cut off and look for
        # the new primary. The driver's own 10 s and 20 s are as long as a whole election.
        heartbeatFrequencyMS=MONITOR_SECONDS * 1000,
        connectTimeoutMS=MONITOR_SECONDS * 1000,
        maxPoolSize=pool + LEASE_THREADS + AWAITING_THREADS,
        retryWrites=True,
        w="majority",
        journal=True,
        appname=app_name,
        event_listeners=[] if metrics is None else [CommandTimes(metrics)],
    )
    return Database(client, name, calls=Calls(seconds=timeout_seconds, pool=pool, metrics=metrics), room=room)
