"""A conversation with the command line of a device: learns its prompt, sends commands, reads their output."""

import asyncio
import re
from collections.abc import Callable

from netautod.core.redaction.commands import shown_command
from netautod.ssh.failures import DeviceFailed
from netautod.ssh.platform.model import Platform
from netautod.ssh.platform.redact import quoted
from netautod.ssh.shell import dialogs
from netautod.ssh.shell.conversation import Conversation, Ending, Verdict
from netautod.ssh.shell.ending import CommandEnding, ReadEnding
from netautod.ssh.shell.output import behind_echo, body_of
from netautod.ssh.shell.place import Place
from netautod.ssh.shell.stream import ByteStream
from netautod.ssh.shell.terminal import clean
from netautod.ssh.target import SessionLimits

_LEARN_TRIES = 3
_LOST_TICKS = 5  # quiet periods after which an empty line that nothing answered is sent again
_MOST_REPEATS = 2
_PARTIAL_BYTES = 1024 * 1024  # of a failed command's output that the failure carries
_LOGIN = "after the login"
_Judge = Callable[[str], bool]


class _Line:
    """The end of a step of a dialog: a prompt, or a question of the dialog.

    A banner may hold a line that begins as the question: it is one when nothing follows it.
    """

    patience = 1

    def __init__(self, conversation: Conversation, *, prompt: _Judge, asks: _Judge) -> None:
        self._conversation = conversation
        self._prompt = prompt
        self._asks = asks

    def at_end(self, line: str) -> Verdict:
        if self._asks(line):
            return "soon"
        return "done" if self._prompt(line) else "no"

    def in_silence(self, ticks: int) -> bool:
        line = self._conversation.standing_line()
        return self._asks(line) or self._prompt(line)


class _Quiet:
    """The end of all that is under way."""

    patience = 1

    def at_end(self, line: str) -> Verdict:
        return "no"

    def in_silence(self, ticks: int) -> bool:
        return True


class _Repeated(_Line):
    """The answer to an empty line at what may be the prompt. Without one it is sent again.

    Devices drop what is typed while they still log in, or echo it before they print the prompt.
    """

    def __init__(self, conversation: Conversation, *, prompt: _Judge, candidate: str) -> None:
        super().__init__(conversation, prompt=prompt, asks=_nothing)
        self._candidate = candidate
        self.repeats = 0

    def at_end(self, line: str) -> Verdict:
        return super().at_end(_last_of(line, self._candidate))

    def in_silence(self, ticks: int) -> bool:
        if self._prompt(_last_of(self._conversation.standing_line(), self._candidate)):
            return True
        line = self._conversation.last_line()
        if (
            ticks % _LOST_TICKS == 0
            and self.repeats < _MOST_REPEATS
            and (not line or line.endswith(self._candidate))
        ):
            self.repeats += 1
            self._conversation.send("")
        return False


