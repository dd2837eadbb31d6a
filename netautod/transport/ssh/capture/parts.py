"""The reading of the parts beside the configuration (`[[parts]]`), in the session that read it.

A part is never worth a configuration: a part that cannot be read becomes a note.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from netautod.secrets.redaction.commands import shown_command
from netautod.transport.ssh.capture.log_interference import read_undisturbed
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Part
from netautod.transport.ssh.session import CliSession, refused

MOST_BYTES = 1 << 20
_EDGE_LINES = 10  # a refusal stands at the beginning or the end, as in a configuration


@dataclass(frozen=True, kw_only=True)
class PartReading:
    """The output of a part, noise left out. `raw` carries the bytes of the device (encoding.py).

    `command` is the one that the device accepted.
    """

    part: Part
    command: str
    raw: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class PartReadings:
    """The readings of all parts.

    `failed` are the names of parts that the device has, or may have, and that could not be read now.
    """

    read: tuple[PartReading, ...] = ()
    failed: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


async def read_parts(session: CliSession) -> PartReadings:
    """Read the parts one by one; after one that broke the session the others are not tried.

    An error of the device is not raised but noted; what `guard` raises is passed on.
    """
    read: list[PartReading] = []
    notes: list[str] = []
    failed: set[str] = set()
    parts = session.platform.parts
    for position, part in enumerate(parts):
        try:
            found, refusal = await _read(session, part)
        except DeviceFailed as exc:
            failed |= {other.name for other in parts[position:]}
            notes.append(f"part {part.name} could not be read ({exc.kind}): {exc.text}")
            break
        if found is not None:
            read.append(found)
        else:
            notes.append(f"part {part.name} left out: {refusal}")
    return PartReadings(read=tuple(read), failed=frozenset(failed), notes=tuple(notes))


async def _read(session: CliSession, part: Part) -> tuple[PartReading | None, str]:
    """Return the part by the first command that the device does not refuse, or the first refusal."""
    refusals: list[str] = []
    for command in (part.command, *part.alternatives):
        result, _ = await read_undisturbed(
            session, command, timeout=session.limits.command_seconds, max_bytes=MOST_BYTES
        )
        refusal = _refusal(session, result.output.split("\n"), result.exit_status)
        if refusal is None:
            return PartReading(part=part, command=command, raw=_text(part, result.output)), ""
        refusals.append(f"`{shown_command(command)}` was refused: {refusal}")
    return None, refusals[0]


def _refusal(session: CliSession, lines: Sequence[str], exit_status: int | None) -> str | None:
    if exit_status:
        return f"exit status {exit_status}"
    filled = [line for line in lines if line.strip()]
    edges = [*islice(filled, _EDGE_LINES), *islice(reversed(filled), _EDGE_LINES)]
    return refused(edges, session.platform)


def _text(part: Part, output: str) -> str:
    """Return the text to store: lines without noise, with one line end at the end; empty for no lines."""
    text = "\n".join(part.without_noise(output.split("\n"))).strip("\n")
    return f"{text}\n" if text else ""
