"""Text workers: what they compute, and what happens when they die, take too long or nobody waits for them."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest

from netautod.core.errors import InvalidInput, Unavailable
from netautod.network.configs.texts.line_pattern import LineQuery
from netautod.network.configs.texts.packing import packed, quickly_packed
from netautod.network.configs.texts.tokens import SecretForm
from netautod.network.configs.workers.pool import TextWorker, TextWorkers, Turn
from netautod.network.configs.workers.redacted_texts import RedactedTexts
from netautod.transport.ssh.platform.registry import PlatformRegistry

PLATFORMS = PlatformRegistry()
QUICK = ["a\n", "b\n"]


@pytest.fixture
async def worker() -> AsyncIterator[TextWorker]:
    made = TextWorker(PLATFORMS, cache_bytes=1 << 20)
    yield made
    await made.stop()


async def compare(turn: Turn, texts: list[str]) -> tuple[bool, int]:
    identical, found = await turn.ask(
        "compare",
        packed=[packed(text) for text in texts],
        device_types=["cisco_ios"] * 2,
        names=["old", "new"],
        secrets=SecretForm(key=b"k" * 32),
        rules=(),
        context=3,
        columns=False,
    )
    return identical, found.additions


async def test_one_process_serves_many_turns(worker: TextWorker) -> None:
    assert worker.pid is None
    pids: set[int | None] = set()
    for texts, expected in ((QUICK, (False, 1)), (["a\n", "a\n"], (True, 0))):
        async with worker.turn() as turn:
            assert await compare(turn, texts) == expected
        pids.add(worker.pid)
    assert len(pids) == 1


async def test_what_the_worker_refuses_is_the_callers_mistake_and_costs_no_process(
    worker: TextWorker,
) -> None:
    with pytest.raises(InvalidInput, match="regex: missing"):
        async with worker.turn() as turn:
            await turn.ask("prepare", wanted=LineQuery(text="(", is_pattern=True), keys=[])
    pid = worker.pid
    async with worker.turn() as turn:
        await compare(turn, QUICK)
    assert worker.pid == pid is not None


@pytest.mark.slow
async def test_a_request_that_takes_too_long_is_killed_and_the_next_one_served() -> None:
    workers = TextWorkers(PLATFORMS, cache_bytes=0, seconds=5)
    async with workers:
        worker = workers.comparing
        async with worker.turn() as turn:
            await compare(turn, QUICK)
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGSTOP)  # it never answers, however fast the machine is
        with pytest.raises(Unavailable, match="longer than 5 s"):
            async with worker.turn() as turn:
                await compare(turn, QUICK)
        assert worker.pid is None
        async with worker.turn() as turn:
            assert await compare(turn, QUICK) == (False, 1)
    assert worker.pid is None


async def test_a_cancelled_request_does_not_leave_its_answer_to_the_next_one(worker: TextWorker) -> None:
    async def ask(texts: list[str]) -> tuple[bool, int]:
        async with worker.turn() as turn:
            asked.set()
            return await compare(turn, texts)

    asked = asyncio.Event()
    cancelled = asyncio.create_task(ask(["a\n" * 9, "b\n" * 9]))
    await asked.wait()
    cancelled.cancel()
    assert await ask(QUICK) == (False, 1)
    with pytest.raises(asyncio.CancelledError):
        await cancelled


def learned(texts: RedactedTexts, *names: str) -> list[str]:
    """Prepares these texts; answers those that had to be brought."""
    keys = [("o", "d", name) for name in names]
    missing = texts.prepare(LineQuery(text="a", is_pattern=False), keys)
    texts.learn([(key, packed(f"a {key[2]}\n")) for key in missing])
    return [key[2] for key in missing]


def test_the_texts_used_last_stay_within_the_room() -> None:
    size = len(quickly_packed("a 1\n"))
    texts = RedactedTexts(PLATFORMS, capacity=2 * size)
    assert learned(texts, "1", "2") == ["1", "2"]
    assert learned(texts, "1") == []
    assert learned(texts, "3") == ["3"]
    assert learned(texts, "1", "3") == []
    assert learned(texts, "2") == ["2"]


def test_texts_of_organizations_and_devices_are_kept_apart() -> None:
    texts = RedactedTexts(PLATFORMS, capacity=1 << 20)
    learned(texts, "1")
    others = [("another", "d", "1"), ("o", "another", "1")]
    assert texts.prepare(LineQuery(text="a", is_pattern=False), others) == others
