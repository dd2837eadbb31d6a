"""The embedded database without a real server: finding mongod, tying it to us, and failing starts."""

import asyncio
import fcntl
import json
import os
import sys
from pathlib import Path

import pytest

from netautod.core.disk import MIB, Space
from netautod.store.embedded import mongod as embedded
from netautod.store.embedded.files import rotate
from netautod.store.embedded.mongod import EmbeddedMongo, EmbeddedMongoError, find_running
from netautod.store.embedded.program import WAYS_OUT, cause_of_exit, find_mongod, tied_to_parent

LOADER = (
    "mongod: error while loading shared libraries: libcurl.so.4: cannot open shared object file: No such file"
)


def program(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def log_line(severity: str, text: str, **attributes: object) -> str:
    return json.dumps({"s": severity, "msg": text, "attr": attributes})


def test_path_wins_over_the_package(tmp_path: Path) -> None:
    ours = program(tmp_path / "bin" / "mongod", "exit 0")
    assert find_mongod(path=str(tmp_path / "bin")) == ours


def test_the_packaged_mongod_is_found_without_importing_the_package(tmp_path: Path) -> None:
    packaged = program(tmp_path / "fiftyone" / "db" / "bin" / "mongod", "exit 0")
    (tmp_path / "fiftyone" / "__init__.py").write_text("raise RuntimeError('imported')")
    assert find_mongod(path="", packages=[str(tmp_path)]) == packaged


def test_no_mongod_anywhere_names_the_ways_out(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedMongoError) as raised:
        find_mongod(path="", packages=[str(tmp_path)])
    for way in ("pip install 'netautod[embedded]'", "apt-get install libcurl4", "NETAUTOD_MONGODB_URI"):
        assert way in raised.value.text


@pytest.mark.parametrize(
    ("returncode", "output", "expected"),
    [
        pytest.param(
            127,
            LOADER,
            f"mongod needs the shared library libcurl.so.4, which this machine lacks: {WAYS_OUT}",
            id="the loader misses a library",
        ),
        pytest.param(
            1,
            "mongod: /lib/libc.so.6: version `GLIBC_2.34' not found (required by mongod)",
            f"this mongod needs GLIBC_2.34, newer than what this system has: {WAYS_OUT}",
            id="the C library is too old",
        ),
        pytest.param(
            100,
            log_line("E", "DBException in initAndListen", error="Unable to write: No space left on device"),
            "the disk of /data is full (900 of 1000 MiB free)",
            id="the disk is full",
        ),
        pytest.param(
            14,
            "\n".join(
                [
                    log_line("I", "Starting"),
                    log_line("E", "WiredTiger error", message={"msg": "read error", "error_str": "corrupt"}),
                    log_line("F", "Fatal assertion", msgid=50853),
                ]
            ),
            "mongod ended: read error: corrupt",
            id="the first error is the cause",
        ),
        pytest.param(
            -6,
            log_line("F", "\n\n***aborting"),
            "mongod ended: ***aborting",
            id="an error without attributes",
        ),
        pytest.param(
            -4,
            "",
            "this processor lacks AVX, which MongoDB needs since 5.0: set NETAUTOD_MONGODB_URI",
            id="an illegal instruction",
        ),
        pytest.param(-9, log_line("I", "Running"), "mongod was ended by SIGKILL", id="killed from outside"),
        pytest.param(
            -9,
            log_line("E", "WiredTiger error", error="No space left on device"),
            "mongod was ended by SIGKILL",
            id="killed from outside long after it complained of something",
        ),
        pytest.param(0, log_line("I", "Bye"), "mongod was stopped from outside", id="stopped by an operator"),
        pytest.param(-200, "", "mongod was ended by signal 200", id="a signal without a name"),
        pytest.param(
            2,
            "Error parsing command line: unrecognised option '--x'\ntry --help",
            "mongod ended with status 2: Error parsing command line: unrecognised option '--x'",
            id="an option of another version",
        ),
        pytest.param(3, "[1, 2]\n{broken", "mongod ended with status 3: [1, 2]", id="lines that are no log"),
        pytest.param(125, "", "mongod ended with status 125", id="silence"),
    ],
)
def test_the_cause_of_an_exit_is_one_line(returncode: int, output: str, expected: str) -> None:
    space = Space(directory=Path("/data"), free=900 * MIB, total=1000 * MIB)
    assert cause_of_exit(returncode, output, space) == expected


@pytest.mark.parametrize("returncode", [-9, -6, 0, 1, 100])
def test_a_disk_too_full_for_a_log_line_is_the_cause(returncode: int) -> None:
    space = Space(directory=Path("/data"), free=3 * MIB, total=1000 * MIB)
    assert cause_of_exit(returncode, "", space) == "the disk of /data is full (3 of 1000 MiB free)"


@pytest.mark.parametrize(
    "setpriv", [pytest.param(None, id="with setpriv"), pytest.param("", id="without setpriv")]
)
async def test_the_child_dies_with_its_parent(setpriv: str | None) -> None:
    command = tied_to_parent(["/bin/sh", "-c", "echo up; exec sleep 60"], 0, setpriv=setpriv)
    script = (
        "import os, subprocess, sys, time\n"
        "command = [str(os.getpid()) if part == '0' else part for part in sys.argv[1:]]\n"
        "subprocess.Popen(command)\n"
        "time.sleep(60)\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, *command, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    assert await parent.stdout.readline() == b"up\n"
    parent.kill()
    async with asyncio.timeout(10):
        assert await parent.stdout.read() == b""  # the end of the pipe: the child that shared it is gone
    await parent.wait()


@pytest.mark.parametrize(
    "setpriv", [pytest.param(None, id="with setpriv"), pytest.param("", id="without setpriv")]
)
async def test_a_child_whose_parent_died_too_early_does_not_start(setpriv: str | None) -> None:
    other = os.getppid()
    process = await asyncio.create_subprocess_exec(
        *tied_to_parent(["/bin/echo", "started"], other, setpriv=setpriv), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert output == b""
    assert process.returncode == 125


async def test_a_missing_library_is_one_line_and_leaves_nothing_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "mongod", f"echo '{LOADER}' >&2; exit 127")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    for _ in range(2):
        with pytest.raises(
            EmbeddedMongoError, match=r"cannot start: .* library libcurl\.so\.4.*pip install"
        ) as raised:
            await EmbeddedMongo(tmp_path / "data").__aenter__()
        assert "\n" not in raised.value.text


async def test_a_start_that_takes_too_long_is_ended_even_if_mongod_will_not_stop(tmp_path: Path) -> None:
    deaf = program(tmp_path / "deaf", f"trap '' TERM; echo $$ > {tmp_path}/pid; while :; do sleep 0.05; done")
    mongo = EmbeddedMongo(tmp_path / "data", mongod=deaf, start_seconds=0.5, stop_seconds=0.2)
    with pytest.raises(EmbeddedMongoError, match=r"not up in 0\.5 s: see .*mongod\.log"):
        await mongo.__aenter__()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_a_cancelled_start_leaves_no_process_and_no_lock(tmp_path: Path) -> None:
    slow = program(tmp_path / "slow", f"echo $$ > {tmp_path}/fifo; exec sleep 60")
    os.mkfifo(tmp_path / "fifo")
    start = asyncio.create_task(EmbeddedMongo(tmp_path / "data", mongod=slow).__aenter__())
    pid = int(await asyncio.to_thread((tmp_path / "fifo").read_text))
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert find_running(tmp_path / "data") is None


async def test_a_mongod_of_someone_else_on_the_database_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "_EARLIER_MONGOD_SECONDS", 0.1)
    (tmp_path / "mongodb").mkdir()
    lock = tmp_path / "mongodb" / "mongod.lock"
    lock.write_text("4711\n")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(EmbeddedMongoError, match=r"did not start \(pid 4711\) uses .*mongodb: stop it"):
            await EmbeddedMongo(tmp_path).__aenter__()


async def test_a_data_directory_that_everyone_may_write_is_refused(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o777)
    with pytest.raises(EmbeddedMongoError, match=r"chmod o-w it first"):
        await EmbeddedMongo(tmp_path).__aenter__()


async def test_a_data_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(EmbeddedMongoError, match=r"data is not usable: File exists"):
        await EmbeddedMongo(tmp_path / "data").__aenter__()
    assert find_running(tmp_path / "data") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to another user")
async def test_a_database_of_another_user_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "mongodb").mkdir()
    os.chown(tmp_path / "mongodb", 12345, -1)
    with pytest.raises(EmbeddedMongoError, match=r"mongodb belongs to user 12345: run this as that user"):
        await EmbeddedMongo(tmp_path).__aenter__()
    assert not (tmp_path / "netautod.lock").exists()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="no service ever ran"),
        pytest.param("", id="an empty lock file"),
        pytest.param("99\n", id="a start that never became writable"),
        pytest.param("99\n/run/gone/mongod.sock\n", id="a service that was killed"),
    ],
)
def test_no_database_is_found_where_nobody_holds_the_lock(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "netautod.lock").write_text(content)
    assert find_running(tmp_path) is None


def test_a_start_in_progress_is_not_found_before_it_is_writable(tmp_path: Path) -> None:
    lock = tmp_path / "netautod.lock"
    lock.write_text("99\n")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert find_running(tmp_path) is None
        lock.write_text("99\n/run/made up/mongod.sock\n")
        assert find_running(tmp_path) == "mongodb://%2Frun%2Fmade%20up%2Fmongod.sock/?directConnection=true"


def test_the_log_is_moved_aside_only_when_it_is_large(tmp_path: Path) -> None:
    log = tmp_path / "mongod.log"
    assert not rotate(log)
    for text in ("old", "newer"):
        log.write_text(text)
        assert not rotate(log, beyond=100)
        assert rotate(log)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["newer"]
