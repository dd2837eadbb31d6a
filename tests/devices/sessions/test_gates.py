"""Who may log in to a jump device of a run while nobody knows yet whether it lets us through."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from netautod.devices.sessions.gates import JumpGates
from netautod.ssh.failures import DeviceFailed

HOP: Any = SimpleNamespace(device=SimpleNamespace(id="1", name="jump"))


class Knocking:
    """Three logins through one jump device; `inside` is who is at it."""

    def __init__(self) -> None:
        self.gates = JumpGates()
        self.inside: list[int] = []
        self.ends = [asyncio.get_running_loop().create_future() for _ in range(3)]
        self.tasks = [asyncio.create_task(self._knock(number)) for number in range(3)]

    async def _knock(self, number: int) -> None:
        async with self.gates.through([HOP]):
            self.inside.append(number)
            await self.ends[number]

    async def settle(self) -> list[int]:
        for _ in range(20):
            await asyncio.sleep(0)
        return self.inside

    async def leave(self) -> list[BaseException | None]:
        for end in self.ends:
            if not end.done():
                end.set_result(None)
        return await asyncio.gather(*self.tasks, return_exceptions=True)


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(None, id="it lets us through"),
        pytest.param(DeviceFailed("no login", kind="timeout", hop="jump"), id="it is away"),
        pytest.param(DeviceFailed("refused", kind="auth"), id="the device behind it refuses"),
    ],
)
async def test_one_knocks_and_all_follow(failure: DeviceFailed | None) -> None:
    knocking = Knocking()
    assert await knocking.settle() == [0]
    if failure is None:
        knocking.ends[0].set_result(None)
    else:
        knocking.ends[0].set_exception(failure)
    assert await knocking.settle() == [0, 1, 2]
    assert await knocking.leave() == [failure, None, None]


async def test_after_a_refusal_nobody_knocks() -> None:
    knocking = Knocking()
    await knocking.settle()
    knocking.ends[0].set_exception(DeviceFailed("refused", kind="auth", hop="jump"))
    assert await knocking.settle() == [0]
    failures = (await knocking.leave())[1:]
    assert [str(failure) for failure in failures] == [
        "not visited: the jump device jump refused its login"
    ] * 2


async def test_one_who_is_cancelled_found_out_nothing() -> None:
    knocking = Knocking()
    await knocking.settle()
    knocking.tasks[0].cancel()
    assert await knocking.settle() == [0, 1]
    await knocking.leave()
