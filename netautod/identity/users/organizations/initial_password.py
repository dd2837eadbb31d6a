"""The file `initial-admin-password`: the first administrator's generated password, readable by its owner."""

import logging
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from netautod.core.disk import reason
from netautod.core.errors import NetautodError

logger = logging.getLogger(__name__)
NAME = "initial-admin-password"


class InitialPasswordError(NetautodError):
    """Raised if the file cannot be read or written, or is not safe; one line for the operator."""


def obtain(data_dir: Path, password: str) -> str:
    """Write the password (mode 0600) and return it, or return the one that an earlier start has written.

    The file appears whole or not at all, and the first of several processes on one folder decides.
    """
    path = data_dir / NAME
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _publish(path, password)
        return _read(path)
    except OSError as error:
        raise InitialPasswordError(
            f"cannot keep the first password in {path}: {reason(error, data_dir)}"
        ) from error


def remove(data_dir: Path) -> None:
    """Delete the file after the password was changed or another node's password won: it is out of use."""
    try:
        (data_dir / NAME).unlink(missing_ok=True)
    except OSError as error:
        logger.warning("remove %s by hand, its password is out of use: %s", data_dir / NAME, error.strerror)


def written_at(data_dir: Path) -> datetime | None:
    """Return when the file was written, None if there is none."""
    try:
        found = (data_dir / NAME).lstat()
    except OSError:
        return None
    return datetime.fromtimestamp(found.st_mtime, UTC)


def _publish(path: Path, password: str) -> None:
    draft = path.with_name(f"{NAME}.{uuid4().hex}.new")  # several starts may be in one process (tests)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(password + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)  # unlike a rename this fails if another process was first
        except FileExistsError:
            return
        _sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _read(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor) as file:
        found = os.fstat(descriptor)
        private = found.st_uid == os.geteuid() and not found.st_mode & 0o077
        # A file that others could write would let them choose the administrator's password.
        if not stat.S_ISREG(found.st_mode) or not private:
            raise InitialPasswordError(f"{path} must be a file of the service's user with mode 0600")
        password = file.read(1024).strip()
    if not password:
        raise InitialPasswordError(f"{path} is empty; remove it and start again")
    return password


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
