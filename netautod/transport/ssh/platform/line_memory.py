"""The memory of plain lines, so that patterns are tried once on a line that fleets repeat endlessly."""

from collections.abc import Callable, Sequence

MOST = 100_000


class LineMemory:
    """A memory of the lines in which none of the patterns of `is_plain` matches.

    Configurations repeat their lines from one reading to the next and from device to device, and the patterns
    of a platform cost microseconds on each. The memory holds hashes, salted per process, never the text of a
    line.
    """

    def __init__(self, is_plain: Callable[[str], bool]) -> None:
        self._is_plain = is_plain
        self._known: set[int] = set()

    def others(self, lines: Sequence[str]) -> list[int]:
        """Return the positions of the lines that are not plain."""
        known = self._known
        return [at for at, line in enumerate(lines) if hash(line) not in known and not self.is_plain(line)]

    def is_plain(self, line: str) -> bool:
        """Return the verdict of the function on the line, from now or from before."""
        key = hash(line)
        if key in self._known:
            return True
        if not self._is_plain(line):
            return False
        if len(self._known) >= MOST:
            self._known.clear()
        self._known.add(key)
        return True
