"""The lines that enclose a line of a configuration, by their indentation: `interface Gi0/1`, `vlan 10`."""

from collections.abc import Sequence

# What some platforms write between two sections, whatever the indentation: it encloses nothing.
SEPARATORS = ("!", "#")


def enclosing(lines: Sequence[str], at: int) -> list[int]:
    """Return the positions of the lines around line `at`, the outermost first; none for one that begins at
    the left.

    A line without text belongs to what comes before it: it counts as if it had the depth of the next line
    above that has some.
    """
    while at > 0 and not _says(lines[at]):
        at -= 1
    found: list[int] = []
    depth = _depth(lines[at])
    for above in range(at - 1, -1, -1):
        if depth == 0:
            break
        line = lines[above]
        if _says(line) and _depth(line) < depth:
            found.append(above)
            depth = _depth(line)
    return found[::-1]


def _says(line: str) -> bool:
    text = line.strip()
    return bool(text) and text not in SEPARATORS


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
