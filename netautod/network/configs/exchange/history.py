"""The history of a git repository of configs, as Oxidized and RANCID keep them: what each commit put where.

Oxidized (its output `git`): a file for each device, in a folder for its group if it has one. RANCID: group
folders, in each `configs/<device>`, whose first line is `!RANCID-CONTENT-TYPE: <type>`.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from netautod.core.errors import InvalidInput, UpstreamFailed
from netautod.network.configs.exchange.git import Git

_COMMIT = re.compile(rb"\x01([0-9a-f]{40,64}) (-?\d+)")
_ENTRY = re.compile(rb":\d{6} (?P<mode>\d{6}) [0-9a-f]+ (?P<blob>[0-9a-f]+) [A-Z]\d*")
_FILES = (b"100644", b"100755")  # no links, no submodules
_RANCID = "configs"


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change: `path` had the content `blob` from `at` on, by that commit."""

    path: str
    blob: str
    commit: str
    at: datetime


class History:
    """The history of the branch that is checked out, along its first parents: a merge counts as one
    change."""

    def __init__(self, folder: Path) -> None:
        self._git = Git(folder)
        self._folder = folder

    async def paths(self) -> list[str]:
        """Return the files of the newest commit that may be configs; InvalidInput for no repository with
        commits.
        """
        if not await asyncio.to_thread(self._folder.is_dir):
            raise InvalidInput(f"{self._folder}: there is no such folder")
        try:
            found = [token async for token in self._git.tokens("ls-tree", "-r", "-z", "--name-only", "HEAD")]
        except UpstreamFailed as exc:
            raise InvalidInput(f"{self._folder}: no git repository with commits ({exc.text})") from exc
        return [path for token in found if (path := _text(token)) is not None and may_be_config(path)]

    async def changes(self) -> AsyncIterator[Change]:
        """Yield the changes, the oldest first."""
        commit, at, entry = "", datetime.now(UTC), None
        arguments = ("--first-parent", "-m", "--raw", "--no-abbrev", "-r", "--root", "--no-renames")
        wanted = ("log", *arguments, "-z", "--reverse", "--format=tformat:%x01%H %at", "HEAD", "--")
        async for token in self._git.tokens(*wanted):
            if entry is not None:
                path, found = _text(token), entry
                entry = None
                if path is not None and found["mode"] in _FILES and may_be_config(path):
                    yield Change(path=path, blob=found["blob"].decode(), commit=commit, at=at)
                continue
            token = token.lstrip(b"\n")
            if match := _COMMIT.fullmatch(token):
                commit, at = match[1].decode(), datetime.fromtimestamp(max(int(match[2]), 0), UTC)
            else:
                entry = _ENTRY.fullmatch(token)

    @asynccontextmanager
    async def contents(self) -> AsyncIterator["Contents"]:
        """Open one process that hands out contents for as long as the block lasts."""
        async with self._git.process("cat-file", "--batch") as process:
            assert process.stdin is not None
            assert process.stdout is not None
            yield Contents(process.stdin, process.stdout)


class Contents:
    """The contents of blobs (git-cat-file(1), --batch)."""

    def __init__(self, requests: asyncio.StreamWriter, answers: asyncio.StreamReader) -> None:
        self._requests = requests
        self._answers = answers

    async def of(self, blob: str, *, most: int) -> bytes | None:
        """Return the content; None for one of more than `most` bytes, or that does not exist."""
        self._requests.write(f"{blob}\n".encode())
        await self._requests.drain()
        head = (await self._answers.readline()).split()
        if len(head) != 3:
            return None
        size = int(head[2])
        data = b""
        if size <= most:
            data = await self._answers.readexactly(size)
        else:
            left = size
            while left:
                left -= len(await self._answers.read(min(left, 1 << 16)))
        await self._answers.readexactly(1)  # the line feed behind it
        return data if size <= most else None


def may_be_config(path: str) -> bool:
    """Return whether a file may be a config: not a hidden file, nor what RANCID keeps beside its folder
    `configs`.
    """
    parts = PurePosixPath(path).parts
    return not any(part.startswith(".") for part in parts)


def relevant(paths: list[str]) -> list[str]:
    """Return the paths in folders called `configs` if there are any, since the repository is RANCID's then;
    otherwise all.
    """
    of_rancid = [path for path in paths if PurePosixPath(path).parent.name == _RANCID]
    return of_rancid or paths


def device_names(path: str) -> tuple[str, ...]:
    """Return the names that the device of a file may have: that of the file, or without the extension."""
    name = PurePosixPath(path)
    return tuple(dict.fromkeys((name.name, name.stem)))


def twice(owners: dict[str, str]) -> set[str]:
    """Return the devices that more than one of the paths belong to."""
    return {device_id for device_id, count in Counter(owners.values()).items() if count > 1}


def _text(path: bytes) -> str | None:
    try:
        return path.decode()
    except UnicodeDecodeError:
        return None
