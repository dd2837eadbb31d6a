"""Takes the history of a git repository of configs over, as versions of the devices that its files name.

A device takes part whose versions are all imported (or that has none): what it was read as by itself stands
behind its history, and numbers of versions never move. Doing it again, or after a crash, adds what is new.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Duplicate, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.loop.pace import in_thread_if_large
from netautod.core.work.context import Work
from netautod.network.configs.exchange.history import Change, Contents, History, device_names, relevant, twice
from netautod.network.configs.models import IMPORTED, TEXT_FORMAT, Config
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.redacted_cache import ShownTexts
from netautod.network.configs.texts.store import ConfigTexts, Reading, measure
from netautod.network.devices.models import Device
from netautod.network.devices.service import DeviceService
from netautod.secrets.vault.errors import VaultError
from netautod.transport.ssh.encoding import to_text
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.registry import PlatformRegistry

# RANCID puts it behind what begins a comment on the device: `!`, `# `, `; `, `-- ` ...
_HEAD = re.compile(r"\A([!#;*/-]{1,2}) ?RANCID-CONTENT-TYPE: [^\n]*\n(?:\1\n)?")
_BINARY_BYTES = 8000  # where git, too, looks for a NUL


@dataclass(kw_only=True)
class Imported:
    """The result of an import: `versions` were added to so many `devices`; `problems` are sentences by
    path."""

    versions: int = 0
    unchanged: int = 0
    devices: set[str] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)


@dataclass(kw_only=True, eq=False)
class _Taker:
    """A device and how far it has come."""

    device_id: str
    platform: str
    newest: Config | None
    reached: bool  # what is in front of this is there already


@dataclass(kw_only=True, eq=False)
class ConfigImport:
    """An import of configurations. `platform` replaces the device_type of the devices, where it is given."""

    store: ConfigStore
    texts: ConfigTexts
    devices: DeviceService
    platforms: PlatformRegistry
    audit: AuditLog
    clock: Clock
    most_bytes: int
    platform: str | None = None

    def __post_init__(self) -> None:
        self._shown = ShownTexts(self.platforms.for_readers)

    async def run(self, caller: Caller, history: History) -> Imported:
        """Import the history. InvalidInput where there is no repository, UpstreamFailed when git fails in the
        middle.
        """
        done, work = Imported(), Work(caller=caller)
        tip = relevant(await history.paths())
        owners = await self._owners(caller, history, tip, done)
        takers = await self._takers(caller, owners, done)
        await self.audit.record(caller, "config.import", "organization", caller.org_id)
        async with history.contents() as contents:
            async for change in history.changes():
                taker = takers.get(change.path)
                if taker is not None and change.path not in done.problems:
                    await self._take(work, taker, change, contents, done)
        return done

    async def _owners(
        self, caller: Caller, history: History, tip: Sequence[str], done: Imported
    ) -> dict[str, Device]:
        """Return the devices by path, also for files that were deleted or moved since."""
        named = {
            device.name: device async for batch in self.devices.matching(caller.org_id) for device in batch
        }
        ever = dict.fromkeys([*tip, *relevant([*{change.path: 0 async for change in history.changes()}])])
        found = {
            path: next((named[name] for name in device_names(path) if name in named), None) for path in ever
        }
        owners = {path: device for path, device in found.items() if device is not None}
        done.problems |= {path: "no device has this name" for path in tip if path not in owners}
        doubled = twice({path: owners[path].id for path in tip if path in owners})
        for path in [path for path, device in owners.items() if device.id in doubled]:
            done.problems[path] = f"more than one file is called {owners.pop(path).name}"
        return owners

    async def _takers(
        self, caller: Caller, owners: Mapping[str, Device], done: Imported
    ) -> dict[str, _Taker]:
        """Return the receiving devices by path; paths of one device share one. A path without a device is a
        problem.
        """
        by_device: dict[str, _Taker] = {}
        found: dict[str, _Taker] = {}
        for path, device in owners.items():
            newest = await self.store.newest(caller.org_id, device.id)
            if newest is not None and newest.source != IMPORTED:
                done.problems[path] = "the device has versions of its own already"
                continue
            platform = self.platform or device.device_type
            taken = _Taker(
                device_id=device.id,
                platform=platform,
                newest=None if newest is None else await self._hashed_anew(newest, platform),
                reached=newest is None,
            )
            found[path] = by_device.setdefault(device.id, taken)
        return found

    async def _hashed_anew(self, newest: Config, platform: str) -> Config:
        """Return the version with its hash of today: an earlier release may have hashed it another way."""
        try:
            text = await self.texts.load(newest.org_id, newest.text_id)
        except (NotFound, VaultError):
            return newest
        reading = await self._hashed(newest.org_id, text, platform, newest.device_id)
        return replace(newest, config_hash=reading.config_hash)

    async def _take(
        self, work: Work, taker: _Taker, change: Change, contents: Contents, done: Imported
    ) -> None:
        newest = taker.newest
        if not taker.reached and newest is not None and change.at < newest.created_at:
            return
        data = await contents.of(change.blob, most=self.most_bytes)
        if data is None or not data.strip():
            if data is None:
                done.problems[f"{change.path} at {change.commit[:12]}"] = "is too large"
            return
        if b"\0" in data[:_BINARY_BYTES]:
            done.problems[f"{change.path} at {change.commit[:12]}"] = "is no text"
            return
        reading = await self._measured(work, data, taker)
        is_newest = newest is not None and newest.config_hash == reading.config_hash
        if not taker.reached and newest is not None:
            # Of several commits in one second those behind the one that was taken last are new.
            taker.reached = is_newest or change.at > newest.created_at
        if is_newest or not taker.reached:
            done.unchanged += 1
            return
        try:
            taker.newest = await self._stored(work, taker, reading, change)
        except (Duplicate, DeviceFailed) as exc:
            why = exc.text if isinstance(exc, DeviceFailed) else "the device was read in this very moment"
            done.problems[change.path] = why
            return
        done.versions += 1
        done.devices.add(taker.device_id)

    async def _measured(self, work: Work, data: bytes, taker: _Taker) -> Reading:
        text = _HEAD.sub("", to_text(data).replace("\r\n", "\n"))
        text = text if text.endswith("\n") else text + "\n"
        return await self._hashed(work.org_id, text, taker.platform, taker.device_id)

    async def _hashed(self, org_id: OrgId, text: str, platform: str, device_id: str) -> Reading:
        keys, known = await self.texts.keys(org_id), self.platforms.get(platform)
        return await in_thread_if_large(len(text), measure, text, known, keys, device_id)

    async def _stored(self, work: Work, taker: _Taker, reading: Reading, change: Change) -> Config:
        """Store the text first, as in a capture. Dates never run backwards: commits may, when clocks were
        set.
        """
        await self.texts.save(work, reading)
        at = min(change.at, self.clock.now())
        if taker.newest is not None:
            at = max(at, taker.newest.created_at)
        keys = await self.texts.keys(work.org_id)
        shown = await self._shown.form(reading.raw, keys.normalised)
        config = replace(_version(work, taker, reading, at, change.commit), shown=shown)
        await self.store.insert(config, work)
        return config


def _version(work: Work, taker: _Taker, reading: Reading, at: datetime, commit: str) -> Config:
    before = taker.newest
    return Config(
        id=str(uuid4()),
        org_id=work.org_id,
        device_id=taker.device_id,
        version=1 if before is None else before.version + 1,
        config_hash=reading.config_hash,
        config_format=TEXT_FORMAT,
        source=IMPORTED,
        pulled_via=IMPORTED,
        created_by=work.caller.user_id,
        created_at=at,
        last_seen_at=at,
        size=reading.size,
        notes=f"imported from commit {commit[:12]}",
        text_id=reading.text_id,
        platform=taker.platform,
    )
