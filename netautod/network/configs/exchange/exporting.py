"""Writes stored configs where others can read them: one file a device, or a git repository with the history.

A repository knows by the last lines of its commits what is in it, so running it again adds what is new, and
after a crash goes on: git takes over the commits of a run at its end, or none of them.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import InvalidInput, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.text.printable import printable
from netautod.network.configs.exchange.file_names import file_names
from netautod.network.configs.exchange.git import Git
from netautod.network.configs.models import Config
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.store import ConfigTexts
from netautod.network.devices.service import DeviceService
from netautod.secrets.vault.errors import VaultError
from netautod.transport.ssh.encoding import to_bytes
from netautod.transport.ssh.platform.redact import clean_lines, redact
from netautod.transport.ssh.platform.registry import PlatformRegistry

BRANCH = "refs/heads/main"
_TRAILER = re.compile(r"^Netautod-(Export|Device|Version|File): (.+)$", re.MULTILINE)
_OURS = "netautod"


@dataclass(frozen=True, kw_only=True)
class Exported:
    """The result of an export: `files` written or commits made; `unchanged` were there already; `lost` cannot
    be opened.
    """

    written: int
    unchanged: int
    lost: int


@dataclass(kw_only=True, eq=False)
class ConfigExport:
    """An export of configurations. `names` are user names by id, for the authors of commits."""

    store: ConfigStore
    texts: ConfigTexts
    devices: DeviceService
    platforms: PlatformRegistry
    audit: AuditLog
    clock: Clock
    names: Mapping[str, str]

    async def files(self, caller: Caller, folder: Path, *, secrets: bool) -> Exported:
        """Write the newest version of each device; a file that has the content already is left alone."""
        wanted = await self._files_of(caller.org_id)
        await self._note(caller, secrets=secrets, git=False)
        await asyncio.to_thread(_made, folder)
        shown = self._shown(secrets=secrets)
        written = unchanged = lost = 0
        for device_id, name in wanted.items():
            config = await self.store.newest(caller.org_id, device_id)
            if config is None:
                continue
            data = await self._bytes(config, shown)
            if data is None:
                lost += 1
            elif await asyncio.to_thread(_replaced, folder / name, data):
                written += 1
            else:
                unchanged += 1
        return Exported(written=written, unchanged=unchanged, lost=lost)

    async def repository(self, caller: Caller, folder: Path, *, secrets: bool) -> Exported:
        """Commit each version that is not in the repository yet, in the order of time."""
        kind = f"{caller.org_id} {'with secrets' if secrets else 'redacted'}"
        git = Git(folder)
        await _prepared(git, folder)
        known = await _Known.of(git, kind)
        names = await self._files_of(caller.org_id)
        await self._note(caller, secrets=secrets, git=True)
        async with git.process("fast-import", "--quiet", "--done", "--date-format=raw") as process:
            assert process.stdin is not None
            stream = _Stream(
                process.stdin, kind=kind, known=known, names=names, now=int(self.clock.now().timestamp())
            )
            written = lost = 0
            shown = self._shown(secrets=secrets)
            async for config in self._versions(caller.org_id, names):
                if config.version <= known.newest.get(config.device_id, 0):
                    continue
                data = await self._bytes(config, shown)
                if data is None:
                    lost += 1
                    continue
                await stream.commit(config, data, self.names.get(config.created_by, _OURS))
                written += 1
            await stream.end()
        if stream.began:
            await git.run("symbolic-ref", "HEAD", BRANCH)
            await git.run("reset", "--quiet", "--hard", BRANCH)
        return Exported(written=written, unchanged=known.commits, lost=lost)

    async def _files_of(self, org_id: OrgId) -> dict[str, str]:
        found = {device.id: device.name async for batch in self.devices.matching(org_id) for device in batch}
        return file_names(found)

    async def _versions(self, org_id: OrgId, names: Mapping[str, str]) -> AsyncIterator[Config]:
        async for batch in self.store.in_order_of_time(org_id):
            for config in batch:
                if config.device_id in names:
                    yield config

    def _shown(self, *, secrets: bool) -> Callable[[str], str]:
        if secrets:
            return lambda text: text
        readers = self.platforms.for_readers
        clean = clean_lines(readers)
        return lambda text: redact(text, readers, clean)

    async def _bytes(self, config: Config, shown: Callable[[str], str]) -> bytes | None:
        try:
            text = await self.texts.load(config.org_id, config.text_id)
        except (NotFound, VaultError):
            return None
        return to_bytes(await asyncio.to_thread(shown, text))

    async def _note(self, caller: Caller, *, secrets: bool, git: bool) -> None:
        """Record the export in the audit log, before anything is written."""
        details = {"secrets": secrets, "git": git}
        await self.audit.record(caller, "config.export", "organization", caller.org_id, details)


@dataclass(frozen=True, kw_only=True)
class _Known:
    """The content of a repository: the newest version of each device, and the file that it is in."""

    tip: str | None
    newest: dict[str, int]
    files: dict[str, str]
    commits: int

    @classmethod
    async def of(cls, git: Git, kind: str) -> "_Known":
        newest: dict[str, int] = {}
        files: dict[str, str] = {}
        commits = 0
        tip = (await git.run("for-each-ref", "--format=%(objectname)", BRANCH)).strip() or None
        if tip is not None:
            async for message in git.tokens("log", "-z", "--reverse", "--format=%B", BRANCH):
                found = dict(_TRAILER.findall(message.decode(errors="replace")))
                if found.get("Export") != kind:
                    there = found.get("Export", "commits that are not ours")
                    raise InvalidInput(f"the repository holds {there}, and this is an export of {kind}")
                if "Version" in found:
                    newest[found["Device"]] = int(found["Version"])
                    commits += 1
                if "Device" in found:
                    files[found["Device"]] = found.get("File", "")
        return cls(tip=tip, newest=newest, files=files, commits=commits)


class _Stream:
    """The commands for git fast-import (git-fast-import(1))."""

    def __init__(
        self, pipe: asyncio.StreamWriter, *, kind: str, known: _Known, names: Mapping[str, str], now: int
    ) -> None:
        self._pipe = pipe
        self._kind = kind
        self._known = known
        self._names = names
        self._now = now
        self.began = False

    async def commit(self, config: Config, data: bytes, author: str) -> None:
        device_id, name = config.device_id, self._names[config.device_id]
        changes = self._leaving(device_id)
        changes += b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(data), data)
        lines = f"Netautod-Device: {device_id}\nNetautod-Version: {config.version}\nNetautod-File: {name}\n"
        subject = f"{name} version {config.version}"
        await self._write(subject, lines, int(config.created_at.timestamp()), author, changes)
        self._known.files[device_id] = name

    async def end(self) -> None:
        """Remove the files of devices that are gone or renamed, each by a commit."""
        for device_id, file in list(self._known.files.items()):
            name = self._names.get(device_id, "")
            if not file or file == name:
                continue
            change = f"R {file} {name}\n" if name else f"D {file}\n"
            subject = f"{file} is called {name} now" if name else f"{file} is deleted"
            lines = f"Netautod-Device: {device_id}\n" + (f"Netautod-File: {name}\n" if name else "")
            await self._write(subject, lines, self._now, _OURS, change.encode())
        self._pipe.write(b"done\n")
        await self._pipe.drain()

    def _leaving(self, device_id: str) -> bytes:
        """Return the command that removes the file of a device's former name."""
        before = self._known.files.get(device_id, "")
        return f"D {before}\n".encode() if before not in ("", self._names[device_id]) else b""

    async def _write(self, subject: str, lines: str, moment: int, author: str, changes: bytes) -> None:
        person = printable(re.sub(r"[<>\x00-\x1f\x7f]", "_", author)) or _OURS
        message = f"{subject}\n\nNetautod-Export: {self._kind}\n{lines}".encode()
        head = f"commit {BRANCH}\n"
        for role in ("author", "committer"):
            head += f"{role} {person} <{person.replace(' ', '.')}@{_OURS}> {moment} +0000\n"
        self._pipe.write(head.encode() + b"data %d\n%s\n" % (len(message), message))
        if not self.began and self._known.tip is not None:
            self._pipe.write(f"from {self._known.tip}\n".encode())
        self.began = True
        self._pipe.write(changes + b"\n")
        await self._pipe.drain()


async def _prepared(git: Git, folder: Path) -> None:
    if not await asyncio.to_thread(_is_repository, folder):
        await git.run("init", "--quiet", "--initial-branch=main", "--template=")


def _is_repository(folder: Path) -> bool:
    """Return whether the folder is a repository; otherwise it exists and is empty."""
    if (folder / ".git").is_dir():
        return True
    _made(folder)
    if any(folder.iterdir()):
        raise InvalidInput(f"{folder}: is neither empty nor a repository of an earlier export")
    return False


def _made(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _replaced(path: Path, data: bytes) -> bool:
    """Return whether the file had another content; it is replaced as a whole, so that a crash leaves no
    half."""
    if path.is_file() and path.read_bytes() == data:
        return False
    fresh = path.with_name(f".{path.name}.new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    return True
