"""The transcript of an agent's run as a chain: each event holds the hash of the one before."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from netautod.core.json.values import to_text
from netautod.plugin_api import ToolCall, TranscriptEvent

START = "0" * 64  # stands for the hash before the first event


@dataclass(frozen=True, kw_only=True)
class Chained:
    """An event of a stored transcript; `previous` and `hash` are hexadecimal SHA-256."""

    event: TranscriptEvent
    previous: str
    hash: str

    def to_json(self) -> dict[str, Any]:
        return {**event_json(self.event), "hash": self.hash}


def chained(execution_id: str, event: TranscriptEvent, previous: str) -> Chained:
    return Chained(event=event, previous=previous, hash=_hash(execution_id, event, previous))


def event_json(event: TranscriptEvent) -> dict[str, Any]:
    """Return the event as JSON, without the fields that are empty."""
    found = {**asdict(event), "at": to_text(event.at)}
    found["tool_calls"] = [asdict(call) for call in event.tool_calls]
    return {name: _plain(value) for name, value in found.items() if value is not None and value != ()}


def event_of(values: Mapping[str, Any], at: datetime) -> TranscriptEvent:
    """Build an event from the JSON of `event_json`."""
    known = {name: value for name, value in values.items() if name in TranscriptEvent.__dataclass_fields__}
    calls = tuple(ToolCall(**call) for call in known.pop("tool_calls", ()))
    return TranscriptEvent(**{**known, "at": at}, tool_calls=calls)


def problem_of(execution_id: str, found: Sequence[Chained]) -> str | None:
    """Return what is wrong with a stored transcript, None if nothing is."""
    previous = START
    for number, one in enumerate(found, start=1):
        if one.event.seq != number:
            return f"event {number} is missing"
        if one.previous != previous or one.hash != _hash(execution_id, one.event, previous):
            return f"event {number} was changed"
        previous = one.hash
    return None


def _hash(execution_id: str, event: TranscriptEvent, previous: str) -> str:
    details = {"execution_id": execution_id, "previous": previous, **event_json(event)}
    return sha256(json.dumps(details, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, kw_only=True)
class Usage:
    """The turns and tool calls of a run so far."""

    turns: int = 0
    tool_calls: int = 0
