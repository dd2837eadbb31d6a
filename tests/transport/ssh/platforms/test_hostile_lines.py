"""Lines made to keep a pattern busy: the time that a platform takes grows with the line, no faster."""

import time
from itertools import product

import pytest

from netautod.network.configs.texts.normalise import normalise
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.platform.registry import PlatformRegistry

_REGISTRY = PlatformRegistry()
# One piece of what is looked at together, where a pattern that backtracks shows best; and a line of several.
_PIECE_OF_A_LINE, _LONG_LINE = 4_000, 12_000
# Eight times the line takes eight times as long, where a pattern backtracks 64 times or for ever, less what
# all other patterns take.
_LONGER, _TIMES = 8, 18
_MEASURABLE_SECONDS = 0.003  # what takes less is quick, and too little to be compared
_PIECES = [" ", "0", '"', "a ", "x:", "set x ENC ", 'admin="" ', "<key>", "x\\"]
# Words that announce secrets cost the same on all platforms, and as much as is ever looked at.
_WORDS = ["password ", "auth sha ", "key \t"]
_ROWS = [
    # Every second row: each piece meets half of the platforms, each platform half of the pieces.
    *list(product(_REGISTRY.names(), _PIECES, [_PIECE_OF_A_LINE]))[::2],
    *product(["generic"], _PIECES, [_LONG_LINE]),
    *product(["cisco_ios", "paloalto_panos"], _WORDS, [_LONG_LINE]),
]
_TRIES = 3


def seconds_for(line: str, platform: Platform) -> float:
    """Measure time of this thread's processor, so that a busy machine changes little."""
    began = time.thread_time()
    normalise(line, platform, b"k" * 32)
    redact(line, platform)
    return time.thread_time() - began


@pytest.mark.parametrize(("name", "piece", "characters"), _ROWS)
def test_a_long_line_takes_no_long_time(name: str, piece: str, characters: int) -> None:
    platform = _REGISTRY.get(name)
    line, short = (piece * (length // len(piece)) + "!" for length in (characters, characters // _LONGER))
    assert any(grows_no_faster(line, short, platform) for _ in range(_TRIES))


def grows_no_faster(line: str, short: str, platform: Platform) -> bool:
    took = seconds_for(line, platform)
    return took < max(_MEASURABLE_SECONDS, _TIMES * seconds_for(short, platform))


def test_what_stands_behind_very_many_words_is_hidden() -> None:
    line = "key 1 " * 1_000
    shown = redact(f"{line}c4nary", _REGISTRY.get("generic"))
    assert shown.startswith("key 1 key 1 ")
    assert "c4nary" not in shown
    assert len(shown) < len(line)
