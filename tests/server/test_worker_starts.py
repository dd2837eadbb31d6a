"""Workers that cannot start, as the process that supervises them sees it."""

import asyncio
import sys

import pytest

from netautod.server import supervisor
from netautod.server.supervisor import FAILED_STARTS, Worker

FAILS = "raise SystemExit(3)"


@pytest.fixture
def reasons(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(supervisor, "FIRST_PAUSE", 0.01)
    return []


def worker(code: str, served: asyncio.Event, reasons: list[str]) -> Worker:
    return Worker([sys.executable, "-c", code], {}, 0, served=served, give_up=reasons.append)


async def test_one_that_keeps_ending_before_any_has_served_ends_the_service(reasons: list[str]) -> None:
    await worker(FAILS, asyncio.Event(), reasons).keep_running()
    assert reasons == [f"the workers cannot start: one has ended with code 3 {FAILED_STARTS} times"]


async def test_once_one_has_served_it_is_started_again_and_again(
    reasons: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    marks = tmp_path_factory.mktemp("starts") / "marks"
    code = f"open({str(marks)!r}, 'a').write('x'); {FAILS}"
    served = asyncio.Event()
    served.set()
    running = asyncio.create_task(worker(code, served, reasons).keep_running())
    while not marks.exists() or len(marks.read_text()) <= FAILED_STARTS:
        await asyncio.sleep(0.02)
        assert not running.done()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert reasons == []
