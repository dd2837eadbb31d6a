"""What redacting costs at worst: the longest command line, and lines of a device that means harm."""

import asyncio
import time
from collections.abc import Callable, Iterator
from functools import partial

from netautod.secrets.redaction.commands import shown_command
from netautod.transport.ssh.platform.redact import quoted, redact
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.bench.measuring.report import Report

COMMAND = 4096
LINE = 100_000
# What expressions that go back and forth are slow at.
PIECES = (
    *("a", " ", "/", "'", "@", "=", "\\", "a/", "./", "a ", "a@", "x:", "=a:", "http://a:", "http:///", "\n"),
    *(
        "curl ",
        "curl/",
        "mysql -x ",
        "docker login ",
        "ldap-",
        "ab ",
        "-p",
        "-u ",
        "a -p 1\n",
        "echo a | ",
        "show ;",
    ),
    *(
        "password",
        "key ",
        "key '",
        'key "',
        "auth ",
        "auth md5 ",
        "vrrp ",
        "$1$",
        "$argon2",
        "eyJ-",
        "-----BEGIN ",
    ),
    *("snmp-server host a ", "username a password ", "pre-shared-key key ", "set ", "neighbor a password "),
)


async def run(report: Report) -> None:
    readers = PlatformRegistry().for_readers
    report.parameter("characters", f"commands {COMMAND}, lines {LINE}")
    # Commands are redacted on the loop, output of devices beside it.
    report.wanted("longest_command", _worst(shown_command, COMMAND), "ms", "at most", 20)
    report.wanted("quoted_line", _worst(quoted, LINE), "ms", "at most", 20)
    stalls = [await _stall(partial(redact, line, readers)) for line in _lines(LINE)]
    report.wanted("stall_while_a_line_is_redacted", 1000 * max(stalls), "ms", "at most", 50)


def _lines(length: int) -> Iterator[str]:
    return ((piece * length)[:length] for piece in PIECES)


def _worst(work: Callable[[str], str], length: int) -> float:
    return 1000 * max(_seconds(work, line) for line in _lines(length))


def _seconds(work: Callable[[str], str], line: str) -> float:
    """Of processor time: what else the machine does is not counted."""
    began = time.thread_time()
    work(line)
    return time.thread_time() - began


async def _stall(work: Callable[[], str]) -> float:
    """The longest time between two turns of the event loop while a thread works."""
    longest, last = 0.0, time.perf_counter()
    task = asyncio.create_task(asyncio.to_thread(work))
    while not task.done():
        await asyncio.sleep(0)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    return longest
