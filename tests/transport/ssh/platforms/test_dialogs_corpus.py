"""Odd and hostile dialogs on every platform, put together from named forms: each ends as its row says."""

import asyncio
from collections.abc import Sequence

import asyncssh
import pytest

from tests.support.dialogs import Dialog, dialogs, play

_ALL = list(dialogs())
# Each so many one is played, by default and with the slow tests; prime to the number of texts, so that all of
# them are met. All at once take minutes: for those who change the engine, with a step of 1.
_STEP, _SLOW_STEP = 41, 7
_AT_ONCE = 12


async def wrong_ends(rows: Sequence[Dialog]) -> list[str]:
    """Return the dialogs that end in another way, or do harm."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    turn = asyncio.Semaphore(_AT_ONCE)

    async def problem(dialog: Dialog) -> str:
        async with turn:
            found = await play(dialog, key)
        harm = found.harm()
        if found.end in dialog.text["ends"] and not harm:
            return ""
        return f"{dialog}, but it ended {found.end} {found.said[-200:]!r} {harm}"

    return [text for text in await asyncio.gather(*map(problem, rows)) if text]


async def test_a_sample_of_them() -> None:
    assert await wrong_ends(_ALL[::_STEP]) == []


@pytest.mark.slow
@pytest.mark.parametrize("offset", range(2))
async def test_many_of_them(offset: int) -> None:
    assert await wrong_ends(_ALL[offset :: 2 * _SLOW_STEP]) == []
