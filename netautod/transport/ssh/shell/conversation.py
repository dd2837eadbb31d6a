"""The conversation on the channel of a command line: it waits for the end of a step, answers pagers, refuses
questions.
"""

import asyncio
import re
from typing import Literal, Protocol

from netautod.transport.ssh.encoding import to_text
from netautod.transport.ssh.failures import DeviceFailed, FailureKind
from netautod.transport.ssh.platform.model import LoginAnswer, Platform
from netautod.transport.ssh.platform.redact import quoted
from netautod.transport.ssh.shell.stream import ByteStream
from netautod.transport.ssh.shell.terminal import clean, unfinished_escape, visible, without_escapes
from netautod.transport.ssh.target import SessionLimits

_SETTLE = 4  # a line that is an end but for what may still come is one after a quarter of the quiet time
_ANY_PAGER = re.compile(r"(?i)\bmore\b|\bpress\b.{0,40}\b(?:key|space|enter|return)\b|\bquit\b|\(END\)")
# Between login and prompt, on every platform; what is sent decides nothing.
_HARMLESS = (
    LoginAnswer(pattern=re.compile(r"(?i)\b(?:press|hit|strike) any key\b[^\n]*$"), answer=" "),
    LoginAnswer(
        pattern=re.compile(
            r"(?i)\b(?:press|hit) <?(?:return|enter)>?(?: key)? to (?:continue|get started)\b"
        ),
        answer="\r",
    ),
)
Verdict = Literal["no", "soon", "done"]


class Ending(Protocol):
    """A judge of whether a step has come to its end.

    After `patience` quiet periods behind a question the device is assumed to wait for its answer.
    """

    patience: int

    def at_end(self, line: str) -> Verdict:
        """Judge by the last line, called whenever data comes; `soon`: the end unless more comes in a short
        while.
        """

    def in_silence(self, ticks: int) -> bool:
        """Judge after each quiet period in which nothing came; the first one is 1."""


