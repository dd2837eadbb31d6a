"""The reader of bodies: small ones here, large ones in children that are started anew when they are lost."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest

from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.json.values import encode
from netautod.http.bodies.reader import MOST_WAITING, SMALL_BYTES, SMALL_VALUES, BodyReader, is_small

LARGE = encode({"text": "x" * SMALL_BYTES})


@pytest.fixture
async def bodies() -> AsyncIterator[BodyReader]:
    async with BodyReader(children=1) as made:
        yield made


@pytest.mark.parametrize(
    ("body", "small"),
    [
        pytest.param(b"{}", True, id="an empty object"),
        pytest.param(encode([1] * SMALL_VALUES), True, id="as many values as are small"),
        pytest.param(encode([1] * (SMALL_VALUES + 1)), False, id="one more"),
        pytest.param(b" " * SMALL_BYTES, True, id="as many bytes as are small"),
        pytest.param(b" " * SMALL_BYTES + b"1", False, id="one byte more"),
    ],
)
def test_what_is_small(body: bytes, small: bool) -> None:
    assert (SMALL_BYTES, SMALL_VALUES) == (262_144, 4000)
    assert is_small(body) is small


async def test_small_bodies_start_no_child(bodies: BodyReader) -> None:
    assert await bodies.value_of(b'{"a":1}') == {"a": 1}
    assert not bodies.pids


async def test_a_child_reads_one_large_body_after_the_other(bodies: BodyReader) -> None:
    assert await bodies.value_of(LARGE) == {"text": "x" * SMALL_BYTES}
    pids = bodies.pids
    with pytest.raises(InvalidInput, match="not valid JSON"):
        await bodies.value_of(LARGE[:-1])
    with pytest.raises(InvalidInput, match=r"a\[9000\]: NUL is not allowed"):
        await bodies.value_of(encode({"a": ["x"] * 9000 + ["\x00"]}))
    assert await bodies.value_of(LARGE) == {"text": "x" * SMALL_BYTES}
    assert bodies.pids == pids


async def test_a_child_that_dies_is_replaced(bodies: BodyReader) -> None:
    await bodies.value_of(LARGE)
    (pid,) = bodies.pids
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(Unavailable, match="died"):
        await bodies.value_of(LARGE)
    assert await bodies.value_of(LARGE)
    assert pid not in bodies.pids


async def test_a_request_that_is_cancelled_leaves_no_half_read_answer(bodies: BodyReader) -> None:
    await bodies.value_of(LARGE)
    reading = asyncio.create_task(bodies.value_of(LARGE))
    await asyncio.sleep(0)  # it has written to the child, and waits
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    assert not bodies.pids
    assert await bodies.value_of(encode([2] * (SMALL_VALUES + 1))) == [2] * (SMALL_VALUES + 1)


async def test_a_child_that_takes_too_long_is_killed() -> None:
    async with BodyReader(children=1) as bodies:
        await bodies.value_of(LARGE)
        (pid,) = bodies.pids
        os.kill(pid, signal.SIGSTOP)
        bodies.seconds = 0.01
        with pytest.raises(Unavailable, match="took too long"):
            await bodies.value_of(LARGE)
        assert not bodies.pids


async def test_a_crowd_is_turned_away(bodies: BodyReader) -> None:
    reading = [asyncio.create_task(bodies.value_of(LARGE)) for _ in range(MOST_WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(Unavailable, match="Too many large bodies"):
        await bodies.value_of(LARGE)
    assert len(await asyncio.gather(*reading)) == MOST_WAITING
