"""The change of a device's configuration: into its configuration mode, line by line, and out again.

A line that the device refuses ends the change: what was not applied is discarded where the platform can do
that, and what was in force at once stays. So does a line that leaves the configuration mode: what follows
would be taken for commands.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import ConfigChange
from netautod.transport.ssh.session import CliSession, refusal_of

CONFIG = "config"


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A line that was sent, and what the device printed."""

    line: str
    output: str


@dataclass(frozen=True, kw_only=True)
class ChangeReport:
    """The result of a change. `refused` is a sentence about the line that ended it, None if all were
    accepted.

    `in_force`: whether some of the lines are in force; `saved`: whether they survive a restart.
    """

    answers: Sequence[Answered]
    refused: str | None
    in_force: bool
    saved: bool


class Refused(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


async def change(session: CliSession, lines: Sequence[str], *, save: bool) -> ChangeReport:
    """Send the lines and, with `save`, store the configuration for the next start.

    DeviceFailed `refused_command` before anything is sent, when a line is no configuration, or the device
    does not let us configure it. Any other DeviceFailed: the connection broke in the middle, and it is
    unknown which lines are in force.
    """
    how = session.platform.change
    if how is None:
        text = f"changes are not supported on the platform {session.platform.name}"
        raise DeviceFailed(text, kind="refused_command")
    try:
        how.lines.check(lines)
    except InvalidInput as refused:
        raise DeviceFailed(refused.text, kind="refused_command") from refused
    if session.platform.capture_mode is not None:
        await session.require_mode(session.platform.capture_mode)
    await _enter(session, how)
    answers: list[Answered] = []
    try:
        await _send(session, lines, answers, stays=True)
        await _send(session, how.apply, answers)
    except Refused as refused:
        await _send_ignoring_output(session, (*how.discard, *how.leave))
        in_force = bool(answers) and not how.apply
        saved = in_force and how.stores(one.line for one in answers)
        return ChangeReport(answers=answers, refused=refused.text, in_force=in_force, saved=saved)
    stored = how.stores(lines)
    try:
        await _send(session, how.leave if session.mode == CONFIG else (), [])
        await _send(session, how.save if save else (), answers)
    except Refused as refused:
        return ChangeReport(answers=answers, refused=refused.text, in_force=True, saved=stored)
    return ChangeReport(answers=answers, refused=None, in_force=True, saved=save or stored)


async def _enter(session: CliSession, how: ConfigChange) -> None:
    try:
        await _send(session, how.enter, [])
    except Refused as refused:
        raise DeviceFailed(refused.text, kind="refused_command") from refused
    if session.mode != CONFIG:
        text = f"the device did not enter its configuration mode; its prompt is {session.prompt!r}"
        raise DeviceFailed(text, kind="refused_command")


async def _send(
    session: CliSession, lines: Sequence[str], answers: list[Answered], *, stays: bool = False
) -> None:
    """Send the lines and add what each printed to `answers`; raise Refused for a refused line.

    `stays`: the device must be in the configuration mode after each line.
    """
    assert session.platform.change is not None  # or nothing is sent
    for line in lines:
        result = await session.execute(line)
        refusal = refusal_of(result, session.platform)
        if refusal is not None:
            raise Refused(f"`{line}` was refused: {refusal.text}")
        for pattern in session.platform.change.failures:
            if found := pattern.search(result.output):
                raise Refused(f"`{line}` was refused: {found[0].strip()}")
        answers.append(Answered(line=line, output=result.output))
        if stays and session.mode != CONFIG:
            raise Refused(f"`{line}` left the configuration mode.")


async def _send_ignoring_output(session: CliSession, commands: Sequence[str]) -> None:
    """Send commands and ignore their output: the change has failed already, and a device that refuses to undo
    it adds nothing new.
    """
    for command in commands:
        if session.mode == CONFIG:
            await session.execute(command)
