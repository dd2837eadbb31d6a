"""A rendering child as the service sees it: started, used, and killed with all of its forks."""

from netautod.core.loop.child_process import ChildLostError, ChildProcess
from netautod.documents.rendering.protocol import (
    ANSWER_HEADER,
    MAX_ANSWER,
    OUTPUT,
    READY,
    answer_head,
    request_frame,
)


class RenderProcess:
    """A child, started by `await RenderProcess.start()`; it serves one request at a time."""

    def __init__(self, child: ChildProcess) -> None:
        self._child = child

    @property
    def pid(self) -> int:
        return self._child.pid

    @classmethod
    async def start(cls) -> "RenderProcess":
        """Start a warm child. Raises ChildLostError."""
        name = "a rendering child"
        return cls(
            await ChildProcess.start(
                "netautod.documents.rendering.child", name=name, ready=READY, buffer=2 * MAX_ANSWER
            )
        )

    async def render(self, template: bytes, variables: bytes) -> tuple[bool, str]:
        """Return whether it worked, and the output or the error. The caller bounds the time, and kills."""
        await self._child.write(request_frame(template, variables))
        try:
            status, length = answer_head(await self._child.read(ANSWER_HEADER))
        except ValueError as error:
            raise ChildLostError(str(error)) from error
        text = (await self._child.read(length)).decode("utf-8", "replace")
        return status == OUTPUT, text

    async def kill(self) -> None:
        """Kill the child and a running render; returns when it is gone."""
        await self._child.kill()
