"""The check whether a command only reads, by the forms of its platform; only the full form is sent."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.read_only import unknown
from netautod.transport.ssh.read_only.forms import Node, graph_of
from netautod.transport.ssh.read_only.words import Refused, full_filter, full_words

LONGEST = 250  # characters of a command
_PLAIN = re.compile(r"[ -~]+")
_TOKEN = re.compile(r'[^ "|]*"[^"]*"|[^ "|]+|[|"]')
_BEFORE_FILTERS = re.compile(r'(?:"[^"]*"|[^"|])*')
# Behind the first `|` of platforms whose patterns have alternatives, `up|down` is one word.
_OR_TOKEN = re.compile(r'"[^"]*"|[^ "|]+(?:\|[^ "|]+)*|[|"]')


class Verdict(NamedTuple):
    """A verdict on a command.

    `command` is the full form of an allowed command; else it is None, and `reason` says why not.
    """

    command: str | None
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class ReadOnlyGrammar:
    """The commands of one platform that are allowed.

    `forms` and `filters` (behind a `|`) are those of forms.py; `pipes` is how many filters one command may
    have. `exact`: words are as they are written, without abbreviations, and upper and lower case differ, as
    in a shell. `slashes`: `/ip/address/print` is `/ip address print`, with or without the first slash. `like`
    names the platform whose forms are allowed as well (see with_inherited_forms). Without forms, the rules of
    an unknown platform apply.
    """

    like: str | None = None
    forms: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    pipes: int | None = None
    exact: bool = False
    slashes: bool = False

    def __getstate__(self) -> dict[str, object]:
        """Return the fields without the graphs, which are large: another process builds its own."""
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    def check(self, command: str) -> Verdict:
        """Return the command in full if it is allowed; send only that, never the text that was requested."""
        try:
            return Verdict(self._full(command), None)
        except Refused as refused:
            return Verdict(None, str(refused))

    def over(self, base: "ReadOnlyGrammar") -> "ReadOnlyGrammar":
        """Return the grammar with the forms of another platform before its own, and with that one's
        `like`.
        """
        return replace(
            self,
            like=base.like,
            forms=tuple(dict.fromkeys((*base.forms, *self.forms))),
            filters=tuple(dict.fromkeys((*base.filters, *self.filters))),
            pipes=base.pipes if self.pipes is None else self.pipes,
            exact=self.exact or base.exact,
            slashes=self.slashes or base.slashes,
        )

    def verify(self) -> None:
        """Check the forms; InvalidInput names one that cannot be read.

        It keeps no graph: those of all platforms are 12 MB, and few platforms get commands. Building one
        takes the first command of a platform 10 ms at most.
        """
        for forms in (self.forms, self.filters):
            graph_of(forms)
        if self.filters and not (self.forms or self.like):
            raise InvalidInput("filters need forms")

    def _full(self, command: str) -> str:
        if len(command) > LONGEST:
            raise Refused(f"a command has {LONGEST} characters at most")
        if not _PLAIN.fullmatch(command):
            raise Refused("a command is one line of printable ASCII characters")
        parts: list[list[str]] = [[]]
        for token in self._tokens(command):
            if token == "|":
                parts.append([])
            else:
                parts[-1].append(token)
        words, *filters = parts
        most = 0 if not self.filters else 1 if self.pipes is None else self.pipes
        if len(filters) > most:
            raise Refused(f"| is allowed {most} times at most" if most else "| is not allowed here")
        if not self.forms:
            return " ".join(unknown.full_words(words))
        found = [full_words(self._graph, self._opened(words), exact=self.exact)]
        found += [full_filter(self._filters, each, exact=self.exact) for each in filters]
        return " | ".join(" ".join(each) for each in found)

    def _tokens(self, command: str) -> list[str]:
        end = _BEFORE_FILTERS.match(command)
        head = command if end is None else end[0]
        behind = _OR_TOKEN if any("<either>" in form for form in self.filters) else _TOKEN
        return [*_TOKEN.findall(head), *behind.findall(command[len(head) :])]

    def _opened(self, words: list[str]) -> list[str]:
        if not self.slashes or not words:
            return words
        path = words[0].removeprefix("/").split("/")
        return [f"/{path[0]}", *path[1:], *words[1:]] if all(path) else words

    @cached_property
    def _graph(self) -> Node:
        return graph_of(self.forms)

    @cached_property
    def _filters(self) -> Node:
        return graph_of(self.filters)
