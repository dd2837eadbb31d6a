"""Lines made to keep a pattern busy: the time that a platform takes grows with the line, no faster."""

import time

import pytest

from netautod.configs.texts.normalise import normalise
from netautod.ssh.platform.redact import redact
from netautod.ssh.platform.registry import PlatformRegistry

_REGISTRY = PlatformRegistry()
_CHARACTERS = 50_000
# A pattern that backtracks takes seconds or hours for these; one that does not, some 20 ms.
_SECONDS = 0.75
_PIECES = [
    " ",
    "0",
    '"',
    "a ",
    "x:",
    "password ",
    "set x ENC ",
    "auth sha ",
    'admin="" ',
    "<key>",
    "key \t",
    "x\\",
]


@pytest.mark.parametrize("name", _REGISTRY.names())
@pytest.mark.parametrize("piece", _PIECES)
def test_a_long_line_takes_no_long_time(name: str, piece: str) -> None:
    """Measured in time of this thread's processor, so that a busy machine changes nothing."""
    platform = _REGISTRY.get(name)
    line = piece * (_CHARACTERS // len(piece)) + "!"
    began = time.thread_time()
    normalise(line, platform, b"k" * 32)
    redact(line, platform)
    assert time.thread_time() - began < _SECONDS


def test_what_stands_behind_very_many_words_is_hidden() -> None:
    line = "key 1 " * 1_000
    shown = redact(f"{line}c4nary", _REGISTRY.get("generic"))
    assert shown.startswith("key 1 key 1 ")
    assert "c4nary" not in shown
    assert len(shown) < len(line)
