"""The reading of a complete configuration from an open session; it fails with the rule that the text
breaks.
"""

import shlex
from dataclasses import dataclass

from netautod.secrets.redaction.commands import shown_command
from netautod.transport.ssh.capture.completeness import check_output, require_whole
from netautod.transport.ssh.capture.log_interference import read_undisturbed
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import CaptureItem, Platform
from netautod.transport.ssh.platform.redact import quoted
from netautod.transport.ssh.session import KILLED, CliSession, CommandResult

_ABSENT, _UNREADABLE = 44, 45
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127  # POSIX shell, 2.8.2 Exit Status for Commands
# Works in every login shell, because nothing but single quotes is left to it.
_READ_FILE = f'test -e "$1" || exit {_ABSENT}; test -r "$1" || exit {_UNREADABLE}; exec cat -- "$1"'


@dataclass(frozen=True, kw_only=True)
class Capture:
    """A complete configuration; `notes` are sentences on what was left out.

    `raw` carries the bytes that the device sent (encoding.py), with `\\n` as the line end. It ends with one,
    whether the device sent one or put its prompt behind the last line.
    """

    raw: str
    notes: tuple[str, ...] = ()


async def capture(session: CliSession) -> Capture:
    """Read everything that the platform's `capture` lists, and check that it is complete.

    The rules: the prompt returned (or the command ended well), the end marker is the last line, no failure
    phrase, no text of a pager, and all that a configuration of the platform must contain. DeviceFailed
    `incomplete`, `refused_command`, `pager` names the broken one; `timeout`, `lost`, `flood`, `enable` as in
    a session. The size rule needs history: see `suspicious`.
    """
    platform = session.platform
    if platform.capture_mode is not None:
        await session.require_mode(platform.capture_mode)
    parts: list[tuple[CaptureItem, str]] = []
    notes: list[str] = []
    for item in platform.capture:
        text, note = await _read(session, item)
        if text is not None:
            parts.append((item, text))
        if note is not None:
            notes.append(note)
    if not parts:
        raise DeviceFailed(f"nothing could be read ({'; '.join(notes)})", kind="incomplete")
    require_whole([text for _, text in parts], platform)
    return Capture(raw=_joined(platform, parts), notes=tuple(notes))


def suspicious(size: int, last_good_size: int | None) -> bool:
    """Return whether a capture is so much smaller than the last good one that a second reading must confirm
    it.

    Sizes are in bytes or characters, as long as both are the same; None when there is no good one yet.
    """
    return last_good_size is not None and size * 2 < last_good_size


async def _read(session: CliSession, item: CaptureItem) -> tuple[str | None, str | None]:
    """Return the text of one part and a note about it; no text when the part is absent on this device.

    The device may refuse all commands of the part but one: releases differ in their syntax.
    """
    first = item.command if item.command is not None else _read_command(item.file or "")
    refusals: list[DeviceFailed] = []
    for command in (first, *item.alternatives):
        try:
            text, note = await _read_by(session, item, command)
        except DeviceFailed as exc:
            if exc.kind != "refused_command":
                raise
            refusals.append(exc)
            continue
        alternative = [f"`{shown_command(command)}` was read instead: {refusals[0].text}"] if refusals else []
        return text, "; ".join([*alternative, *([note] if note is not None else [])]) or None
    if item.optional and session.platform.channel == "shell":
        return None, f"{item.title} skipped: {refusals[0].text}"
    raise refusals[0]


async def _read_by(session: CliSession, item: CaptureItem, command: str) -> tuple[str | None, str | None]:
    try:
        result, note = await read_undisturbed(
            session,
            command,
            timeout=session.limits.capture_seconds,
            end_marker=session.platform.end_marker,
        )
    except DeviceFailed as exc:
        if exc.kind != "timeout":
            raise
        raise DeviceFailed(f"the read did not come to an end: {exc.text}", kind="incomplete") from exc
    if session.platform.channel == "exec":
        return _checked_result(item, result, session.platform)
    lines = result.output.split("\n")
    odd = [lines[at] for at in session.platform.output_lines.others(lines)]
    check_output(lines, odd, item.title, session.platform)
    return result.output, note


def _checked_result(
    item: CaptureItem, result: CommandResult, platform: Platform
) -> tuple[str | None, str | None]:
    status = result.exit_status
    if status == 0:
        return result.output, None
    reason = {
        _ABSENT: "it does not exist",
        _UNREADABLE: "this user may not read it",
        _NOT_FOUND: "the command is not installed",
        _NOT_EXECUTABLE: "this user may not run it",
    }.get(status or 0)
    if reason is None and (not item.optional or status == KILLED):
        error_text = quoted(result.errors.strip().partition("\n")[0], platform) or f"exit status {status}"
        raise DeviceFailed(f"{item.title} failed: {error_text}", kind="refused_command")
    return None, f"{item.title} skipped: {reason or f'exit status {status}'}"


def _read_command(path: str) -> str:
    return f"sh -c {shlex.quote(_READ_FILE)} sh {shlex.quote(path)}"


def _joined(platform: Platform, parts: list[tuple[CaptureItem, str]]) -> str:
    """Return one part as it is, or several with a heading each, so that a diff shows where a line belongs."""
    if len(platform.capture) == 1:
        return parts[0][1].rstrip("\n") + "\n"
    return "\n".join(f"### {item.title}\n{text.rstrip(chr(10))}\n" for item, text in parts)
