"""Translation of the driver's exceptions to errors of ours: duplicates, outages, and writes of unknown
outcome.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConnectionFailure,
    DuplicateKeyError,
    ExecutionTimeout,
    NetworkTimeout,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WTimeoutError,
)

from netautod.core.disk import says_full
from netautod.core.errors import DiskFull, Duplicate, Unavailable, UnknownOutcome
from netautod.core.work.deadlines import AWAY

UNAVAILABLE = AWAY
# Server answers that pass by themselves: stepping down, shutting down, not yet elected, too slow; a cursor
# that a fail-over took along; an operation that an administrator killed.
TRANSIENT_CODES = frozenset({6, 7, 43, 50, 64, 89, 91, 112, 133, 134, 175, 189, 237, 262, 9001, 10107, 11600})
TRANSIENT_CODES |= {11601, 11602, 13435, 13436}
FULL = "The disk of the database is full"
FULL_RETRY = 60  # seconds
# https://github.com/mongodb/mongo/blob/r6.0.5/src/mongo/base/error_codes.yml. Not every full disk is called
# so: for some the server has a general code and quotes the system.
_OUT_OF_DISK_SPACE = 14031
_UNNAMED = frozenset({1, 8})  # InternalError, UnknownError


@contextmanager
def translated(*, writing: bool) -> Iterator[None]:
    """Translate an error of the driver within the block by `raise_translated`."""
    try:
        yield
    except PyMongoError as error:
        raise_translated(error, writing=writing)


def raise_translated(error: PyMongoError, *, writing: bool) -> NoReturn:
    """Raise Duplicate, Unavailable, DiskFull, or for a write that may have happened UnknownOutcome.

    A mistake of ours (a bad query) stays the driver's error.
    """
    match error:
        case DuplicateKeyError():
            raise _duplicate(error) from error
        case ServerSelectionTimeoutError():
            raise Unavailable(UNAVAILABLE) from error
        case NotPrimaryError() | AutoReconnect() | NetworkTimeout() | ConnectionFailure() | WTimeoutError():
            raise _lost(writing) from error
        case ExecutionTimeout():
            text = "The database took too long to answer"
            raise (UnknownOutcome if writing else Unavailable)(text) from error
        case BulkWriteError():
            _refuse_full(error)
            if _passes(error):
                raise _lost(writing) from error
        case OperationFailure():
            _refuse_full(error)
            if error.code in TRANSIENT_CODES or error.has_error_label("RetryableWriteError"):
                raise _lost(writing) from error
        case _ if error.has_error_label("RetryableWriteError"):
            raise _lost(writing) from error
    raise error


def _refuse_full(error: OperationFailure) -> None:
    """Raise DiskFull if that is what the server says; a batch has an answer for each change that failed."""
    details = error.details or {}
    failures = [*details.get("writeErrors", []), *details.get("writeConcernErrors", [])]
    answers = [(error.code, str(error)), *((one.get("code"), one.get("errmsg", "")) for one in failures)]
    if any(code == _OUT_OF_DISK_SPACE or (code in _UNNAMED and says_full(text)) for code, text in answers):
        raise DiskFull(FULL, retry_after=FULL_RETRY) from error


def _passes(error: BulkWriteError) -> bool:
    """Return whether all failures of a batch are of the kind that passes; the batch's own code does not
    say."""
    details = error.details or {}
    failures = [*details.get("writeErrors", []), *details.get("writeConcernErrors", [])]
    return bool(failures) and all(failure.get("code") in TRANSIENT_CODES for failure in failures)


def _lost(writing: bool) -> Unavailable:
    return UnknownOutcome(UNAVAILABLE) if writing else Unavailable(UNAVAILABLE)


def _duplicate(error: DuplicateKeyError) -> Duplicate:
    pattern = (error.details or {}).get("keyPattern", {})
    return Duplicate(tuple(str(field) for field in pattern))


def duplicates_of(error: BulkWriteError) -> tuple[int, ...]:
    """Return the positions of an unordered insert that a unique index refused; raise if anything else went
    wrong.
    """
    details = error.details or {}
    failures = details.get("writeErrors", [])
    _refuse_full(error)
    if details.get("writeConcernErrors") or any(failure.get("code") != 11000 for failure in failures):
        raise UnknownOutcome(UNAVAILABLE) from error
    return tuple(sorted(failure["index"] for failure in failures))