class Conversation:
    """The two sides of a channel since the last line that was sent.

    `stage` in the methods below is the end of a sentence, such as "after `show version`".
    """

    def __init__(self, stream: ByteStream, platform: Platform, limits: SessionLimits) -> None:
        self.stream = stream
        self._platform = platform
        self._limits = limits
        # Where in the buffer the text stood that was answered last, and with what.
        self._answered: tuple[int, str] | None = None
        self._login_answers = [*platform.login_answers, *_HARMLESS]
        self._late_answers: list[
            LoginAnswer
        ] = []  # for silence: the first time was perhaps a line of a banner

    def logged_in(self) -> None:
        """Stop answering the prompts of the login: from now on such a line is output."""
        self._login_answers.clear()
        self._late_answers.clear()

    def clear(self) -> None:
        """Forget what came, but for an escape sequence that is incomplete."""
        unfinished = unfinished_escape(self.stream.data)
        self.stream.clear()
        self.stream.data.extend(unfinished)
        self._answered = None

    def send(self, line: str) -> None:
        """Send a line with the line end of the platform."""
        self.stream.write(line + self._platform.enter)

    def last_line(self) -> str:
        """Return what came after the last line feed, as a terminal shows it."""
        return visible(to_text(self.stream.last_line())).rstrip()

    def standing_line(self) -> str:
        """Return the line that the device stopped at: the last one that is no log line printed after it."""
        for line in reversed(clean(bytes(self.stream.data)).split("\n")):
            if line.strip() and not self._platform.is_log_line(line):
                return line.rstrip()
        return ""

    async def until(
        self, stage: str, ending: Ending, *, seconds: float, silence: float | None = None
    ) -> None:
        """Read until the ending says so; answer pagers meanwhile.

        DeviceFailed `timeout` after `seconds`, or with a kind of its own after `silence` seconds without
        data.
        """
        try:
            async with asyncio.timeout(seconds):
                await self._listen(stage, ending, silence)
        except TimeoutError as exc:
            # What came while the process was busy is there in the same turn of the loop as the time limit.
            if self._verdict(stage, ending) == "done":
                return
            text = f"no prompt within {round(seconds, 1):g} s {stage} ({len(self.stream.data)} bytes came)"
            raise DeviceFailed(text, kind="timeout") from exc

    async def _listen(self, stage: str, ending: Ending, silence: float | None) -> None:
        quiet, ticks = self._limits.quiet_seconds, 0
        while (verdict := self._verdict(stage, ending)) != "done":
            if await self.stream.news(within=quiet / _SETTLE if verdict == "soon" else quiet):
                ticks = 0
                continue
            if verdict == "soon":
                return
            ticks += 1
            if self._answer_login():
                continue
            if ticks >= ending.patience:
                self._refuse_question(stage)
            if ending.in_silence(ticks):
                return
            if silence is not None and ticks * quiet >= silence:
                raise self._stuck(stage, silence)

    def _verdict(self, stage: str, ending: Ending) -> Verdict:
        stream = self.stream
        if stream.flooded:
            stream.abort()
            text = f"more than {stream.limit} bytes came {stage}"
            raise DeviceFailed(text, kind="flood")
        raw = to_text(stream.last_line())
        verdict = ending.at_end(visible(raw))
        if verdict == "done":
            return verdict
        if stream.ended:
            text = f"the connection dropped {stage} ({len(stream.data)} bytes came)"
            raise DeviceFailed(text, kind="lost")
        if verdict == "no":
            self._answer_device(without_escapes(raw))
        return verdict

    def _stuck(self, stage: str, silence: float) -> DeviceFailed:
        line = self.last_line().strip()
        kind: FailureKind = "timeout"
        if _ANY_PAGER.search(line[-80:]) is not None:
            kind = "pager"
        elif self._platform.mode_of(line) is not None:
            kind = "prompt"
        shown = f", at {quoted(line[-80:], self._platform)!r}" if line else ""
        return DeviceFailed(f"the device was silent for {silence:g} s {stage}{shown}", kind=kind)

    def _answer_device(self, raw: str) -> None:
        """Answer a pager, once: it waits while its text is the very end of what came.

        The first half of a text may require another key than the whole one.
        """
        position = self.stream.data.rfind(b"\n")
        known = self._answered is not None and self._answered[0] == position
        key = self._key_for(raw.rstrip("\r").rpartition("\r")[2], pagers_only=known)
        if key is not None and (position, key) != self._answered:
            self._answered = (position, key)
            self.stream.write(key)

    def _key_for(self, line: str, *, pagers_only: bool) -> str | None:
        """Return the key that a line waits for, if it is known to wait."""
        platform = self._platform
        if any(pattern.search(line) for pattern in platform.pager_end):
            return platform.pager_end_key
        if any(pattern.search(line) for pattern in platform.pager):
            return platform.pager_key
        answer = None if pagers_only else _first_of(self._login_answers, line)
        if answer is None:
            return None
        self._late_answers.append(answer)
        return answer.answer

    def _answer_login(self) -> bool:
        """Answer a prompt of the login that ends with a line feed: only silence shows that the
        device waits.
        """
        line = self.standing_line() if self._login_answers or self._late_answers else ""
        answer = _first_of(self._login_answers, line) or _first_of(self._late_answers, line)
        if answer is not None:
            self.stream.write(answer.answer)
        return answer is not None

    def _refuse_question(self, stage: str) -> None:
        if self._answered is not None and self._answered[0] == self.stream.data.rfind(b"\n"):
            return  # it was answered; the device takes its time
        line = self.last_line().strip()
        if self._platform.is_question(line):
            question = quoted(line[-120:], self._platform)
            text = f"the device asks {question!r} {stage}; a person has to answer that"
            raise DeviceFailed(text, kind="prompt")


def _first_of(answers: list[LoginAnswer], line: str) -> LoginAnswer | None:
    """Take the first answer that fits the line out of the list."""
    at = next((at for at, item in enumerate(answers) if item.pattern.search(line)), None)
    return None if at is None else answers.pop(at)
