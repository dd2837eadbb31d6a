"""Makes our own mongod keep its past for as long as it is read, which it does not do otherwise.

The time grows with the work. If we are killed, it stays at what it was by then, plus a minute, until the next
backup ends or the mongod is started again: that costs room for what is changed meanwhile, and nothing else.
"""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from netautod.core.errors import Conflict
from netautod.store.driver.failures import translated
from netautod.store.embedded.files import explained
from netautod.store.embedded.life import HISTORY_PARAMETER, HISTORY_SECONDS
from netautod.store.raw.connecting import raw_client

logger = logging.getLogger(__name__)
MARGIN_SECONDS = 60
_EVERY_SECONDS = 10.0


@contextmanager
def kept_history(uri: str, data_dir: Path) -> Iterator[None]:
    """Keep readable, until the end of the block, what exists at its beginning.

    Raises Conflict while another process does the same: the first to end would take the past away from both.
    """
    with _alone(data_dir), raw_client(uri) as client:
        began, stop = time.monotonic(), threading.Event()

        def keep() -> None:
            elapsed = time.monotonic() - began
            _set(client, int(elapsed) + MARGIN_SECONDS)

        def go_on() -> None:
            while not stop.wait(_EVERY_SECONDS):
                try:
                    keep()
                except PyMongoError as error:  # the reading will notice, too
                    logger.debug("the past of the database cannot be kept: %s", error)

        with translated(writing=False):
            keep()
        thread = threading.Thread(target=go_on, name="kept history", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            with suppress(PyMongoError):  # a mongod that has ended has forgotten it
                _set(client, HISTORY_SECONDS)


def _set(client: MongoClient[Any], seconds: int) -> None:
    client.admin.command({"setParameter": 1, HISTORY_PARAMETER: seconds})


@contextmanager
def _alone(data_dir: Path) -> Iterator[None]:
    # The folder itself is locked: a file that root makes here would be in the way of the service's own user.
    with explained(data_dir):
        descriptor = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(f"Another backup of {data_dir} is under way") from error
        yield
    finally:
        os.close(descriptor)
