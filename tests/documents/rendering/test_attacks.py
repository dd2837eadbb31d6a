"""The corpus of attacks: each fails, in 3 seconds at most, and the service hardly notices."""

import asyncio
from pathlib import Path

import pytest

from netautod.documents.rendering.pool import RenderPool
from tests.documents.rendering.attacks import CORPUS
from tests.support.calibration import slowness
from tests.support.loop_watch import watched

STALL_MILLISECONDS = 20
MEMORY_BYTES = 16 * 1024 * 1024


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_the_corpus_is_large_enough() -> None:
    assert len(CORPUS) >= 100


@pytest.mark.parametrize("template", CORPUS)
async def test_an_attack_fails(renderer: RenderPool, template: str) -> None:
    before = resident()
    async with watched() as watch:
        rendered = await renderer.render(template, {"dunder": "__class__"})
    grown = resident() - before
    assert (rendered.success, rendered.output) == (False, "")
    assert rendered.error
    assert watch.busy < STALL_MILLISECONDS * slowness()
    assert grown < MEMORY_BYTES


async def test_an_output_of_exactly_1_mib_is_fine(renderer: RenderPool) -> None:
    async with watched() as watch:
        rendered = await renderer.render("{{ 'x' * 2**20 }}", {})
    assert rendered.output == "x" * 2**20
    assert watch.busy < STALL_MILLISECONDS * slowness()


async def test_honest_renders_go_on_beside_bombs(renderer: RenderPool) -> None:
    bomb = asyncio.create_task(
        renderer.render("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", {})
    )
    honest = [await renderer.render("{{ n }}", {"n": n}) for n in range(20)]
    assert not bomb.done()
    assert [one.output for one in honest] == [str(n) for n in range(20)]
    assert not (await bomb).success
