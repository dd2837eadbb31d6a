"""A conversation with the command line of a device: learns its prompt, sends commands, reads their output."""

import re

from netautod.secrets.redaction.commands import shown_command
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.shell import dialogs
from netautod.transport.ssh.shell.conversation import Conversation, Ending
from netautod.transport.ssh.shell.login import TerminalLogin
from netautod.transport.ssh.shell.output import behind_echo, command_output
from netautod.transport.ssh.shell.output_end import CommandEnding, ReadEnding
from netautod.transport.ssh.shell.prompt_state import Place
from netautod.transport.ssh.shell.question import DialogSteps
from netautod.transport.ssh.shell.stream import ByteStream
from netautod.transport.ssh.target import SessionLimits

_READINGS = 4  # of a text in which prompts stand
_PARTIAL_BYTES = 1024 * 1024  # of a failed command's output that the failure carries


class Shell:
    """An interactive channel; after `start` it stands at a known prompt.

    Commands run one at a time. After a failure the channel is out of step with the device and refuses more.
    `stage` in the methods below is the end of a sentence, such as "after `show version`".
    """

    def __init__(self, stream: ByteStream, platform: Platform, limits: SessionLimits) -> None:
        self._stream = stream
        self._platform = platform
        self._limits = limits
        self._conversation = Conversation(stream, platform, limits)
        self._place = Place(platform)
        self._usable = True

    @property
    def prompt(self) -> str:
        """Return the prompt as the device showed it last."""
        return self._place.prompt

    @property
    def mode(self) -> str:
        """The mode of the command line, a key of the platform's `prompts`."""
        return self._place.mode

    async def start(self, *, username: str, password: str | None, seconds: float) -> None:
        """Learn the prompt and answer what the device asks before it; DeviceFailed `prompt` when none comes.

        A platform whose terminal asks for a login gets name and password, each once: `auth` when it refuses.
        The login has `seconds`, a prompt behind it `prompt_seconds` more.
        """
        limit = seconds + self._limits.prompt_seconds
        login = TerminalLogin(self._conversation, self._place, self._platform, seconds=limit)
        await login.run(username=username, password=password)

    async def turn_paging_off(self) -> list[tuple[str, str]]:
        """Send the platform's commands for paging and width; return each with what the device said.

        A device that does not know one says so; the pager is answered anyway.
        """
        commands = (*self._platform.paging_off, *self._platform.width)
        silence = self._limits.silence_seconds
        return [(command, await self._run(command, settles=False, silence=silence)) for command in commands]

    async def enable(self, secret: str | None, *, username: str) -> None:
        """Switch to the privileged mode; send the secret at most once. DeviceFailed `enable` if refused."""
        dialog = self._platform.enable
        if dialog is None:
            raise DeviceFailed(f"the platform {self._platform.name} knows no enable command", kind="enable")
        self._begin()
        limit = self._limits.prompt_seconds
        ask = DialogSteps(self._conversation, self._platform, seconds=lambda: limit).ask(
            dialog.is_dialog_prompt
        )
        line = await dialogs.enable(dialog, ask, username=username, secret=secret)
        found = self._platform.mode_of(line)
        if found is None or found[0] == self.mode:
            raise DeviceFailed("the device refused the enable secret or command", kind="enable")
        self._place.arrive(line)
        self._usable = True

    async def run(self, command: str, *, seconds: float | None = None, limit: int | None = None) -> str:
        """Send a command of a user and return what it printed, without echo and prompt (see encoding.py).

        Nothing else is sent, whatever the device prints: quiet behind a prompt ends it.
        """
        return await self._run(command, seconds=seconds, limit=limit)

    async def _run(
        self,
        command: str,
        *,
        settles: bool = True,
        seconds: float | None = None,
        limit: int | None = None,
        silence: float | None = None,
    ) -> str:
        ending = CommandEnding(self._conversation, self._place, self._platform, command, settles=settles)
        await self._sent(command, ending, seconds=seconds, limit=limit, silence=silence)
        body = command_output(bytes(self._stream.data), command, self._place, self._platform)
        self._arrive()
        return "\n".join(body)

    async def read(
        self,
        command: str,
        *,
        marker: re.Pattern[str] | None = None,
        seconds: float | None = None,
        limit: int | None = None,
    ) -> str:
        """Run a read command of the platform as `run` does: a line of the text that equals the prompt is
        text.

        `marker` is what the last line of the text must match, where the platform has such a line.
        DeviceFailed `pager`, `prompt` or `timeout` when the device falls silent in the middle.
        """
        passed: set[int] = set()
        for number in range(_READINGS):
            ending = ReadEnding(
                self._conversation,
                self._place,
                self._platform,
                command,
                marker=marker,
                patient=number > 0,
                passed=passed,
            )
            silence = self._limits.silence_seconds
            await self._sent(command, ending, seconds=seconds, limit=limit, silence=silence)
            lines, false_end = ending.lines(), ending.false_end()
            data = bytes(self._stream.data)
            self._arrive()
            if lines is not None:
                return "\n".join(behind_echo(lines, data, command, self._platform))
            passed.update(() if false_end is None else (false_end,))
        raise DeviceFailed(f"the end of `{shown_command(command)}` is not certain", kind="incomplete")

    async def _sent(
        self,
        command: str,
        ending: Ending,
        *,
        seconds: float | None,
        limit: int | None,
        silence: float | None,
    ) -> None:
        """Send the command and wait for its end; a failure carries what came before it."""
        self._begin()
        self._stream.limit = limit or self._limits.output_bytes
        self._conversation.send(command)
        try:
            await self._conversation.until(
                f"after `{shown_command(command)}`",
                ending,
                seconds=seconds or self._limits.command_seconds,
                silence=silence,
            )
        except DeviceFailed as exc:
            printed = bytes(self._stream.data[:_PARTIAL_BYTES])
            exc.partial = "\n".join(command_output(printed, command, self._place, self._platform))
            raise

    def _begin(self) -> None:
        if not self._usable:
            raise DeviceFailed("the session was given up after an earlier failure", kind="lost")
        self._usable = False
        self._conversation.clear()

    def _arrive(self) -> None:
        """Record that the channel stands at a prompt and is ready for the next command."""
        line = self._conversation.last_line()
        # Without a prompt on the last line, log lines followed it there.
        line = line if self._place.is_own(line) else self._conversation.standing_line()
        if self._place.is_own(line):
            self._place.arrive(line)
        self._usable = True
