"""The rules that a text must pass to be stored as a whole configuration: not refused, not cut, and of this
platform.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from netautod.transport.ssh.capture.refusals import refusing_lines
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import quoted
from netautod.transport.ssh.session import refused

_EDGE_LINES = 3  # a refusal stands at the beginning or the end; in between a banner may quote one
_HEAD_LINES = 4
_SAYS = re.compile(r"\w")
_KIND_SHOWS = 16_384  # characters, in which each configuration has lines that no other platform has


def check_output(lines: Sequence[str], odd: Sequence[str], title: str, platform: Platform) -> None:
    """Check a text from a command line; raise the DeviceFailed of the first broken rule.

    `odd` are the lines that must be examined wherever they stand.
    """
    first, last = _non_blank(lines), _non_blank(reversed(lines))
    refusal = refused([*first, *reversed(last)], platform)
    if refusal is not None:
        raise DeviceFailed(f"{title} was refused: {refusal}", kind="refused_command")
    for line in filter(str.strip, odd):
        if any(pattern.search(line) for pattern in platform.pager):
            text = f"{title}: the pager's text is left in it: {quoted(line, platform, most=80)}"
            raise DeviceFailed(text, kind="pager")
    if not last:
        raise DeviceFailed(f"{title} printed nothing", kind="incomplete")
    for line in filter(str.strip, odd):
        if any(pattern.search(line) for pattern in platform.gaps):
            text = f"{title} lacks a part, the device says: {quoted(line, platform, most=80)}"
            raise DeviceFailed(text, kind="incomplete")
    if platform.end_marker is not None and platform.end_marker.search(last[0].strip()) is None:
        _require_no_refusal(refusing_lines(["\n".join(lines)]), title, platform)
        shown = quoted(last[0], platform, most=80)
        raise DeviceFailed(f"{title} stops at {shown!r} instead of its end marker", kind="incomplete")


def require_whole(texts: Sequence[str], platform: Platform) -> None:
    """Check that the whole text looks like a configuration, whatever else it says.

    In a short text the line of a refusal proves nothing: `interface busy` is no interface. Where a platform
    cannot say what each configuration has, such a line refuses the text.
    """
    refusals = refusing_lines(texts)
    proving = texts if not refusals else [_without(text, refusals) for text in texts]
    lacks = [pattern for pattern in platform.must_contain if not _on_a_line(pattern, proving)]
    unsaid = not platform.must_contain and platform.channel == "shell"
    if lacks or unsaid:
        _require_no_refusal(refusals, "what was read", platform)
    if lacks:
        text = f"what was read is no whole configuration: no line matches {lacks[0].pattern!r}"
        raise DeviceFailed(text, kind="incomplete")
    others = _other_kinds(texts, platform)
    if others:
        text = f"what was read is a configuration of {' or '.join(others)}"
        raise DeviceFailed(f"{text}: set the device type, or check the address", kind="incomplete")
    size = sum(len(text) for text in texts)
    if size < platform.smallest:
        text = f"what was read has {size} bytes; no configuration has under {platform.smallest}"
        raise DeviceFailed(text, kind="incomplete")


def _other_kinds(texts: Sequence[str], platform: Platform) -> list[str]:
    """Return the platforms whose own lines are in the texts, if none of this platform's own lines is.

    An unknown release may lack all lines by which this platform is known, and a banner may quote the line of
    another one. So it takes both the lack and, of one other platform, the head or two lines.
    """
    if not platform.own or any(map(platform.is_own, texts)):
        return []
    begins = [text[:_KIND_SHOWS] for text in texts]
    heads = ["\n".join(islice(filter(_SAYS.search, text.split("\n")), _HEAD_LINES)) for text in begins]
    return [
        name
        for name, own in platform.kinds.items()
        if any(_on_a_line(pattern, heads) for pattern in own) or len(_lines_of(own, begins)) > 1
    ]


def _lines_of(patterns: Sequence[re.Pattern[str]], texts: Iterable[str]) -> set[str]:
    """Return the different whole lines in which the matches end."""
    return {
        text[text.rfind("\n", 0, found.end()) + 1 :].partition("\n")[0]
        for text in texts
        for pattern in patterns
        for found in pattern.finditer(text)
    }


def _require_no_refusal(refusals: Sequence[str], title: str, platform: Platform) -> None:
    if refusals:
        refusal_text = quoted(refusals[0], platform, most=80)
        raise DeviceFailed(f"{title} looks like a refusal: {refusal_text}", kind="refused_command")


def _without(text: str, lines: Sequence[str]) -> str:
    return "\n".join(line for line in text.split("\n") if line not in lines)


def _on_a_line(pattern: re.Pattern[str], texts: Iterable[str]) -> bool:
    return any(pattern.search(text) is not None for text in texts)


def _non_blank(lines: Iterable[str]) -> list[str]:
    """Return the first few lines that are not blank."""
    return list(islice(filter(str.strip, lines), _EDGE_LINES))
