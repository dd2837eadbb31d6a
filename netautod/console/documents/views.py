"""The view models of contents: as much text as a page may hold, and the diff of two contents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from netautod.core.errors import InvalidInput
from netautod.core.loop.pace import in_thread_if_large
from netautod.network.configs.texts.diff import Lines, unified

MOST_CHARACTERS = 256 * 1024
MOST_COMPARED = 4 * 1024 * 1024  # characters of both contents together
MOST_LINES = 200_000
MOST_RUNS = 1000
KINDS = {"+": "added", "-": "removed", "@": "section"}


@dataclass(frozen=True, kw_only=True)
class ShownText:
    """The beginning of a content; `left_out` are the characters after it."""

    text: str = field(repr=False)
    left_out: int = 0


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run of adjacent lines of a diff of one kind: added, removed, section or same."""

    kind: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ShownDiff:
    """A diff as a page shows it; `whole` False: more differs than is shown."""

    runs: Sequence[Run]
    additions: int
    deletions: int
    whole: bool


def shown_text(text: str) -> ShownText:
    return ShownText(text=text[:MOST_CHARACTERS], left_out=max(0, len(text) - MOST_CHARACTERS))


async def diff_of(old: str, new: str) -> ShownDiff:
    """Compare two contents line by line.

    Raises InvalidInput if that would take too long.
    """
    lines = old.count("\n") + new.count("\n")
    if len(old) + len(new) > MOST_COMPARED or lines > MOST_LINES:
        raise InvalidInput("These contents are too large to be compared here; download both")
    return await in_thread_if_large(len(old) + len(new), _diff, old, new)


def _diff(old: str, new: str) -> ShownDiff:
    found = unified(_lines(old), _lines(new), old_name="", new_name="", most_characters=MOST_CHARACTERS)
    written = found.text.splitlines()[2:]
    runs = list(_runs(written))
    hidden = len(runs) > MOST_RUNS or (bool(written) and written[-1].startswith("\\"))
    return ShownDiff(
        runs=runs[:MOST_RUNS], additions=found.additions, deletions=found.deletions, whole=not hidden
    )


def _lines(text: str) -> Lines:
    lines = text.replace("\r\n", "\n").split("\n")
    return Lines(compared=lines, shown=lines)


def _runs(lines: Sequence[str]) -> Iterator[Run]:
    for kind, some in groupby(lines, key=lambda line: KINDS.get(line[:1], "same")):
        yield Run(kind=kind, text="\n".join(some))
