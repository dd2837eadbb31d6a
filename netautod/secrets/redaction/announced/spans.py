"""The replacement of parts of texts."""

from collections.abc import Callable, Iterable

Span = tuple[int, int]


def replaced(text: str, spans: Iterable[Span], stand_in: Callable[[str], str]) -> str:
    """Return the text with `stand_in(part)` in the place of each part; overlapping parts become one."""
    shown: list[str] = []
    done = 0
    for start, end in merged(spans):
        shown += (text[done:start], stand_in(text[start:end]))
        done = end
    return "".join(shown) + text[done:] if shown else text


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, overlapping ones as one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif end > start:
            found.append((start, end))
    return found