class Shell:
    """One interactive channel; after `start` it stands at a known prompt.

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
        self._deadline: float | None = None  # of the login

    @property
    def prompt(self) -> str:
        """As the device showed it last."""
        return self._place.prompt

    @property
    def mode(self) -> str:
        """The mode of the command line, a key of the platform's `prompts`."""
        return self._place.mode

    async def start(self, *, username: str, password: str | None, seconds: float) -> None:
        """Learns the prompt, answers what the device asks before; DeviceFailed `prompt` when none comes.

        A platform whose terminal asks for a login gets name and password, each once: `auth` when it refuses.
        The login has `seconds`, a prompt behind it `prompt_seconds` more.
        """
        self._deadline = asyncio.get_running_loop().time() + seconds + self._limits.prompt_seconds
        try:
            login = self._platform.login
            if login is not None:
                line = await self._answer(_LOGIN, login.asks)
                ask = self._asking(login.asks)
                await dialogs.log_in(line, login, ask, username=username, password=password)
            await self._learn_prompt()
        except DeviceFailed as exc:
            if exc.kind != "timeout":
                raise
            seen = quoted(self._conversation.last_line().strip()[-80:], self._platform)
            ending = f"the last line is {seen!r}" if seen else "the device printed nothing"
            raise DeviceFailed(f"{exc.text}; {ending}", kind="prompt") from exc
        self._deadline = None
        self._conversation.logged_in()

    async def turn_paging_off(self) -> list[tuple[str, str]]:
        """Sends the platform's commands for paging and width; answers them with what the device said.

        A device that does not know one says so; the pager is answered anyway.
        """
        commands = (*self._platform.paging_off, *self._platform.width)
        silence = self._limits.silence_seconds
        return [(command, await self._run(command, settles=False, silence=silence)) for command in commands]

    async def enable(self, secret: str | None, *, username: str) -> None:
        """Goes to the privileged mode; sends the secret at most once. DeviceFailed `enable` if refused."""
        dialog = self._platform.enable
        if dialog is None:
            raise DeviceFailed(f"the platform {self._platform.name} knows no enable command", kind="enable")
        self._begin()
        line = await dialogs.enable(dialog, self._asking(dialog.asks), username=username, secret=secret)
        found = self._platform.mode_of(line)
        if found is None or found[0] == self.mode:
            raise DeviceFailed("the device refused the enable secret or command", kind="enable")
        self._place.arrive(line)
        self._usable = True

    def _asking(self, asks: _Judge) -> dialogs.Ask:
        """Sends a line of a dialog whose questions `asks` knows."""

        async def ask(sent: str, stage: str) -> str:
            self._conversation.clear()
            self._conversation.send(sent)
            return await self._answer(stage, asks)

        return ask

    async def run(self, command: str, *, seconds: float | None = None, limit: int | None = None) -> str:
        """Sends a command of a user and returns what it printed, without echo and prompt (see encoding.py).

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
        body = body_of(bytes(self._stream.data), command, self._place, self._platform)
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
        """As `run`, for a read command of the platform: a line of the text that equals the prompt is text.

        `marker` is what the last line of the text must match, where the platform has such a line.
        DeviceFailed `pager`, `prompt` or `timeout` when the device falls silent in the middle.
        """
        for patient in (False, True):
            ending = ReadEnding(
                self._conversation, self._place, self._platform, command, marker=marker, patient=patient
            )
            silence = self._limits.silence_seconds
            await self._sent(command, ending, seconds=seconds, limit=limit, silence=silence)
            lines = ending.lines()
            data = bytes(self._stream.data)
            self._arrive()
            if lines is not None:
                return "\n".join(behind_echo(lines, data, command, self._platform))
        raise DeviceFailed(f"the end of `{shown_command(command)}` cannot be told", kind="incomplete")

    async def _sent(
        self,
        command: str,
        ending: Ending,
        *,
        seconds: float | None,
        limit: int | None,
        silence: float | None,
    ) -> None:
        """Sends the command and waits for its end; a failure carries what came before it."""
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
            exc.partial = "\n".join(body_of(printed, command, self._place, self._platform))
            raise

    async def _learn_prompt(self) -> None:
        """A line that looks like a prompt is one when an empty command brings the same line again.

        And nothing else: with the rest of a banner before it, nobody knows what belongs to the answer.
        """
        candidate = await self._answer(_LOGIN, _nothing)
        same = False
        for _ in range(_LEARN_TRIES):
            again, alone = await self._answer_to_nothing(candidate)
            same = self._platform.steady(again) == self._platform.steady(candidate)
            candidate = again  # the one before was perhaps a line of the banner
            if same and alone:
                break
            self._place.answer_breaks = 1
            self._conversation.clear()
            await self._conversation.until(_LOGIN, _Quiet(), seconds=self._seconds_left())
            candidate = self._conversation.standing_line().strip() or candidate
        if not same:
            shown = quoted(candidate[-80:], self._platform)
            raise DeviceFailed(f"the prompt changes each time, at last to {shown!r}", kind="prompt")
        self._place.adopt(candidate)

    async def _answer_to_nothing(self, candidate: str) -> tuple[str, bool]:
        """The line that an empty command brings, and whether there is nothing more in the answer."""
        self._conversation.clear()
        self._conversation.send("")
        ending = _Repeated(self._conversation, prompt=self._is_prompt, candidate=candidate)
        await self._conversation.until(_LOGIN, ending, seconds=self._seconds_left())
        answer = clean(bytes(self._stream.data)).rstrip()
        self._place.answer_breaks = answer.count("\n")
        lines = [
            *answer.split("\n")[:-1],
            standing := _last_of(self._conversation.standing_line(), candidate),
        ]
        return standing, ending.repeats == 0 and not any(map(self._says, lines))

    def _says(self, line: str) -> bool:
        """Whether the line belongs to no prompt."""
        silent = not line.strip() or self._is_prompt(line) or self._platform.is_prompt_head(line)
        return not silent and not self._platform.is_log_line(line)

    def _begin(self) -> None:
        if not self._usable:
            raise DeviceFailed("the session was given up after an earlier failure", kind="lost")
        self._usable = False
        self._conversation.clear()

    def _arrive(self) -> None:
        """The channel stands at a prompt: remembers it and is ready for the next command."""
        line = self._conversation.last_line()
        # Without a prompt on the last line, log lines followed it there.
        line = line if self._place.is_own(line) else self._conversation.standing_line()
        if self._place.is_own(line):
            self._place.arrive(line)
        self._usable = True

    async def _answer(self, stage: str, asks: _Judge) -> str:
        """The line that ends a step of a dialog."""
        ending = _Line(self._conversation, prompt=self._is_prompt, asks=asks)
        await self._conversation.until(stage, ending, seconds=self._seconds_left())
        return self._conversation.standing_line()

    def _seconds_left(self) -> float:
        """For a step of a dialog: within a login, what is left of it."""
        if self._deadline is None:
            return self._limits.prompt_seconds
        return max(self._deadline - asyncio.get_running_loop().time(), 0.0)

    def _is_prompt(self, line: str) -> bool:
        return self._platform.mode_of(line) is not None


def _last_of(line: str, prompt: str) -> str:
    """The line without the prompts before its last one: without an echo they follow each other."""
    while prompt and line.startswith(prompt) and line[len(prompt) :].strip():
        line = line[len(prompt) :].lstrip()
    return line


def _nothing(line: str) -> bool:
    """There is no question to wait for."""
    return False
