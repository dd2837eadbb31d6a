"""What keeps a run from repeating refused logins: with one credential, and through one jump device."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from netautod.network.devices.sessions.login_limits import MOST_REFUSALS, CredentialGate, JumpGates
from netautod.transport.ssh.failures import DeviceFailed

HOP: Any = SimpleNamespace(device=SimpleNamespace(id="1", name="jump"))


class Logins:
    """Three logins through one jump device; `inside` are those that have begun."""

    def __init__(self) -> None:
        self.gates = JumpGates()
        self.inside: list[int] = []
        self.ends = [asyncio.get_running_loop().create_future() for _ in range(3)]
        self.tasks = [asyncio.create_task(self._log_in(number)) for number in range(3)]

    async def _log_in(self, number: int) -> None:
        async with self.gates.through([HOP]):
            self.inside.append(number)
            await self.ends[number]

    async def under_way(self) -> list[int]:
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
async def test_one_goes_first_and_all_follow(failure: DeviceFailed | None) -> None:
    logins = Logins()
    assert await logins.under_way() == [0]
    if failure is None:
        logins.ends[0].set_result(None)
    else:
        logins.ends[0].set_exception(failure)
    assert await logins.under_way() == [0, 1, 2]
    assert await logins.leave() == [failure, None, None]


async def test_after_a_refusal_nobody_follows() -> None:
    logins = Logins()
    await logins.under_way()
    logins.ends[0].set_exception(DeviceFailed("refused", kind="auth", hop="jump"))
    assert await logins.under_way() == [0]
    failures = (await logins.leave())[1:]
    assert [str(failure) for failure in failures] == [
        "not visited: the jump device jump refused its login"
    ] * 2


async def test_a_cancelled_login_opens_nothing() -> None:
    logins = Logins()
    await logins.under_way()
    logins.tasks[0].cancel()
    assert await logins.under_way() == [0, 1]
    await logins.leave()


async def test_a_gate_opens_with_each_login_that_is_not_refused() -> None:
    gate = CredentialGate("c")
    for _ in range(MOST_REFUSALS):
        await gate.begin()
    sixth = asyncio.create_task(gate.begin())
    await asyncio.sleep(0)
    assert not sixth.done()
    gate.end(accepted=True, refused=False)
    await asyncio.wait_for(sixth, 1)
    await gate.begin()
    for _ in range(MOST_REFUSALS - 1):
        gate.end(accepted=False, refused=True)
    gate.end(accepted=True, refused=False)  # not in a row any more
    await gate.begin()
    for _ in range(MOST_REFUSALS):
        gate.end(accepted=False, refused=True)
    with pytest.raises(DeviceFailed, match="5 logins in a row"):
        await gate.begin()
