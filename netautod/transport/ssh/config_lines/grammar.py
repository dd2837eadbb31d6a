"""The check whether lines are configuration, by what the platform says of its configuration mode.

It is an allow-list of beginnings: a device abbreviates, falls back to exec commands and knows aliases, so no
list of bad words is ever whole.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.config_lines.beginnings import Beginning, begins, named
from netautod.transport.ssh.config_lines.characters import divided, in_shell, words_of
from netautod.transport.ssh.config_lines.exec_verbs import EXEC_VERBS, STORING
from netautod.transport.ssh.config_lines.later import Never
from netautod.transport.ssh.config_lines.texts import Refused, TextBlock, is_delimited, quoted
from netautod.transport.ssh.config_lines.unlisted import check_unlisted


@dataclass(frozen=True, kw_only=True)
class ConfigLines:
    """The lines that the configuration mode of one platform takes.

    `words` are beginnings of lines (beginnings.py), `alone` whole lines, `up` those among them that leave a
    section; the words of `before` may stand before any of these. `delimited` begin a text between two equal
    characters, which must end on its line, and `blocks` texts of several lines. `separators` are refused
    anywhere, `unquoted` outside double quotes. `never` are words that no line has, wherever they stand: they
    have the device run commands later. `exact`: words are not abbreviated. `shell`: the mode is a
    shell (with `exact`). `like` names the platform whose lines are taken as well. `verbs` are exec commands
    of the platform's own. Without `words` the rule for unknown platforms applies.
    """

    like: str | None = None
    words: tuple[Beginning, ...] = ()
    alone: tuple[Beginning, ...] = ()
    up: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    delimited: tuple[Beginning, ...] = ()
    blocks: tuple[TextBlock, ...] = ()
    separators: tuple[str, ...] = ()
    unquoted: tuple[str, ...] = ()
    never: tuple[Never, ...] = ()
    exact: bool = False
    shell: bool = False
    verbs: frozenset[str] = frozenset()

    def over(self, base: "ConfigLines") -> "ConfigLines":
        """Return the lines with those of another platform before its own, and with that one's `like`."""
        both = ("words", "alone", "up", "before", "delimited", "blocks", "separators", "unquoted", "never")
        joined: dict[str, Any] = {
            name: tuple(dict.fromkeys((*getattr(base, name), *getattr(self, name)))) for name in both
        }
        exact, shell = self.exact or base.exact, self.shell or base.shell
        return replace(self, like=base.like, exact=exact, shell=shell, **joined)

    def check(self, lines: Sequence[str]) -> None:
        """Check all lines, in their order. InvalidInput names the number of the line and its first word."""
        block: TextBlock | None = None
        ups = 0
        for number, line in enumerate(lines, 1):
            words = line.split()
            try:
                if block is not None:
                    block = block.after(line.strip())
                    continue
                ups += self._is_up(words)
                if 2 * ups > number:  # by then more sections were left than could have been opened
                    raise Refused(f"{quoted(words[0])} leaves the configuration mode")
                block = next((one for one in self.blocks if one.begin.fullmatch(line.strip())), None)
                if block is None:
                    self._check(line.strip(" "), words)
            except Refused as refused:
                raise InvalidInput(f"lines: line {number}: {refused}") from refused
        if block is not None:
            raise InvalidInput("lines: the text that the last lines belong to does not end")

    def stores(self, line: str) -> bool:
        """Return whether the line stores the configuration for the next start."""
        first = line.lower().split()[0] if line.strip() else ""
        return len(first) > 1 and any(verb.startswith(first) for verb in STORING)

    def _is_up(self, words: Sequence[str]) -> bool:
        return len(words) == 1 and any(word.startswith(words[0].lower()) for word in self.up)

    def _check(self, text: str, words: Sequence[str]) -> None:
        if not words or not text.isprintable():
            raise Refused("a line has printable characters, and at least one that is no blank")
        self._check_characters(text)
        if not self.words:
            check_unlisted(text, words[0], self.verbs)
            return
        self._check_later(text)
        before = words[0] if self.exact else words[0].lower()
        if before in self.before and len(words) > 1:
            self._check_words(words[1:], negated=True)
        else:
            self._check_words(words, negated=False)

    def _check_characters(self, text: str) -> None:
        if self.shell and not in_shell(text):
            raise Refused("a shell would read some of its characters: put them into single quotes")
        if found := divided(text, self.separators, self.unquoted):
            raise Refused(f"the device may read another command behind {found}")

    def _check_later(self, text: str) -> None:
        for word in words_of(text, shell=self.shell, quotes=bool(self.unquoted)):
            if hit := next((one for one in self.never if one.is_meant(word)), None):
                raise Refused(f"{hit.word} has the device run commands later")

    def _check_words(self, words: Sequence[str], *, negated: bool) -> None:
        found = [one for one in self.words if begins(one, words, self.exact)]
        found += [one for one in self.alone if begins(one, words, self.exact) == len(words)]
        for one in self.delimited:
            if taken := begins(one, words, self.exact):
                if not (is_delimited(" ".join(words[taken:])) or (negated and taken == len(words))):
                    raise Refused("a text must end on its line, with the character that it begins with")
                found.append(one)
        if not found:
            raise Refused(f"{quoted(words[0])} {self._reason(words)}")
        full, first = {word for one in found for word in one[0]}, words[0].lower()
        if first not in full and not self.exact and (verb := self._verb(first, but=full)):
            unclear = "" if verb == first else ": write it in full"
            raise Refused(f"{quoted(words[0])} {_fault(verb, first)}{unclear}")

    def _reason(self, words: Sequence[str]) -> str:
        """Return why the words are no line that the platform takes."""
        first, rest = words[0].lower(), words[:1]
        longer = [
            one for one in (*self.words, *self.delimited) if one[1:] and begins(one[:1], rest, self.exact)
        ]
        if longer:
            behind = named(one[1] for one in longer)
            return f"is configuration only with one of these behind it: {behind}"
        if any(begins(one[:1], rest, self.exact) for one in self.alone):
            return "is configuration only with nothing behind it"
        verb = self._verb(first, but=frozenset())
        return _fault(verb, first) if verb else "is no line of configuration"

    def _verb(self, first: str, *, but: Set[str]) -> str | None:
        """Return the command that the word is or abbreviates.

        A word that is configuration only in some lines is a command in the others.
        """
        partly = [*(one for one in self.words if one[1:]), *self.alone]
        verbs = (EXEC_VERBS | self.verbs | {word for one in partly for word in one[0]}) - but
        return min((verb for verb in verbs if verb.startswith(first)), default=None)


def _fault(verb: str, first: str) -> str:
    """Return what is wrong with a first word that is the command, or may abbreviate it."""
    if verb == first:
        return f"is the command {verb}, no line of configuration"
    return f"may stand for the command {verb}"
