"""Lines made to keep a pattern busy: the time that a platform takes grows with the line, no faster."""

import time
from itertools import product

import pytest

from netautod.configs.texts.normalise import normalise
from netautod.ssh.platform.model import Platform
from netautod.ssh.platform.redact import redact
from netautod.ssh.platform.registry import PlatformRegistry

_REGISTRY = PlatformRegistry()
_CHARACTERS = 12_000
# Four times the line takes four times as long, where a pattern backtracks sixteen times or for ever.
_TIMES = 10
_SECONDS_THAT_TELL = 0.02  # what takes less is quick, and too little to be compared
_PIECES = [" ", "0", '"', "a ", "x:", "set x ENC ", 'admin="" ', "<key>", "x\\"]
# Words that announce secrets cost the same on all platforms, and as much as is ever looked at.
_WORDS = ["password ", "auth sha ", "key \t"]
_SOME = ["cisco_ios", "fortinet", "generic", "juniper_junos", "paloalto_panos"]
# Every second row: each piece meets half of the platforms, each platform half of the pieces.
_ROWS = [*list(product(_REGISTRY.names(), _PIECES))[::2], *product(_SOME, _WORDS)]
_TRIES = 3


def seconds_for(line: str, platform: Platform) -> float:
    """Measured in time of this thread's processor, so that a busy machine changes little."""
    began = time.thread_time()
    normalise(line, platform, b"k" * 32)
    redact(line, platform)
    return time.thread_time() - began


@pytest.mark.parametrize(("name", "piece"), _ROWS)
def test_a_long_line_takes_no_long_time(name: str, piece: str) -> None:
    platform = _REGISTRY.get(name)
    line, quarter = (piece * (length // len(piece)) + "!" for length in (_CHARACTERS, _CHARACTERS // 4))
    assert any(grows_no_faster(line, quarter, platform) for _ in range(_TRIES))


def grows_no_faster(line: str, quarter: str, platform: Platform) -> bool:
    took = seconds_for(line, platform)
    return took < _SECONDS_THAT_TELL or took < _TIMES * seconds_for(quarter, platform)


def test_what_stands_behind_very_many_words_is_hidden() -> None:
    line = "key 1 " * 1_000
    shown = redact(f"{line}c4nary", _REGISTRY.get("generic"))
    assert shown.startswith("key 1 key 1 ")
    assert "c4nary" not in shown
    assert len(shown) < len(line)
