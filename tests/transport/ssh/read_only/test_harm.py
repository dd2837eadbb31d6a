"""The refusal of what changes a device, or shows its secrets, on every platform, by lists of the test's own.

The lists here are written from what devices do; nothing of them is imported from the product.
"""

import random
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from netautod.transport.ssh.platform.registry import PlatformRegistry, read_only_grammar
from tests.support.tables import over

REGISTRY = PlatformRegistry()
PLATFORMS = REGISTRY.names()
DATA = Path(__file__).with_name("data")
LISTED = [
    line.partition(": ") for line in (DATA / "harm.txt").read_text().splitlines() if not line.startswith("#")
]
HARMFUL = [command for platforms, _, command in LISTED if platforms == "*"]
OF_ONE = [(name, command) for platforms, _, command in LISTED for name in platforms.split(",") if name != "*"]
# The words at the beginning of commands that change something, on any platform.
CHANGING = (DATA / "changing.txt").read_text().split()
# What turns a reading into a change, or into one without an end, wherever it stands.
MODIFIERS = (DATA / "modifiers.txt").read_text().split()
READING = {
    "show",
    "display",
    "get",
    "list",
    "stat",
    "info",
    "dir",
    "cat",
    "ip",
    "who",
    "w",
    "diagnose",
    "/export",
}
ALONE = {"free", "mount", "hostname", "date"}  # a shell shows what there is, if no word is behind
ODD = (
    "\u00a0\u200b\u200d\ufeff\u2028\u2029\u0085\x00\x07\x08\x0a"
    "\x0b\x0c\x0d\x1b\x7f\t\u3000\u2003\uff1b\uff5c\u037e"
)
ALIKE = str.maketrans("aceopsxyhi", "\u0430\u0441\u0435\u043e\u0440\u0455\u0445\u0443\u04bb\u0456")

JOINTS = [";", "&&", "|", "||", "&", "\n", "\r", " ; "]
TARGETS = ["x", " x", "/tmp/x", " tftp://10.0.0.1/x", "flash:x"]
PLACES = {"redirect", "append", "tee", "save", "follow", "interval=", "xargs", "exec", "sh", "bash"}


def readings(name: str) -> list[str]:
    """Return ordinary readings of the platform, to be spoilt: its capture, and some that most have."""
    found = [item.command for item in REGISTRY.get(name).capture if item.command]
    more = ["show version", "show running-config", "display version", "get system status", "ip addr"]
    return [*found, *more]


class Device:
    """A device that does what it is told, and records what it was told to change."""

    def __init__(self) -> None:
        self.changed: list[str] = []
        self.commands: list[str] = []

    def run(self, command: str) -> None:
        self.commands.append(command)
        for line in re.split(r"[\r\n;`]|&&|\|\||\$\(", command):
            first, *others = line.split() or [""]
            words = {word.lower() for word in others}
            changes = first.lower() in CHANGING and first not in READING and command not in ALONE
            places = words & PLACES
            if changes or places or re.search(r"[<>&;`$\\]|[^ -~]|file=|\.\./", line):
                self.changed.append(line)


def spoilt(name: str, chance: random.Random, count: int) -> Iterator[str]:
    """Yield commands that change something, abbreviated, joined with a reading, or in odd characters."""
    good = readings(name)
    for _ in range(count):
        reading, word, harmful = chance.choice(good), chance.choice(CHANGING), chance.choice(HARMFUL)
        modifier, odd = chance.choice(MODIFIERS), chance.choice(ODD)
        cut = chance.randrange(len(reading) + 1)
        yield chance.choice(
            [
                word,
                f"{word} {reading}",
                f"{word[: chance.randrange(2, 6)]} {chance.choice(['all', 'interface', 'x', '1'])}",
                f"{word.upper()} x",
                harmful,
                " ".join(part[: chance.randrange(1, len(part) + 1)] for part in harmful.split()),
                f"{reading}{chance.choice(JOINTS)}{harmful}",
                f"{reading} {modifier} {harmful}",
                f"{reading} {modifier}{chance.choice(TARGETS)}",
                f"{reading} | {chance.choice([*sorted(PLACES), 'file'])} x",
                f"{reading[:cut]}{odd}{reading[cut:]}",
                f"{odd}{reading}{odd}",
                reading.translate(ALIKE),
                f"{reading} $({harmful})",
                f"{reading} `{harmful}`",
                f"do {reading}\n{harmful}",
                f"{reading} {'x' * chance.randrange(200, 4000)}",
                f"{reading}\x1b[A\r{harmful}",
                f'{reading} | include "x\n{harmful}"',
                f'{reading} | match "x" | {harmful}',
            ]
        )


@over("name", [*PLATFORMS, "nobody_knows"])
def test_two_thousand_spoilt_commands_change_nothing(name: str) -> None:
    grammar, device = read_only_grammar(name, REGISTRY), Device()
    for command in spoilt(name, random.Random(zlib.crc32(name.encode())), 2_000):
        full = grammar.check(command).command
        if full is not None:
            device.run(full)
            assert grammar.check(full).command == full, command
    assert device.changed == []


# Commands of the list that are readings on a platform, where the words mean something else.
READ_THERE = {
    ("fortinet", "sh"),  # for `show`, which is the configuration
}


@over("name", [*PLATFORMS, "nobody_knows"])
def test_what_changes_or_betrays_is_refused(name: str) -> None:
    grammar = read_only_grammar(name, REGISTRY)
    allowed = {(name, command) for command in HARMFUL if grammar.check(command).command is not None}
    assert allowed - READ_THERE == set()


@over(("name", "command"), OF_ONE)
def test_so_is_what_does_so_on_one_platform(name: str, command: str) -> None:
    assert read_only_grammar(name, REGISTRY).check(command).command is None


def test_the_device_knows_what_changes_it() -> None:
    """Check that the judge of the test above judges."""
    device = Device()
    for command in ("reload", "show version; reload", "show run | redirect x", "show x > y", "show\u00a0x"):
        device.run(command)
    assert len(device.changed) == 5
    device.run("show version")
    assert len(device.changed) == 5
