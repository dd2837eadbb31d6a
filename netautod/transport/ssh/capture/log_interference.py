"""The repeated reading of a command's output that log lines of the device may have torn, and the comparison
of readings.

A log line cuts a line in two, stands before or behind it, or is glued to it; one reading alone does not show
how. And a configuration may quote one. What is the same in two readings is text.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from netautod.secrets.redaction.commands import shown_command
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.session import CliSession, CommandResult

_MOST_READINGS = 3
_SAME = 2  # lines in which two readings must agree to be in step again
_APART = 60  # lines by which they may be out of step
_Span = tuple[int, int]


async def read_undisturbed(
    session: CliSession,
    command: str,
    *,
    timeout: float,
    max_bytes: int | None = None,
    end_marker: re.Pattern[str] | None = None,
) -> tuple[CommandResult, str | None]:
    """Read as `CliSession.read` does, without the log lines that the device printed meanwhile.

    Returns the result and a note about the log lines. Raises DeviceFailed `incomplete` when log lines tear
    the same place in each of a few readings.
    """
    readings: list[list[str]] = []
    for _ in range(_MOST_READINGS):
        result = await session.read(command, timeout=timeout, max_bytes=max_bytes, end_marker=end_marker)
        lines = result.output.split("\n")
        if session.platform.channel == "exec" or not (readings or suspects(lines, session.platform)):
            return result, None
        found = common_lines(readings[-1], lines, session.platform) if readings else None
        if found is not None:
            taken = len(_unmatched_suspects(readings[0], found, session.platform))
            note = f"{taken} log lines were taken out of the output" if taken else None
            return replace(result, output="\n".join(found)), note
        readings.append(lines)
    text = f"log lines of the device tore the output of `{shown_command(command)}` in each reading"
    raise DeviceFailed(text, kind="incomplete")


def suspects(lines: Sequence[str], platform: Platform) -> list[int]:
    """Return the positions of the lines that contain the form of a log line."""
    return [at for at in platform.output_lines.others(lines) if platform.holds_log(lines[at])]


def common_lines(first: Sequence[str], second: Sequence[str], platform: Platform) -> list[str] | None:
    """Return the text that both readings show; None if log lines tore both at the same place."""
    for one, other in ((first, second), (second, first)):
        if not _unmatched_suspects(one, other, platform):
            return list(one)
    merged: list[str] = []
    for common, (start, end), (other_start, other_end) in _steps(first, second):
        merged += common
        piece = _without_log_lines(first[start:end], second[other_start:other_end], platform)
        if piece is None:
            return None
        merged += piece
    return merged


def _unmatched_suspects(lines: Sequence[str], other: Sequence[str], platform: Platform) -> list[int]:
    """Return the suspect lines that do not stand among the same lines in the other reading."""
    found = suspects(lines, platform)
    known = {tuple(other[max(at - 1, 0) : at + 2]) for at in range(len(other))} if found else set()
    return [at for at in found if tuple(lines[max(at - 1, 0) : at + 2]) not in known]


def _without_log_lines(one: Sequence[str], other: Sequence[str], platform: Platform) -> list[str] | None:
    """Return the one of two different pieces that has no log line.

    If both have one, or neither, returns what both agree on without their log lines.
    """
    logged = [bool(suspects(piece, platform)) for piece in (one, other)]
    if logged != [True, True]:
        return list(other if logged[0] else one)
    bare = [[line for line in piece if not platform.is_log_line(line)] for piece in (one, other)]
    return bare[0] if bare[0] == bare[1] else None


def _steps(first: Sequence[str], second: Sequence[str]) -> list[tuple[Sequence[str], _Span, _Span]]:
    """Return the lines that both have, each with the spans that differ behind it, from the beginning to the
    end.
    """
    steps: list[tuple[Sequence[str], _Span, _Span]] = []
    a = b = 0
    while a < len(first) or b < len(second):
        start = a
        while a < len(first) and b < len(second) and first[a] == second[b]:
            a, b = a + 1, b + 1
        ends = _next_agreement(first, a, second, b)
        steps.append((first[start:a], (a, ends[0]), (b, ends[1])))
        a, b = ends
    return steps


def _next_agreement(first: Sequence[str], a: int, second: Sequence[str], b: int) -> tuple[int, int]:
    """Return the nearest places where the readings agree again; the ends if there is none."""
    for apart in range(2 * _APART):
        for more in range(apart + 1):
            ahead, behind = a + more, b + apart - more
            same = first[ahead : ahead + _SAME]
            if same and same == second[behind : behind + _SAME]:
                return ahead, behind
    return len(first), len(second)
