"""The one table from our errors to HTTP statuses, and the one shape of an error body."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netautod.core import errors
from netautod.core.disk import is_full, reason
from netautod.store.disk_room import Room
from netautod.store.driver.failures import UNAVAILABLE

FULL_DISK_RETRY = 60  # seconds
# An outage that passes by itself, such as the election of a primary, is over in a few of these.
RETRY_SECONDS = 2
# Statuses that pass by themselves: every such answer says when to come again.
RETRIED = (429, 503)
LONGEST_ERROR = 2000  # characters: no error gives megabytes of a request back


class MethodNotAllowed(errors.NetautodError):
    """The path exists, the method does not."""


class UnsupportedEncoding(errors.NetautodError):
    """The body is compressed or otherwise encoded."""


class UnknownExpectation(errors.NetautodError):
    """The header Expect asks for something else than 100-continue."""


STATUS: dict[type[errors.NetautodError], int] = {
    errors.InvalidInput: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    MethodNotAllowed: 405,
    errors.Conflict: 409,
    errors.PreconditionFailed: 412,
    errors.TooLarge: 413,
    UnsupportedEncoding: 415,
    UnknownExpectation: 417,
    errors.TooManyRequests: 429,
    errors.UpstreamFailed: 502,
    errors.Unavailable: 503,
}


def status_of(error: errors.NetautodError) -> int:
    """The status of the error's nearest class in the table; 500 for an error without an entry."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def told(error: BaseException | None, room: Room) -> BaseException | None:
    """The error as clients are told of it: a disk that is full is named, whatever failed because of it."""
    if isinstance(error, errors.Unavailable) and error.text.startswith(UNAVAILABLE):
        out = room.out()
        return error if out is None else _full(f"{error.text}: {out}")
    if isinstance(error, OSError) and is_full(error):
        where = Path(error.filename) if isinstance(error.filename, str) else Path(tempfile.gettempdir())
        return _full(reason(error, where))
    return error


def _full(text: str) -> errors.DiskFull:
    return errors.DiskFull(text[:1].upper() + text[1:], retry_after=FULL_DISK_RETRY)


def error_body(error: errors.NetautodError) -> dict[str, Any]:
    body: dict[str, Any] = {"error": error.text[:LONGEST_ERROR]}
    if isinstance(error, errors.TooManyRequests | errors.Overloaded):
        body["retry_after_secs"] = retry_after(error)
    return body


def retry_after(error: errors.NetautodError) -> int | None:
    """The seconds that the error itself names for Retry-After, one at least."""
    if isinstance(error, errors.TooManyRequests | errors.Overloaded):
        return max(1, error.retry_after)
    return None


def common_headers(request_id: str) -> Mapping[str, str]:
    """What every answer carries."""
    return {
        "X-Request-Id": request_id,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
