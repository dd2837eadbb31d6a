"""The one table from our errors to HTTP statuses, and the one shape of an error body."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from tornado.web import HTTPError

from netautod.core import errors
from netautod.core.disk import is_full, reason
from netautod.store.disk_room import Room
from netautod.store.driver.failures import UNAVAILABLE

FULL_DISK_RETRY = 60  # seconds
# An outage that passes by itself, such as the election of a primary, is over in a few of these.
RETRY_SECONDS = 2
# Statuses that pass by themselves: every such answer has Retry-After.
RETRIED = (429, 503)
LONGEST_ERROR = 2000  # characters: no error gives megabytes of a request back


class MethodNotAllowed(errors.NetautodError):
    """Raised where the path exists and the method does not."""


class UnsupportedBody(errors.NetautodError):
    """Raised for a body that is compressed, or of a type that the route does not take."""


class Misdirected(errors.NetautodError):
    """Raised for a request to a host that is not this service (RFC 9110 15.5.20)."""


class UnknownExpectation(errors.NetautodError):
    """Raised where the header Expect is something else than 100-continue."""


STATUS: dict[type[errors.NetautodError], int] = {
    errors.InvalidInput: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    MethodNotAllowed: 405,
    errors.Conflict: 409,
    errors.PreconditionFailed: 412,
    errors.TooLarge: 413,
    UnsupportedBody: 415,
    UnknownExpectation: 417,
    Misdirected: 421,
    errors.TooManyRequests: 429,
    errors.UpstreamFailed: 502,
    errors.Unavailable: 503,
}


def status_of(error: errors.NetautodError) -> int:
    """Return the status of the error's nearest class in the table; 500 for an error without an entry."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


@dataclass(frozen=True, kw_only=True)
class ErrorAnswer:
    """The answer to an error. `headers` go beyond those of its status."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str]


def error_answer(
    error: BaseException | None, status: int, *, request_id: str, allowed: Sequence[str]
) -> ErrorAnswer:
    """Return the answer to what a handler raised; `status` is Tornado's, `allowed` the route's methods."""
    headers: dict[str, str] = {}
    if isinstance(error, errors.NetautodError) and status_of(error) != 500:
        seconds = retry_after(error)
        if seconds is not None:
            headers["Retry-After"] = str(seconds)
        if isinstance(error, MethodNotAllowed):
            headers["Allow"] = ", ".join(allowed)
        if isinstance(error, errors.Unauthenticated):
            headers["WWW-Authenticate"] = "Bearer"
        return ErrorAnswer(status=status_of(error), body=error_body(error), headers=headers)
    if isinstance(error, HTTPError) and status < 500:
        text = error.log_message or HTTPStatus(status).phrase
        return ErrorAnswer(status=status, body={"error": text}, headers=headers)
    text = f"Internal server error (request {request_id})"
    return ErrorAnswer(status=500, body={"error": text}, headers=headers)


def name_full_disk(error: BaseException | None, room: Room) -> BaseException | None:
    """Return the error that clients are sent: DiskFull in the place of any error that a full disk caused."""
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
    """Return the JSON of an error: `error` is its sentence, and a 429 has its seconds beside it."""
    body: dict[str, Any] = {"error": error.text[:LONGEST_ERROR]}
    if isinstance(error, errors.TooManyRequests):
        body["retry_after_secs"] = retry_after(error)
    return body


def retry_after(error: errors.NetautodError) -> int | None:
    """Return the seconds that the error itself names for Retry-After, at least one."""
    if isinstance(error, errors.TooManyRequests | errors.Overloaded):
        return max(1, error.retry_after)
    return None
