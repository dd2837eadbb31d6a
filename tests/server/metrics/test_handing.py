"""The pages of workers on their way to the supervisor: one that is broken takes none of the others along."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from netautod.core.metrics import Metrics
from netautod.server import supervisor
from netautod.server.metrics.listener import END, handed_page, handing_page
from netautod.server.metrics.page import page_of, page_of_workers

WHOLE = page_of(Metrics())


async def whole() -> bytes:
    return WHOLE


async def raising() -> bytes:
    raise RuntimeError("a test")


async def empty() -> bytes:
    return b""


@asynccontextmanager
async def cut_off(path: Path, page: bytes) -> AsyncIterator[None]:
    """A worker that dies while it writes."""

    async def hand(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(page)
        writer.close()

    async with await asyncio.start_unix_server(hand, path):
        yield


def up(page: bytes) -> dict[str, float]:
    """By worker."""
    families = {family.name: family for family in text_string_to_metric_families(page.decode())}
    return {one.labels["worker"]: one.value for one in families["netautod_worker_up"].samples}


def told_by(page: bytes) -> set[str]:
    """The workers with a series of their own."""
    families = list(text_string_to_metric_families(page.decode()))
    return {
        one.labels["worker"]
        for family in families
        for one in family.samples
        if family.name != "netautod_worker_up"
    }


async def merged(folder: Path) -> bytes:
    return await supervisor._page([folder / "0", folder / "1"])


@pytest.mark.parametrize("broken", [raising, empty])
async def test_a_worker_without_a_page_is_down(
    tmp_path: Path, broken: Callable[[], Awaitable[bytes]]
) -> None:
    async with handing_page(tmp_path / "0", whole), handing_page(tmp_path / "1", broken):
        page = await merged(tmp_path)
    assert (up(page), told_by(page)) == ({"0": 1, "1": 0}, {"0"})


@pytest.mark.parametrize(
    "handed",
    [
        pytest.param(WHOLE[: len(WHOLE) // 2], id="in its middle"),
        pytest.param(WHOLE[: WHOLE.rindex(b"\n", 0, -1) + 1], id="behind a line"),
        pytest.param(WHOLE, id="before its end"),
        pytest.param('a{b="ü'.encode()[:-1], id="in a letter"),
        pytest.param(b"", id="before it began"),
    ],
)
async def test_a_page_that_was_cut_off_is_none(tmp_path: Path, handed: bytes) -> None:
    async with handing_page(tmp_path / "0", whole), cut_off(tmp_path / "1", handed):
        page = await merged(tmp_path)
    assert (up(page), told_by(page)) == ({"0": 1, "1": 0}, {"0"})


@pytest.mark.parametrize("page", ['netautod_a{b="c', "netautod_a one", "# TYPE netautod_a", "?"])
def test_a_page_that_is_none_leaves_the_others(page: str) -> None:
    found = page_of_workers({"0": WHOLE.decode(), "1": WHOLE.decode() + page})
    assert (up(found), told_by(found)) == ({"0": 1, "1": 0}, {"0"})


async def test_what_is_handed_over_is_the_page(tmp_path: Path) -> None:
    async with handing_page(tmp_path / "0", whole):
        assert await handed_page(tmp_path / "0") == (WHOLE + END).decode()
    assert await handed_page(tmp_path / "1") is None


async def test_the_loop_goes_on_while_pages_are_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = list[threading.Thread]()

    def slow(pages: Mapping[str, str | None]) -> bytes:
        threads.append(threading.current_thread())
        return page_of_workers(pages)

    monkeypatch.setattr(supervisor, "page_of_workers", slow)
    await merged(tmp_path)
    assert threads[0] is not threading.current_thread()
