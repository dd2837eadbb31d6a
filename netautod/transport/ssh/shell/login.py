"""The login on a terminal, from the first byte of a channel to a known prompt."""

import asyncio
from dataclasses import dataclass, field

from netautod.transport.ssh.encoding import to_text
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import quoted
from netautod.transport.ssh.shell import dialogs
from netautod.transport.ssh.shell.conversation import Conversation, Verdict
from netautod.transport.ssh.shell.prompt_state import Place
from netautod.transport.ssh.shell.question import AwaitedLine, DialogSteps
from netautod.transport.ssh.shell.terminal import clean, without_escapes

_LEARN_TRIES = 3
_LOST_TICKS = 5  # quiet periods after which an empty line that nothing answered is sent again
_MOST_REPEATS = 2
_STAGE = "after the login"


class TerminalLogin:
    """The login on a terminal: it answers the device's prompts, and learns its command prompt.

    A platform whose terminal asks for a login gets name and password, each once.
    """

    def __init__(
        self, conversation: Conversation, place: Place, platform: Platform, *, seconds: float
    ) -> None:
        self._conversation = conversation
        self._place = place
        self._platform = platform
        self._deadline = asyncio.get_running_loop().time() + seconds
        self._steps = DialogSteps(conversation, platform, seconds=self._seconds_left)

    async def run(self, *, username: str, password: str | None) -> None:
        """Log in and learn the prompt. DeviceFailed `auth` when the device refuses the login, `prompt` when
        no prompt comes.
        """
        try:
            await self._log_in(username, password)
            await self._learn_prompt()
        except DeviceFailed as exc:
            if exc.kind != "timeout":
                raise
            seen = quoted(self._conversation.last_line().strip()[-80:], self._platform)
            ending = f"the last line is {seen!r}" if seen else "the device printed nothing"
            raise DeviceFailed(f"{exc.text}; {ending}", kind="prompt") from exc
        self._conversation.logged_in()

    async def _log_in(self, username: str, password: str | None) -> None:
        login = self._platform.login
        if login is not None:
            line = await self._steps.answer(_STAGE, login.is_dialog_prompt)
            ask = self._steps.ask(login.is_dialog_prompt)
            await dialogs.log_in(
                line,
                login,
                ask,
                username=username,
                password=password,
                is_prompt=self._steps.is_prompt,
            )

    async def _learn_prompt(self) -> None:
        """Learn the prompt: a line that looks like one is it when an empty command brings the same line
        again.

        The device must print nothing else, or the same twice: with the rest of a banner before it, it is
        unknown what belongs to the answer.
        """
        candidate = await self._steps.answer(_STAGE, _nothing)
        same, before = False, None
        for _ in range(_LEARN_TRIES):
            answer = await self._answer_to_nothing(candidate)
            again = answer.lines[-1]
            same = self._platform.steady(again) == self._platform.steady(candidate)
            candidate = again  # the one before was perhaps a line of the banner
            if same and answer.sure and (answer == before or not any(map(self._is_text, answer.lines[:-1]))):
                break
            before = answer
            self._place.answer_breaks = 1
            self._conversation.clear()
            await self._conversation.until(_STAGE, _Quiet(), seconds=self._seconds_left())
            candidate = self._conversation.standing_line().strip() or candidate
        if not same:
            shown = quoted(candidate[-80:], self._platform)
            raise DeviceFailed(f"the prompt changes each time, at last to {shown!r}", kind="prompt")
        self._place.adopt(candidate)
        if answer.lacks_blank:
            await self._conversation.until(_STAGE, _Quiet(), seconds=self._seconds_left())

    async def _answer_to_nothing(self, candidate: str) -> "_Answer":
        blank = self._text().endswith(" ")
        self._conversation.clear()
        self._conversation.send("")
        ending = _Repeated(self._conversation, prompt=self._steps.is_prompt, candidate=candidate)
        await self._conversation.until(_STAGE, ending, seconds=self._seconds_left())
        answer = clean(bytes(self._conversation.stream.data)).rstrip()
        self._place.answer_breaks = answer.count("\n")
        above = [line for line in answer.split("\n")[:-1] if not self._platform.is_log_line(line)]
        standing = _last_of(self._conversation.standing_line(), candidate)
        text = self._text()
        lacks_blank = (blank or text.startswith(" ")) and not text.endswith(" ")
        return _Answer(lines=(*above, standing), sure=ending.repeats == 0, lacks_blank=lacks_blank)

    def _text(self) -> str:
        return without_escapes(to_text(bytes(self._conversation.stream.data)))

    def _is_text(self, line: str) -> bool:
        """Return whether the line does not belong to the prompt below it."""
        return bool(line.strip()) and not self._platform.is_prompt_head(line)

    def _seconds_left(self) -> float:
        return max(self._deadline - asyncio.get_running_loop().time(), 0.0)


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """The answer to an empty line; not `sure` when more than one was sent.

    `lacks_blank`: the prompt before ended with a blank that is still to come behind this one, and belongs to
    no output.
    """

    lines: tuple[str, ...]
    sure: bool
    lacks_blank: bool = field(compare=False)


class _Quiet:
    """The end of all that is under way."""

    patience = 1

    def at_end(self, line: str) -> Verdict:
        return "no"

    def in_silence(self, ticks: int) -> bool:
        return True


class _Repeated(AwaitedLine):
    """The answer to an empty line at what may be the prompt. Without one it is sent again.

    Devices drop what is typed while they still log in, or echo it before they print the prompt.
    """

    def __init__(self, conversation: Conversation, *, prompt: dialogs.Judge, candidate: str) -> None:
        super().__init__(conversation, prompt=prompt, is_question=_nothing)
        self._candidate = candidate
        self.repeats = 0

    def at_end(self, line: str) -> Verdict:
        return super().at_end(_last_of(line, self._candidate))

    def in_silence(self, ticks: int) -> bool:
        if super().in_silence(ticks) or self._prompt(
            _last_of(self._conversation.standing_line(), self._candidate)
        ):
            return True
        line = self._conversation.last_line()
        lost = not line or line.endswith(self._candidate)
        if lost and ticks % _LOST_TICKS == 0 and self.repeats < _MOST_REPEATS:
            self.repeats += 1
            self._conversation.send("")
        return False


def _last_of(line: str, prompt: str) -> str:
    """Return the line without the prompts before its last one: without an echo they follow each other."""
    line = line.lstrip()
    while prompt and line.startswith(prompt) and line[len(prompt) :].strip():
        line = line[len(prompt) :].lstrip()
    return line


def _nothing(line: str) -> bool:
    """Return false: there is no prompt to wait for."""
    return False
