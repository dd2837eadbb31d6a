"""The end of the output of a command: by quiet for what people send, by proof for what is stored."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.shell.conversation import Conversation, Verdict
from netautod.transport.ssh.shell.output import echo_lines, without_heads
from netautod.transport.ssh.shell.prompt_state import Place
from netautod.transport.ssh.shell.terminal import clean

_ECHO_TICKS = 3  # quiet periods after which a prompt counts although the command was not echoed
_RENAMED_TICKS = 3  # after which a prompt with another host name counts
_GLUED_TICKS = 2  # after which one counts that stands behind a text without a line feed
_UNMARKED_TICKS = 3  # after which one counts that stands behind no end marker
_PASSED_TICKS = 10  # after which one counts behind which an earlier reading went on
_LOST_TICKS = 5  # after which an empty line that nothing answered is sent again
_QUESTION_TICKS = 4  # after which a text that looks like a question is one: output rests behind any text
_MOST_PROBES = 3
_EDGE_BYTES = 4096  # at the end, in which the last prompts stand


class Echo:
    """The echo of a command. A prompt that came before the echo must not end the output."""

    def __init__(self, conversation: Conversation, place: Place, platform: Platform, command: str) -> None:
        self._conversation = conversation
        self._place = place
        self._platform = platform
        self._command = command
        self._seen = False

    def seen(self) -> bool:
        if not self._seen:
            self._seen = bool(echo_lines(self._conversation.stream.data, self._command, self._platform))
        return self._seen

    def given_up(self, ticks: int) -> bool:
        """Return whether to go on without the echo: a device that echoes nothing is not waited for again."""
        return self.seen() or ticks >= (_ECHO_TICKS if self._place.echoes else 1)


class CommandEnding:
    """The ending of a user's command: an empty line could confirm a question, so that quiet alone decides.

    With `settles` false the prompt ends it at once: for commands whose output is not used.
    """

    patience = 1

    def __init__(
        self,
        conversation: Conversation,
        place: Place,
        platform: Platform,
        command: str,
        *,
        settles: bool = True,
    ) -> None:
        self._conversation = conversation
        self._place = place
        self._command = command
        self._settles = settles
        self._echo = Echo(conversation, place, platform, command)

    def at_end(self, line: str) -> Verdict:
        if not self._place.is_own(line) or not self._echo.seen():
            return "no"
        return "soon" if self._settles else "done"

    def in_silence(self, ticks: int) -> bool:
        """Accept a prompt that log lines follow, that no echo precedes, or that has another host name now."""
        if not self._echo.given_up(ticks):
            return False
        line = self._conversation.standing_line()
        before = self._place.before_prompt(line)
        if before is None:
            named = self._place.renamed(line, self._command)
            if not named and not (ticks >= _RENAMED_TICKS and self._place.renamed(line)):
                return False
            self._place.adopt(line)
        elif before and ticks < _GLUED_TICKS:
            return False
        self._place.echoes = self._echo.seen()
        return True


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """The prompts at the very end of some lines, nothing but blank and log lines between them.

    `above` are the lines over the first of the last `count`; `breaks` the line ends between two of
    them, the fewest.
    """

    count: int
    above: list[str]
    breaks: int


class ReadEnding:
    """The ending of a read command of the platform: a prompt counts when an empty line brings it again.

    The empty line (a probe) is sent as soon as a prompt is the end of what came. If that was a line of the
    text, the device answers when it has printed the rest: then the end is the prompt and, for each probe, the
    prompt again. Where the platform has an end marker, that stands above the first of them.

    The echo of a probe that a device prints in the middle of its text may tear a line: such a line feed
    cannot be distinguished from one of the text. Then the text is read again. A `patient` reading sends a
    probe in silence only, and not where an earlier one has found that a prompt is text: at the lines
    `passed`.
    """

    patience = _QUESTION_TICKS

    def __init__(
        self,
        conversation: Conversation,
        place: Place,
        platform: Platform,
        command: str,
        *,
        marker: re.Pattern[str] | None,
        patient: bool = False,
        passed: Collection[int] = (),
    ) -> None:
        self._conversation = conversation
        self._place = place
        self._platform = platform
        self._marker = marker
        self._patient = patient
        self._passed = passed
        self._echo = Echo(conversation, place, platform, command)
        self._probes: list[int] = []

    def at_end(self, line: str) -> Verdict:
        if self._place.before_prompt(line) is None or not self._echo.seen():
            return "no"
        if not self._probes:
            if not self._patient and self._place.is_own(line):
                self._probe()
            return "no"
        found = self._prompts()
        if found.count < 2 or len(self._probes) > 1:
            return "no"
        if self._marker is not None and not self._marked(found):
            return "no"
        sure = self._marker is not None and found.count == 2 and found.breaks == self._place.answer_breaks
        return "done" if sure else "soon"

    def in_silence(self, ticks: int) -> bool:
        if not self._echo.given_up(ticks) or not self._at_prompt(ticks):
            return False
        if not self._probes:
            if ticks < _PASSED_TICKS and self._line_number() in self._passed:
                return False
            self._place.echoes = self._echo.seen()
            self._probe()
            return False
        found = self._prompts()
        if found.count >= 2:
            return self._marker is None or self._marked(found) or ticks >= _UNMARKED_TICKS
        news = len(self._conversation.stream.data) > self._probes[-1]
        if len(self._probes) < _MOST_PROBES and (news or ticks % _LOST_TICKS == 0):
            self._probe()
        return False

    def lines(self) -> list[str] | None:
        """Return what came without the prompts at its end; None when an echo may have torn a line of it."""
        data = bytes(self._conversation.stream.data)
        found = prompts_at_end(clean(data).split("\n"), self._place, self._platform, most=self._most())
        whole = found.count == self._most() and found.breaks >= self._place.answer_breaks
        if self._went_on(data) and not whole:
            return None  # the answer was drawn over the prompt, or an echo is somewhere in the text
        return found.above

    def false_end(self) -> int | None:
        """Return the line at which this reading took a prompt of the text for the end."""
        data = self._conversation.stream.data
        return data[: self._probes[0]].count(b"\n") if self._probes and self._went_on(bytes(data)) else None

    def _line_number(self) -> int:
        return self._conversation.stream.data.count(b"\n")

    def _most(self) -> int:
        return len(self._probes) + 1

    def _at_prompt(self, ticks: int) -> bool:
        if self._place.before_prompt(self._conversation.last_line()) is not None:
            return True
        line = self._conversation.standing_line()
        if self._place.before_prompt(line) is not None:
            return True  # log lines follow it
        if ticks < _RENAMED_TICKS or not self._place.renamed(line):
            return False
        self._place.adopt(line)
        return True

    def _probe(self) -> None:
        self._probes.append(len(self._conversation.stream.data))
        self._conversation.send("")

    def _prompts(self) -> Prompts:
        edge = clean(bytes(self._conversation.stream.data[-_EDGE_BYTES:])).split("\n")
        return prompts_at_end(edge, self._place, self._platform)

    def _marked(self, found: Prompts) -> bool:
        """Return whether the end marker, or a refusal, is the last thing that the device said before its
        prompt.
        """
        last = next((line.strip() for line in reversed(found.above) if self._is_text(line)), "")
        if self._marker is not None and self._marker.search(last) is not None:
            return True
        return any(
            pattern.search(line)
            for line in [text for text in found.above if text.strip()][-3:]
            for pattern in self._platform.failures
        )

    def _is_text(self, line: str) -> bool:
        return bool(line.strip()) and not self._platform.is_log_line(line)

    def _went_on(self, data: bytes) -> bool:
        """Return whether the first probe was sent at a line that only looked like a prompt."""
        after = clean(data[self._probes[0] :]).split("\n") if self._probes else []
        return any(self._is_text(line) and self._place.before_prompt(line) != "" for line in after)


def prompts_at_end(
    lines: Sequence[str], place: Place, platform: Platform, *, most: int | None = None
) -> Prompts:
    """Return the prompts with which the lines end, `most` at most."""
    above, count = list(lines), 0
    ends: list[int] = []
    while above and (most is None or count < most):
        rest = _without_blank(above, platform)
        before = place.before_prompt(rest[-1]) if rest else None
        if before is None:
            break
        count += 1
        ends.append(len(rest))
        above = without_heads(rest[:-1], platform) if not before else [*rest[:-1], before]
        if before and place.before_prompt(before) is None:
            break  # the last line of the text had no line feed
    breaks = min((later - earlier for later, earlier in pairwise(ends)), default=0)
    return Prompts(count=count, above=above, breaks=breaks)


def _without_blank(lines: list[str], platform: Platform) -> list[str]:
    end = len(lines)
    while end and (not lines[end - 1].strip() or platform.is_log_line(lines[end - 1])):
        end -= 1
    return lines[:end]
