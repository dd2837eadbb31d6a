"""The parsing of outputs that describe one thing after another: where each begins, and which of its lines are
facts.

A block may hold any other line: releases add them, and none of them changes what the known ones say. What
begins a block must be known, though: its facts would go to the thing before it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netautod_cli.unreadable import Unreadable
from netautod_cli.whole import is_cut

_LINES = re.MULTILINE | re.IGNORECASE


def facts(**patterns: str) -> Mapping[str, re.Pattern[str]]:
    """Compile patterns, each of which gives the value of its name by its first group that matched."""
    return {name: re.compile(pattern, _LINES) for name, pattern in patterns.items()}


def lines(pattern: str) -> re.Pattern[str]:
    """Compile a pattern for what begins a line, in the very letters that a device prints."""
    return re.compile(pattern, re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Form:
    """The form of an output in blocks. `head` begins a block; its groups are facts.

    `every` are facts that a block may have several times. `suspect`: a line like a head; where it begins no
    block, the output is not understood. `carried`: a group of the head that holds for the blocks below that
    have none. `needed`: without it, a block is no record.
    """

    head: re.Pattern[str]
    facts: Mapping[str, re.Pattern[str]]
    every: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    suspect: re.Pattern[str] | None = None
    carried: str | None = None
    needed: str | None = None


def records(form: Form, command: str, output: str) -> list[dict[str, Any]]:
    """Parse an output. Raises Unreadable for one without a head, with one that is not known, or cut within a
    line.
    """
    text = "\n".join(line.rstrip() for line in output.splitlines())
    heads = list(form.head.finditer(text))
    if not heads or not _all_known(form, text, heads):
        raise Unreadable(f"`{command}` prints a form that is not known")
    ends = [*(found.start() for found in heads[1:]), len(text)]
    blocks = [text[found.start() : end] for found, end in zip(heads, ends, strict=True)]
    if is_cut(blocks):
        raise Unreadable(f"`{command}` ends in the middle of a line")
    made = [_record(form, found, block) for found, block in zip(heads, blocks, strict=True)]
    return [record for record in _with_carried(form, made) if form.needed is None or record.get(form.needed)]


def _all_known(form: Form, text: str, heads: Sequence[re.Match[str]]) -> bool:
    place = 0
    for line in form.suspect.finditer(text) if form.suspect is not None else ():
        while place < len(heads) and heads[place].end() < line.start():
            place += 1
        if place == len(heads) or line.start() < heads[place].start():
            return False
    return True


def _record(form: Form, found: re.Match[str], block: str) -> dict[str, Any]:
    record: dict[str, Any] = {name: value for name, value in found.groupdict().items() if value}
    for name, pattern in form.facts.items():
        if name not in record and (match := pattern.search(block)) is not None:
            record[name] = next((group for group in match.groups() if group), "").strip()
    for name, pattern in form.every.items():
        record[name] = list(_groups(pattern, block))
    return record


def _groups(pattern: re.Pattern[str], block: str) -> Iterator[Any]:
    for match in pattern.finditer(block):
        yield match.groups() if len(match.groups()) > 1 else match[1].strip()


def _with_carried(form: Form, made: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    last = None
    for record in made:
        if form.carried is not None:
            last = record.get(form.carried, last)
            record[form.carried] = last
        yield record
