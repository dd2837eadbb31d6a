"""The gate of logins: a few at once, a bounded number of waiting ones, and places that come back."""

import asyncio

import pytest

from netautod.core.errors import Unavailable
from netautod.identity.auth.lockout.login_gate import LoginGate


async def test_logins_go_on_a_few_at_a_time_and_in_their_order() -> None:
    gate, inside, order = LoginGate(at_once=2), 0, []

    async def log_in(number: int) -> None:
        nonlocal inside
        async with gate.turn():
            inside += 1
            assert inside <= 2
            order.append(number)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(log_in(number) for number in range(20)))
    assert order == list(range(20))


async def test_one_too_many_is_answered_to_come_again() -> None:
    gate, leave = LoginGate(at_once=1, waiting=1), asyncio.Event()

    async def log_in() -> None:
        async with gate.turn():
            await leave.wait()

    tasks = [asyncio.create_task(log_in()) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(Unavailable, match="Too many logins"):
        await log_in()
    tasks[1].cancel()  # a login that gives up while it waits leaves its place to the next one
    await asyncio.gather(tasks[1], return_exceptions=True)
    third = asyncio.create_task(log_in())
    await asyncio.sleep(0)
    leave.set()
    await asyncio.gather(tasks[0], third)
