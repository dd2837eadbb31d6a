"""The expected effect of configuration lines on a stored one, computed before an approval, when nothing is
sent.

It is what a reader would expect of the lines, not what the device makes of them: it knows no syntax, only
sections (lines with indented lines below them) and the word that takes a line out. What counts is the
comparison after the change, which is made from two captures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_ENDS = ("!", "#", "exit", "quit", "end", "return")


@dataclass(kw_only=True, eq=False)
class _Section:
    """A line and the lines that are indented below it."""

    line: str
    depth: int
    below: "list[_Section]" = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.line.strip()

    def named(self, text: str) -> "_Section | None":
        return next((one for one in self.below if one.text == text), None)

    def written(self) -> Iterator[str]:
        for one in self.below:
            yield one.line
            yield from one.written()


def predicted(config: str, lines: Sequence[str], *, negation: str) -> str:
    """Return the configuration as it would read with the lines in it."""
    root = _parsed(config)
    openers = {word for one in root.below if one.below and (word := _word(one.text))}
    inner = {_word(below.text) for one in root.below for below in one.below}
    outer = {_word(one.text) for one in root.below} - inner | openers
    path, was_indented = [root], False
    for line in lines:
        text = line.strip()
        if not text or text in _ENDS:
            path = path[: max(1, len(path) - 1)]
            continue
        indented = line[:1].isspace()
        word = _word(text.removeprefix(f"{negation} "))
        if not indented and (was_indented or word in outer or root.named(text) is not None):
            path = [root]
        was_indented = indented
        _apply(path, text, negation, openers)
    return "\n".join(root.written())


def _word(text: str) -> str:
    return text.split(maxsplit=1)[0] if text else ""


def _apply(path: list[_Section], text: str, negation: str, openers: set[str]) -> None:
    here = path[-1]
    if text.startswith(f"{negation} "):
        gone = text.removeprefix(f"{negation} ")
        kept = [one for one in here.below if one.text != gone and not one.text.startswith(f"{gone} ")]
        if len(kept) < len(here.below) or len(path) == 1:
            here.below[:] = kept
            return
    known = here.named(text)
    if known is None:
        known = _Section(line=" " * (here.depth + 1) + text if len(path) > 1 else text, depth=here.depth + 1)
        _insert(here, known)
    if len(path) == 1 and _word(text) in openers:
        path.append(known)


def _insert(here: _Section, new: _Section) -> None:
    """Insert a line: in the place of the line that it replaces (`description`), else behind similar ones,
    else last.
    """
    word = _word(new.text)
    alike = [place for place, one in enumerate(here.below) if _word(one.text) == word]
    single = {"description", "hostname", "name", "mtu", "speed", "duplex"}
    if word in single and len(alike) == 1:
        here.below[alike[0]] = new
    elif alike:
        here.below.insert(alike[-1] + 1, new)
    else:
        last = len(here.below)
        while last and here.below[last - 1].text in ("end", "return", "!", "#", ""):
            last -= 1
        here.below.insert(last, new)


def _parsed(config: str) -> _Section:
    root = _Section(line="", depth=-1)
    path = [root]
    for line in config.split("\n"):
        depth = len(line) - len(line.lstrip())
        while len(path) > 1 and path[-1].depth >= depth:
            path.pop()
        section = _Section(line=line, depth=depth)
        path[-1].below.append(section)
        if line.strip() not in ("", *_ENDS):
            path.append(section)
    return root
