"""The form of events on the wire: https://html.spec.whatwg.org/multipage/server-sent-events.html, section
9.2.6.
"""

from collections.abc import Mapping
from typing import Any

from netautod.activity.events.models import END, RESET, Event, Resumed
from netautod.core.json import values as json_values

RETRY_MILLIS = 2000


def written(name: str, data: Mapping[str, Any]) -> bytes:
    """Return the lines of an event without its id.

    JSON has no line breaks outside of texts, nor any in them.
    """
    return f"event: {name}\n".encode() + b"data: " + json_values.encode(data) + b"\n"


def body_of(event: Event) -> bytes:
    return written(event.name, event.data)


def with_id(body: bytes, place: Resumed) -> bytes:
    return f"id: {place}\n".encode() + body + b"\n"


def opening(place: Resumed) -> bytes:
    """Return a comment, and where the stream begins.

    A block without data sets the last id and is no event.
    """
    return f": netautod\nretry: {RETRY_MILLIS}\nid: {place}\n\n".encode()


def comment(place: Resumed) -> bytes:
    """Return a comment, which says that the connection lives, and up to where everything has been sent."""
    return f": \nid: {place}\n\n".encode()


def reset(place: Resumed, reason: str) -> bytes:
    """Return the event that events may be missing here: the client has to read anew what it shows."""
    return with_id(written(RESET, {"reason": reason}), place)


def end(reason: str) -> bytes:
    return written(END, {"reason": reason}) + b"\n"
