"""A plugin for tests of the console: runs that write what a test says, when it says so, and runs that ask."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from marshmallow import Schema

from netautod.plugin_api import Executor, NeedsApproval, RunContext, hookimpl

END = "the end"
LOOK_SECONDS = 0.05


class Writes:
    """Logs the lines of a file as they are added to it, up to the line END."""

    task_type: ClassVar[str] = "writes"
    parameters_schema: ClassVar[type[Schema] | None] = None
    idempotent: ClassVar[bool] = True

    async def run(self, context: RunContext) -> Any:
        path, done = Path(context.parameters["file"]), 0
        while True:
            lines = (await asyncio.to_thread(path.read_text)).splitlines()
            for line in lines[done:]:
                if line == END:
                    return {"lines": done}
                await context.log("info", line)
                done += 1
            await context.progress(done, done + 1)
            await asyncio.sleep(LOOK_SECONDS)


class Asks:
    """Waits for the approval of the lines in its parameters, then says what was decided."""

    task_type: ClassVar[str] = "asks"
    parameters_schema: ClassVar[type[Schema] | None] = None
    idempotent: ClassVar[bool] = True

    async def run(self, context: RunContext) -> Any:
        if context.approval is None:
            raise NeedsApproval(dict(context.parameters))
        decided = context.approval
        await context.log("info", f"{decided.decision} by {decided.by}: {decided.comment}")
        return {"decision": decided.decision, "comment": decided.comment}


@hookimpl
def netautod_register_executors(register: Callable[[Executor], None]) -> None:
    register(Writes())
    register(Asks())
