"""The output of a command, out of all that came: without its echo and the prompt. Pure."""

import re
from collections.abc import Sequence

from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.shell.prompt_state import Place
from netautod.transport.ssh.shell.terminal import clean

_ECHO_BYTES = 4096  # within which the echo of a command stands
_ECHO_LINES = 12
_SCROLLED = 6  # characters at the end of a command that must be left of it in a scrolled echo
_WRAP = re.compile(rb" \r(?!\n)")  # how a terminal is made to go on in the next line


def echo_lines(data: bytes | bytearray, command: str, platform: Platform) -> int:
    """Return the number of lines at the front that the echo of the command ends with, 0 without an echo.

    Nothing but blank lines, prompts and log lines stands before it. It may be wrapped, or scrolled: a `$` in
    place of its beginning (IOS).
    """
    front = bytes(data[: _ECHO_BYTES + 2 * len(command)])
    found = _echo_in(clean(front).split("\n"), command, platform)
    if not found and _WRAP.search(front) is not None:
        found = _echo_in(clean(_WRAP.sub(b"", front)).split("\n"), command, platform)
    return found


def _echo_in(lines: Sequence[str], command: str, platform: Platform) -> int:
    for first, line in enumerate(lines[:_ECHO_LINES]):
        if _is_echo(line, command, platform):
            return first + 1
        if not line.strip() or platform.mode_of(line) is not None or platform.is_log_line(line):
            continue
        for last in range(first + 1, min(first + _ECHO_LINES, len(lines))):
            if _is_echo("".join(lines[first : last + 1]), command, platform):
                return last + 1
        return 0
    return 0


def command_output(data: bytes, command: str, place: Place, platform: Platform) -> list[str]:
    """Return the lines without the echo at the front and the prompt at the end, and nothing else."""
    lines = without_echo(data, command, platform)
    last = len(lines) - 1
    while last >= 0 and (not lines[last].strip() or platform.is_log_line(lines[last])):
        last -= 1
    before = place.before_prompt(lines[last]) if last >= 0 else None
    if before is None:
        return lines
    return [*lines[:last], before] if before else without_heads(lines[:last], platform)


def without_echo(data: bytes, command: str, platform: Platform) -> list[str]:
    """Return the lines behind the echo, which some devices paint twice."""
    return behind_echo(clean(data).split("\n"), data, command, platform)


def behind_echo(lines: list[str], data: bytes, command: str, platform: Platform) -> list[str]:
    """Return the lines behind the echo; `lines` are those of `data`, cleaned already."""
    echo = echo_lines(data, command, platform)
    # Without an echo, an empty line at the front is the line end that was typed.
    lines = lines[1:] if not echo and not lines[0].strip() and len(lines) > 1 else lines[echo:]
    while lines and _is_echo(lines[0], command, platform):
        del lines[0]
    return lines


def without_heads(lines: list[str], platform: Platform) -> list[str]:
    """Return the lines above a prompt without those that belong to it."""
    end = len(lines)
    while end and platform.is_prompt_head(lines[end - 1]):
        end -= 1
    return lines[:end]


def _is_echo(line: str, command: str, platform: Platform) -> bool:
    line = line.strip()  # a cursor address leaves blanks where the prompt stood
    if line == command:
        return True
    if line.endswith(command):
        return platform.mode_of(line[: -len(command)]) is not None
    bare, wanted = "".join(line.split()), "".join(command.split())
    if bare.endswith(wanted):
        return bare == wanted or platform.mode_of(bare[: -len(wanted)]) is not None
    before, mark, rest = line.rpartition("$")
    return (
        bool(mark)
        and len(rest) >= min(_SCROLLED, len(command))
        and command.endswith(rest)
        and (not before.strip() or platform.mode_of(before) is not None)
    )
