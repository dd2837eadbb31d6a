"""The evidence that an answer names, looked up in what the tools returned."""

import re
from collections.abc import Sequence
from typing import Any

from netautod.plugin_api import TranscriptEvent

REFUSED = "error"  # the source of results that the desk gives instead of a tool
MOST = 200
MOST_LINES = 50  # lines whose text one citation shows
# The form that the prompt prescribes; a range of one line may leave out the second number.
_CITATION = re.compile(r"\[cite:([A-Za-z0-9_.-]{1,64}):(\d{1,7})(?:-(\d{1,7}))?\]")


def citations_of(answer: str, events: Sequence[TranscriptEvent]) -> list[dict[str, Any]]:
    """Return each citation once: `{tool_call_id, first, last, text, holds, source}`.

    `holds`: the call was made, and what it returned has these lines; `text` holds them. An error that a
    device returned is a fact as well; a call that was refused has returned nothing.
    """
    results = {event.tool_call_id: event for event in events if event.role == "tool"}
    found: dict[tuple[str, int, int], dict[str, Any]] = {}
    for call_id, first_text, last_text in _CITATION.findall(answer):
        first, last = int(first_text), int(last_text or first_text)
        found.setdefault((call_id, first, last), _checked(results.get(call_id), call_id, first, last))
    return list(found.values())[:MOST]


def _checked(event: TranscriptEvent | None, call_id: str, first: int, last: int) -> dict[str, Any]:
    lines = _lines(event) if event is not None else {}
    holds = (
        event is not None
        and event.source != REFUSED
        and first <= last
        and all(number in lines for number in (first, last))
    )
    shown = range(first, min(last, first + MOST_LINES - 1) + 1) if holds else ()
    return {
        "tool_call_id": call_id,
        "first": first,
        "last": last,
        "text": "\n".join(lines[number] for number in shown) if holds else None,
        "holds": holds,
        "source": None if event is None else event.source,
    }


def _lines(event: TranscriptEvent) -> dict[int, str]:
    """Return the lines by their numbers, as the model saw them: `12| interface Vlan1` between the head and
    the end.
    """
    numbered = (line.partition("| ") for line in (event.result or "").split("\n")[1:-1])
    return {int(number): text for number, bar, text in numbered if bar and number.isdigit()}
