"""A full disk that a request meets is named, whatever failed because of it."""

import errno
import os
from pathlib import Path

import pytest

from netautod.core.errors import DiskFull, Unavailable
from netautod.http.errors import name_full_disk
from netautod.store.disk_room import Room
from netautod.store.driver.failures import UNAVAILABLE
from tests.support.disk import Disk


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT], ids=["no space", "quota used up"])
@pytest.mark.parametrize("named", [True, False], ids=["a file of ours", "a temporary file"])
def test_a_file_without_room_is_a_503_that_names_the_disk(tmp_path: Path, number: int, named: bool) -> None:
    path = str(tmp_path) if named else None
    error = name_full_disk(OSError(number, os.strerror(number), path), Room())
    assert isinstance(error, DiskFull)
    assert error.text.startswith("The disk of ")
    assert " is full (" in error.text
    assert error.retry_after > 0
    if named:
        assert str(tmp_path) in error.text


async def test_a_database_that_a_full_disk_has_ended_is_not_just_unavailable() -> None:
    async with Disk(free=3).room() as room:
        error = name_full_disk(Unavailable(UNAVAILABLE), room)
    assert isinstance(error, DiskFull)
    assert error.text == f"{UNAVAILABLE}: the disk of /data is full (3 of 1000 MiB free)"


async def test_other_failures_stay_what_they_are() -> None:
    errors = (
        Unavailable(UNAVAILABLE),
        PermissionError(errno.EACCES, "denied", "/data"),
        ValueError("x"),
        None,
    )
    async with Disk(free=300).room() as room:
        assert [name_full_disk(error, room) for error in errors] == list(errors)
    async with Disk(free=3).room() as room:
        assert str(name_full_disk(Unavailable("draining"), room)) == "draining"  # what /health says is fixed
