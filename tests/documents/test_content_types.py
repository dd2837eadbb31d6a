"""Plugins that check contents in their own time: other requests do not wait for them."""

import asyncio
import threading

import pytest

from netautod.core.errors import InvalidInput, Unavailable
from netautod.documents.content_types import AT_ONCE, ContentTypes
from netautod.plugin_api import ContentType


class Held:
    """A check that waits until it is released."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def check(self, text: str) -> None:
        self.go.wait()
        if text == "bad":
            raise ValueError("it is bad")


@pytest.fixture
def held() -> Held:
    return Held()


async def test_a_check_that_hangs_is_given_up_and_threads_do_not_add_up(held: Held) -> None:
    of_plugins = {
        "slow": ContentType(name="slow", description="s", check=held.check),
        "other": ContentType(name="other", description="o", check=lambda text: None),
    }
    types = ContentTypes(of_plugins, seconds=0.05)
    before = threading.active_count()
    try:
        for _ in range(AT_ONCE):
            with pytest.raises(Unavailable, match="takes too long"):
                await types.check("slow", "good")
        with pytest.raises(Unavailable, match="Too many contents of the type slow"):
            await types.check("slow", "good")
        assert threading.active_count() == before + AT_ONCE
        await types.check("other", "x")
    finally:
        held.go.set()


async def test_what_it_says_is_one_line_and_short(held: Held) -> None:
    def check(text: str) -> None:
        raise ValueError("two\nlines " + "x" * 1000)

    types = ContentTypes({"lab": ContentType(name="lab", description="l", check=check)})
    with pytest.raises(InvalidInput) as caught:
        await types.check("lab", "x")
    assert caught.value.text.startswith("content: Not valid lab: two lines xxx")
    assert len(caught.value.text) < 600
    held.go.set()


@pytest.mark.parametrize(
    "raised", [SystemExit(1), KeyboardInterrupt(), StopIteration(), asyncio.CancelledError()]
)
async def test_a_check_cannot_end_more_than_itself(raised: BaseException) -> None:
    def check(text: str) -> None:
        raise raised

    types = ContentTypes({"lab": ContentType(name="lab", description="l", check=check)})
    with pytest.raises(RuntimeError, match=f"it raised {type(raised).__name__}"):
        await types.check("lab", "x")


async def test_the_thread_is_free_again_after_each_call() -> None:
    types = ContentTypes({"lab": ContentType(name="lab", description="l", check=lambda text: None)})
    for _ in range(AT_ONCE * 3):
        await types.check("lab", "x")
