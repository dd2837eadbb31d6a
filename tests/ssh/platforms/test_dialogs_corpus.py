"""Odd and hostile dialogs on every platform, put together from named forms: each ends as its row says."""

import asyncio
from collections.abc import Sequence

import asyncssh
import pytest

from tests.support.dialogs import Dialog, dialogs, play

_ALL = list(dialogs())
_STEP = 41  # the default run plays each so many one; prime to the number of texts, so that it has them all
_AT_ONCE = 12


async def wrong_ends(rows: Sequence[Dialog]) -> list[str]:
    """Those that end in another way, or do harm."""
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
@pytest.mark.parametrize("platform", sorted({one.fixture.platform for one in _ALL}))
async def test_all_of_them(platform: str) -> None:
    assert await wrong_ends([one for one in _ALL if one.fixture.platform == platform]) == []
