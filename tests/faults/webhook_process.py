"""A node of webhooks as a process: `python -m tests.faults.webhook_process URI DATABASE FOLDER`.

The folder has the root key. It prints a line when it is ready, and goes on until it is killed.
"""

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from netautod.core.metrics import Metrics
from netautod.store.connection import connect
from tests.activity.webhooks.conftest import QUICK, node_of
from tests.support.installation import open_installation


async def deliver(uri: str, name: str, folder: Path) -> None:
    database = connect(uri, name)
    async with AsyncExitStack() as stack:
        installation = await open_installation(database, folder)
        parts = await node_of(installation, stack, Metrics(), QUICK)
        for part in (installation.stores.subscriptions, parts.dispatcher, parts.relay):
            await stack.enter_async_context(part)
        print("ready", flush=True)  # noqa: T201  # whoever started us waits for it
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(deliver(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
