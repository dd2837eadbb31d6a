"""The check whether an output is complete, from its beginning to its end.

Devices mark no end, and what they print differs by release. So a text is refused only on the evidence of its
own lines: one that no rule took where a row may stand, or a last one that is the beginning of another.
"""

import re
from collections.abc import Iterable, Sequence

_VALUES = re.compile(r"\d+")
# A row of any table that we read has one of these: a MAC address in any form, an IPv4 address.
_ADDRESS = re.compile(
    r"(?<![0-9a-f])(?:[0-9a-f]{4}[.:-][0-9a-f]{4}[.:-][0-9a-f]{4}|(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}"
    r"|[0-9a-f]{6}-[0-9a-f]{6}|\d+\.\d+\.\d+\.\d+)(?![0-9a-f])",
    re.IGNORECASE,
)
# What may stand below the last row: a count, a ruler, Junos's "{master:0}", what a mark means.
_ENDS = re.compile(
    r"[\s-]*(?:total|number of)\b.*\d.*|[\s\d-]*.*\bfound\b[\s-]*|[-=+\s]+|\{\S+\}|\* .*", re.IGNORECASE
)
_HANGING = re.compile(r"\w[/,]$")


def is_cut(blocks: Sequence[str]) -> bool:
    """Return whether the last block ends within a word of a line that stands elsewhere.

    Between words is no evidence: a line may have more to say of one thing than of another.
    """
    shapes = [_shape(line) for block in blocks for line in block.splitlines() if line.strip()]
    if not shapes:
        return False
    last, above = shapes[-1], set(shapes[:-1])
    return last not in above and any(_is_beginning(shape, last) for shape in above)


def _is_beginning(line: str, beginning: str) -> bool:
    return line.startswith(beginning) and line[len(beginning) - 1 : len(beginning) + 1].isalpha()


def _shape(line: str) -> str:
    """Return the line without what differs from block to block."""
    return _VALUES.sub("0", line.rstrip())


def has_stray(passed: Iterable[tuple[str, bool, bool]]) -> bool:
    """Return whether one of the lines that no rule took may be a row.

    Each comes with whether it stands behind a row, and whether it is the last line.
    """
    return any(_may_be_row(line, behind=behind, last=last) for line, behind, last in passed)


def _may_be_row(line: str, *, behind: bool, last: bool) -> bool:
    if _ADDRESS.search(line) is not None:
        return True
    if not behind or _ENDS.fullmatch(line) is not None:
        return False
    return last or (any(character.isdigit() for character in line) and not line.rstrip().endswith(":"))


def ends_within(lines: Sequence[str], valued: Sequence[bool]) -> bool:
    """Return whether the last line breaks off: in a list, in the name of a port, or before all that makes it
    a row.

    `valued`: which of the lines from the first row on gave a value. A table gives one in each, but below its
    rows; where others do not, nothing can be said of the last.
    """
    last = lines[-1].rstrip()
    if valued[-1]:
        return _HANGING.search(last) is not None
    if _ENDS.fullmatch(last) is not None:
        return False
    if any(line.startswith(last) and line.rstrip() != last for line in lines[:-1]):
        return True  # a heading, which some tables have several times
    between = zip(lines[-len(valued) : -1], valued[:-1], strict=True)
    return all(had or _ENDS.fullmatch(line) for line, had in between)
