"""A small file system of its own, to be filled up: tmpfs, which only root may mount."""

import asyncio
import os
import shutil
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

MIB = 1 << 20
FILLER = "what somebody else keeps here"


class SmallDisk:
    def __init__(self, path: Path) -> None:
        self.path = path

    def leave(self, mib: int) -> None:
        """Fills it up with a file of somebody else until so much is free."""
        self.clear()
        with (self.path / FILLER).open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(self.path).free - mib * MIB or 1)

    def clear(self) -> None:
        (self.path / FILLER).unlink(missing_ok=True)


@asynccontextmanager
async def small_disk(path: Path, *, mib: int) -> AsyncIterator[SmallDisk]:
    """Skips the test where nothing may be mounted."""
    os.mkdir(path)
    refusal = await _ran("mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", str(path))
    if refusal is not None:
        pytest.skip(f"a file system cannot be mounted here: {refusal}")
    try:
        yield SmallDisk(path)
    finally:
        await _ran("umount", "--lazy", str(path))


async def _ran(*command: str) -> str | None:
    """What it complained of, None if it succeeded."""
    try:
        process = await asyncio.create_subprocess_exec(*command, stderr=PIPE)
    except FileNotFoundError as error:
        return str(error)
    _, complaint = await process.communicate()
    return complaint.decode().strip() or "it failed" if process.returncode else None
