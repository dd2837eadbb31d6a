"""The state of a command line: its prompt, mode and host name, and which lines are that prompt again."""

import re

from netautod.transport.ssh.platform.model import Platform

_HOST_CHARACTERS = 14  # IOS cuts the host name of a long prompt in its config modes
_COUNTERS = 12  # characters by which a prompt may be longer later: it counts commands, shows a star
_GLUED = 4  # prompts, at most, that follow each other where empty lines are not echoed
_NAME = re.compile(r"[\w.\-@:/~]{1,255}")


class Place:
    """The learned prompt. `answer_breaks` is the number of line ends in the answer to an empty line.

    `echoes` turns false when a command was answered that did not come back.
    """

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.prompt = ""
        self.mode = ""
        self.host = ""
        self.answer_breaks = 1
        self.echoes = True

    def arrive(self, line: str) -> None:
        """Record that the command line stands at this prompt."""
        self.prompt = line.rstrip()
        found = self._platform.mode_of(self.prompt)
        self.mode = found[0] if found is not None else self.mode

    def adopt(self, line: str) -> None:
        """Record a prompt that is the first one, or has another host name."""
        self.arrive(line)
        self.host = (self._platform.mode_of(line) or ("", self.host))[1]

    def is_own(self, line: str) -> bool:
        """Return whether the line is the learned prompt, or that of another mode of the same host.

        Config modes have many prompts.
        """
        if line.rstrip() == self.prompt:
            return True
        found = self._platform.mode_of(line)
        if found is None:
            return False
        if found[0] == self.mode != "config":
            return self._platform.steady(line) == self._platform.steady(self.prompt)
        return found[1].startswith(self.host[:_HOST_CHARACTERS])  # [sw1-GigabitEthernet0/0/1] of Comware

    def before_prompt(self, line: str) -> str | None:
        """Return what stands on the line before the prompt at its end: nothing, or a text without a line
        feed.

        None when the line does not end with the prompt. A log line behind the prompt belongs to no output.
        """
        line = line.rstrip()
        if self.is_own(line):
            return ""
        if self.prompt and line.endswith(self.prompt):
            return line[: -len(self.prompt)]
        bare = line.lstrip()  # a blank that ended the prompt before came late
        if self.is_own(bare):
            return line[: -len(bare)]
        if len(line) <= _GLUED * (len(self.prompt) + _COUNTERS):
            ends = (at for at in range(1, len(line)) if self.is_own(line[at:]))
            glued = next((at for at in ends if self.before_prompt(line[:at]) is not None), None)
            if glued is not None:
                return line[:glued]
        at = line.find(self.prompt) if self.prompt else -1
        if at == 0 and self._platform.is_log_line(line[len(self.prompt) :].lstrip()):
            return ""
        return None

    def renamed(self, line: str, command: str = "") -> bool:
        """Return whether the line is the prompt of this place with another host name.

        The shape around the name is the same; with a command, the name is one that stands in it.
        """
        found = self._platform.mode_of(line)
        if found is None or not self.host or _NAME.fullmatch(found[1]) is None:
            return False
        if command:
            return found[1][:_HOST_CHARACTERS] in command
        return line.rstrip().replace(found[1], "", 1) == self.prompt.replace(self.host, "", 1)
