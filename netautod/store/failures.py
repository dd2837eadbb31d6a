"""What the driver raises, as errors of ours: duplicates, outages, and writes of unknown outcome."""

from collections.abc import Iterator
from contextlib import contextmanager

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

from netautod.core.errors import Duplicate, Unavailable, UnknownOutcome

UNAVAILABLE = "The database is not available at the moment"
# Server answers that pass by themselves: stepping down, shutting down, not yet elected, too slow; a cursor
# that a fail-over took along; an operation that an administrator killed.
TRANSIENT_CODES = frozenset({6, 7, 43, 50, 64, 89, 91, 112, 133, 134, 175, 189, 237, 262, 9001, 10107, 11600})
TRANSIENT_CODES |= {11601, 11602, 13435, 13436}


@contextmanager
def translated(*, writing: bool) -> Iterator[None]:
    """Raises Duplicate, Unavailable, or for a write that may have happened UnknownOutcome.

    What is a mistake of ours (a bad query) stays the driver's error.
    """
    try:
        yield
    except DuplicateKeyError as error:
        raise _duplicate(error) from error
    except ServerSelectionTimeoutError as error:
        raise Unavailable(UNAVAILABLE) from error
    except (NotPrimaryError, AutoReconnect, NetworkTimeout, ConnectionFailure, WTimeoutError) as error:
        raise _lost(writing) from error
    except ExecutionTimeout as error:
        raise Unavailable("The database took too long to answer") from error
    except BulkWriteError as error:
        if _passes(error):
            raise _lost(writing) from error
        raise
    except OperationFailure as error:
        if error.code in TRANSIENT_CODES or error.has_error_label("RetryableWriteError"):
            raise _lost(writing) from error
        raise
    except PyMongoError as error:
        if error.has_error_label("RetryableWriteError"):
            raise _lost(writing) from error
        raise


def _passes(error: BulkWriteError) -> bool:
    """Whether all that went wrong in a batch is of the kind that passes; its own code says nothing."""
    details = error.details or {}
    failures = [*details.get("writeErrors", []), *details.get("writeConcernErrors", [])]
    return bool(failures) and all(failure.get("code") in TRANSIENT_CODES for failure in failures)


def _lost(writing: bool) -> Unavailable:
    return UnknownOutcome(UNAVAILABLE) if writing else Unavailable(UNAVAILABLE)


def _duplicate(error: DuplicateKeyError) -> Duplicate:
    pattern = (error.details or {}).get("keyPattern", {})
    return Duplicate(tuple(str(field) for field in pattern))


def duplicates_of(error: BulkWriteError) -> tuple[int, ...]:
    """Positions of an unordered insert that a unique index refused; raises if anything else went wrong."""
    details = error.details or {}
    failures = details.get("writeErrors", [])
    if details.get("writeConcernErrors") or any(failure.get("code") != 11000 for failure in failures):
        raise UnknownOutcome(UNAVAILABLE) from error
    return tuple(sorted(failure["index"] for failure in failures))
