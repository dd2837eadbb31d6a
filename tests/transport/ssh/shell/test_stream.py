"""The data that comes in the same turn of the loop in which a quiet period ends: the device was not
silent.
"""

import asyncio
from collections.abc import Callable

import pytest

from netautod.core.work.guard import no_guard
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.shell.conversation import Conversation
from netautod.transport.ssh.shell.question import DialogSteps
from netautod.transport.ssh.shell.shell import Shell
from netautod.transport.ssh.shell.stream import ByteStream
from netautod.transport.ssh.target import SessionLimits

_NO_TIME = SessionLimits(quiet_seconds=0.0)  # each period ends in the turn of the loop in which it begins
_QUESTION = b"\r\nUser Access Verification\r\n\r\nPassword: "


class Answering(ByteStream):
    """A stream that answers each line in the next turn of the loop."""

    def __init__(self, answers: dict[str, bytes]) -> None:
        super().__init__(guard=no_guard, limit=1000)
        self._answers = answers
        self.sent: list[str] = []

    @property
    def is_open(self) -> bool:
        return True

    def abort(self) -> None:
        self.ended = True

    def _send(self, data: bytes) -> None:
        line = data.decode().rstrip("\r\n")
        self.sent.append(line)
        asyncio.get_running_loop().call_soon(self.received, self._answers[line])


@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(lambda stream: stream.received(b"x"), id="a byte"),
        pytest.param(lambda stream: stream.received(b"x", errors=True), id="a byte of the error stream"),
        pytest.param(lambda stream: stream.closed(None), id="the end"),
    ],
)
async def test_it_is_news(happens: Callable[[ByteStream], None]) -> None:
    stream = Answering({})
    waiting = asyncio.ensure_future(stream.news(within=0.0))
    asyncio.get_running_loop().call_soon(happens, stream)
    assert await waiting
    assert not await stream.news(within=0.0)


async def test_a_question_that_comes_then_is_answered(platforms: PlatformRegistry) -> None:
    stream = Answering({"once": b"\r\nfrr1> ", "": b"\r\nfrr1> "})
    shell = Shell(stream, platforms.get("frr"), _NO_TIME)
    starting = asyncio.ensure_future(shell.start(username="netops", password="once", seconds=10.0))
    asyncio.get_running_loop().call_soon(stream.received, _QUESTION)
    await starting
    assert (shell.prompt, stream.sent) == ("frr1>", ["once", ""])


@pytest.mark.parametrize("line", [b"\r\nfrr1> ", b"\r\nfrr1"])
async def test_a_prompt_that_comes_as_the_time_ends_is_one(line: bytes, platforms: PlatformRegistry) -> None:
    stream, frr = Answering({}), platforms.get("frr")
    steps = DialogSteps(Conversation(stream, frr, SessionLimits()), frr, seconds=lambda: 0.0)
    waiting = asyncio.ensure_future(steps.answer("after the login", lambda _: False))
    asyncio.get_running_loop().call_soon(stream.received, line)
    if line.endswith(b"> "):
        await waiting
    else:
        with pytest.raises(DeviceFailed, match=r"no prompt within 0 s after the login \(6 bytes came\)"):
            await waiting
