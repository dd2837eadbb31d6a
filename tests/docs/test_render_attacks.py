"""The corpus of attacks: each fails, in 3 seconds at most, and the service hardly notices."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from netautod.docs.rendering.pool import RenderPool
from tests.docs.attacks import CORPUS

WALL_SECONDS = 3.0
STALL_SECONDS = 0.020
MEMORY_BYTES = 16 * 1024 * 1024
# What this test's own machine may add: waiting for a core after the child was killed.
TOLERANCE = 0.5


@dataclass(kw_only=True)
class Watch:
    """The longest that the loop's thread computed without a pause; waiting for a busy core is not counted."""

    stall: float = 0.0
    grown: int = 0


@asynccontextmanager
async def watched() -> AsyncIterator[Watch]:
    watch = Watch()

    async def tick() -> None:
        last = time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            watch.stall = max(watch.stall, now - last)
            last = now

    before = resident()
    ticking = asyncio.create_task(tick())
    try:
        yield watch
    finally:
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)
        watch.grown = resident() - before


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_the_corpus_is_large_enough() -> None:
    assert len(CORPUS) >= 100


@pytest.mark.parametrize("template", CORPUS)
async def test_an_attack_fails(renderer: RenderPool, template: str) -> None:
    async with watched() as watch:
        began = time.monotonic()
        rendered = await renderer.render(template, {"dunder": "__class__"})
        took = time.monotonic() - began
    assert (rendered.success, rendered.output) == (False, "")
    assert rendered.error
    assert took < WALL_SECONDS + TOLERANCE
    assert watch.stall < STALL_SECONDS
    assert watch.grown < MEMORY_BYTES


async def test_an_output_of_exactly_1_mib_is_fine(renderer: RenderPool) -> None:
    async with watched() as watch:
        rendered = await renderer.render("{{ 'x' * 2**20 }}", {})
    assert rendered.output == "x" * 2**20
    assert watch.stall < STALL_SECONDS


async def test_honest_renders_go_on_beside_bombs(renderer: RenderPool) -> None:
    bomb = asyncio.create_task(
        renderer.render("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", {})
    )
    honest = [await renderer.render("{{ n }}", {"n": n}) for n in range(20)]
    assert not bomb.done()
    assert [one.output for one in honest] == [str(n) for n in range(20)]
    assert not (await bomb).success
