"""The file that a backup is written into: whole under its name, or not there."""

import errno
import os
import stat
from pathlib import Path

import pytest

from netautod.core.errors import InvalidInput
from netautod.maintenance.archive.file import new_file as module
from netautod.maintenance.archive.file.new_file import NewFile, new_file
from netautod.store.migrations.archive_errors import ArchiveError
from tests.support.programs.small_disk import MIB, small_disk

CONTENT = b"all of it"


def put(made: NewFile, content: bytes = CONTENT) -> None:
    made.file.write(content)
    made.written()
    made.publish()


@pytest.fixture(
    params=[
        pytest.param(None, id="without a name at first"),
        pytest.param("unnamed", id="where files need a name"),
        pytest.param("links", id="where files have one name"),
    ]
)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the file system can do."""

    def cannot(*_: object, **__: object) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    if request.param is not None:
        monkeypatch.setattr(module, "_unnamed", cannot)
    if request.param == "links":
        monkeypatch.setattr("os.link", cannot)


@pytest.mark.usefixtures("system")
def test_a_whole_file_has_its_name_and_is_the_owners(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with new_file(tmp_path / "a") as made:
            made.file.write(b"an attempt that is much longer than what follows")
            made.restart()
            made.file.write(CONTENT)
            made.written()
            assert made.file.read() == CONTENT
            assert not (tmp_path / "a").exists()
            made.publish()
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.usefixtures("system")
def test_a_file_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with new_file(tmp_path / "a") as made:
            made.file.write(CONTENT)
            made.written()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("system")
def test_a_name_that_is_taken_meanwhile_is_left_to_the_other(tmp_path: Path) -> None:
    def lose() -> None:
        with new_file(tmp_path / "a") as made:
            (tmp_path / "a").write_bytes(b"of another")
            put(made)

    with pytest.raises(InvalidInput, match="exists already"):
        lose()
    assert (tmp_path / "a").read_bytes() == b"of another"
    assert os.listdir(tmp_path) == ["a"]


def a_file(path: Path) -> None:
    path.write_bytes(b"of another")


def a_folder(path: Path) -> None:
    path.mkdir()


def a_dead_link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("there", [a_file, a_folder, a_dead_link])
def test_what_is_there_is_not_overwritten(tmp_path: Path, there: object) -> None:
    assert callable(there)
    there(tmp_path / "a")
    with pytest.raises(InvalidInput, match="exists already and is not overwritten"), new_file(tmp_path / "a"):
        pytest.fail("it was begun")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("none/a", "No such file or directory", id="a folder that is not there"),
        pytest.param("file/a", "Not a directory", id="a folder that is a file"),
        pytest.param("/proc/a", "cannot be written", id="where nothing can be made"),
        pytest.param("n" * 300, "File name too long", id="a name that is too long"),
    ],
)
def test_where_nothing_can_be_written(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "file").touch()

    def write() -> None:
        with new_file(tmp_path / name) as made:
            put(made)

    with pytest.raises(ArchiveError, match=text):
        write()


@pytest.mark.usefixtures("system")
async def test_a_full_disk_is_named_and_nothing_stays(tmp_path: Path) -> None:
    async with small_disk(tmp_path / "disk", mib=8) as disk:

        def write() -> None:
            with new_file(disk.path / "a") as made:
                put(made, bytes(16 * MIB))

        with pytest.raises(ArchiveError, match=rf"the disk of {disk.path} is full \(0 of 8 MiB free\)"):
            write()
        assert os.listdir(disk.path) == []
