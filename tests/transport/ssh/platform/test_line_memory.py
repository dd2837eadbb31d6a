"""Lines that were found plain are looked at once; others every time."""

from dataclasses import replace

from netautod.network.configs.texts.normalise import normalise
from netautod.testing.devices.ios import ios_config
from netautod.transport.ssh.platform import line_memory
from netautod.transport.ssh.platform.line_memory import LineMemory
from netautod.transport.ssh.platform.registry import PlatformRegistry


def test_a_plain_line_is_looked_at_once_and_another_one_every_time() -> None:
    looked: list[str] = []

    def is_plain(line: str) -> bool:
        looked.append(line)
        return line != "ntp clock-period 1"

    memory = LineMemory(is_plain)
    answers = [memory.is_plain(line) for line in ("hostname a", "ntp clock-period 1") * 2]
    assert answers == [True, False, True, False]
    assert looked == ["hostname a", "ntp clock-period 1", "ntp clock-period 1"]


def test_it_forgets_before_it_grows_without_end() -> None:
    memory = LineMemory(lambda line: True)
    for number in range(line_memory.MOST + 10):
        memory.is_plain(f"line {number}")
    assert len(memory._known) == 10


def test_a_text_is_normalised_the_same_from_memory() -> None:
    text = ios_config("sw1") + " trailing blanks  \n"
    warm = PlatformRegistry().get("cisco_ios")
    cold = replace(warm)
    normalise(text, warm, b"k" * 32)
    normalise(ios_config("sw1", community="another"), warm, b"k" * 32)
    assert normalise(text, warm, b"k" * 32) == normalise(text, cold, b"k" * 32)
