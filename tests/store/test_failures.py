"""What the driver raises becomes an error of ours; after a write it may have happened all the same."""

import pytest
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    DuplicateKeyError,
    ExecutionTimeout,
    NotPrimaryError,
    OperationFailure,
    ServerSelectionTimeoutError,
    WTimeoutError,
)

from netautod.core.errors import DiskFull, Duplicate, Unavailable, UnknownOutcome
from netautod.store.driver.failures import duplicates_of, translated

SHUTTING_DOWN, BAD_VALUE, OUT_OF_DISK_SPACE = 91, 2, 14031


@pytest.mark.parametrize(
    ("error", "read", "write"),
    [
        pytest.param(AutoReconnect("x"), Unavailable, UnknownOutcome, id="connection lost"),
        pytest.param(NotPrimaryError("x"), Unavailable, UnknownOutcome, id="stepped down"),
        pytest.param(WTimeoutError("x"), Unavailable, UnknownOutcome, id="no majority in time"),
        pytest.param(OperationFailure("x", SHUTTING_DOWN), Unavailable, UnknownOutcome, id="shutting down"),
        pytest.param(ServerSelectionTimeoutError("x"), Unavailable, Unavailable, id="never sent"),
        pytest.param(ExecutionTimeout("x"), Unavailable, UnknownOutcome, id="too slow"),
        pytest.param(OperationFailure("x", OUT_OF_DISK_SPACE), DiskFull, DiskFull, id="the disk is full"),
        pytest.param(
            OperationFailure("28: No space left on device", 8), DiskFull, DiskFull, id="a full disk, quoted"
        ),
        pytest.param(
            OperationFailure("unknown operator: No space left on device", BAD_VALUE),
            OperationFailure,
            OperationFailure,
            id="a mistake that quotes the text of a user",
        ),
        pytest.param(
            BulkWriteError({"writeErrors": [{"index": 0, "code": OUT_OF_DISK_SPACE, "errmsg": "x"}]}),
            DiskFull,
            DiskFull,
            id="the disk is full for one of a batch",
        ),
        pytest.param(
            OperationFailure("x", BAD_VALUE), OperationFailure, OperationFailure, id="a mistake of ours"
        ),
    ],
)
def test_what_a_failure_means(error: Exception, read: type[Exception], write: type[Exception]) -> None:
    for writing, expected in ((False, read), (True, write)):
        with pytest.raises(expected) as raised, translated(writing=writing):
            raise error
        assert type(raised.value) is expected


def test_a_duplicate_names_the_fields_of_the_index() -> None:
    error = DuplicateKeyError("x", details={"keyPattern": {"org_id": 1, "name": 1}})
    with pytest.raises(Duplicate, match="same org_id and name already") as raised, translated(writing=True):
        raise error
    assert raised.value.fields == ("org_id", "name")


def test_positions_of_the_duplicates_of_a_batch() -> None:
    failures = [{"index": 4, "code": 11000}, {"index": 1, "code": 11000}]
    assert duplicates_of(BulkWriteError({"writeErrors": failures})) == (1, 4)
    for details in (
        {"writeErrors": [*failures, {"index": 2, "code": SHUTTING_DOWN}]},
        {"writeErrors": failures, "writeConcernErrors": [{"code": 64}]},
    ):
        with pytest.raises(UnknownOutcome):
            duplicates_of(BulkWriteError(details))


def test_a_batch_with_duplicates_on_a_full_disk_is_not_half_reported() -> None:
    failures = [{"index": 1, "code": 11000}, {"index": 2, "code": OUT_OF_DISK_SPACE}]
    with pytest.raises(DiskFull, match="The disk of the database is full"):
        duplicates_of(BulkWriteError({"writeErrors": failures}))
