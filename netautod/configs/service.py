"""What users do with stored configurations: pull them, read them, compare them.

Settled here: reads name a device of the inventory, so those of a deleted one are 404. With one of
`old_version` and `new_version` the other is the version before, or the newest. A diff compares normalised
texts, in which a secret is a keyed token, and shows them redacted: a changed password is a removed and an
added line that look alike. With `secrets=true` it compares and shows the raw texts.
"""

import asyncio
import re
from collections.abc import Sequence

from netautod.audit.service import AuditLog
from netautod.caller import Caller
from netautod.clock import Clock
from netautod.configs import diff
from netautod.configs.capture import ConfigCapture, Pull
from netautod.configs.diff import Difference, Lines
from netautod.configs.models import BulkResult, Captured, Config, VersionDiff
from netautod.configs.normalise import normalise, secret_token
from netautod.configs.offload import sized
from netautod.configs.redact import redact
from netautod.configs.snapshots import Snapshots
from netautod.configs.store import ConfigStore
from netautod.configs.texts import ConfigTexts
from netautod.devices.service import DeviceService
from netautod.devices.sessions import DeviceSessions, SessionScope
from netautod.errors import NetautodError, NotFound
from netautod.ssh.platform_model import Platform
from netautod.store.client import Database, OrgId
from netautod.store.paging import Page, PageOf
from netautod.vault.vault import Vault

AT_ONCE = 100  # devices of a bulk pull that wait for a session or hold one
NO_VERSION = "Config version not found"
PEM = re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)(.*?)(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


class ConfigService:
    """`captures`, `snapshots` and `sessions` also serve the runs of tasks (acting.py)."""

    def __init__(
        self,
        database: Database,
        *,
        vault: Vault,
        clock: Clock,
        audit: AuditLog,
        devices: DeviceService,
        sessions: DeviceSessions,
    ) -> None:
        self._store = ConfigStore(database)
        self._texts = ConfigTexts(database, vault=vault, clock=clock)
        self.captures = ConfigCapture(store=self._store, texts=self._texts, clock=clock)
        self.snapshots = Snapshots(database, clock=clock)
        self.sessions = sessions
        self._devices = devices
        self._audit = audit

    async def page(self, org_id: OrgId, device_id: str, page: Page) -> PageOf[Config]:
        """The versions of a device, newest first."""
        await self._devices.get(org_id, device_id)
        return await self._store.page(org_id, device_id, page)

    async def read(
        self, caller: Caller, device_id: str, version: int | None, *, secrets: bool
    ) -> tuple[Config, str]:
        """A version (None: the newest) and its text, redacted unless `secrets`; NotFound, Forbidden."""
        await self._devices.get(caller.org_id, device_id)
        config = await self._version(caller.org_id, device_id, version)
        text = await self._texts.load(caller.org_id, config.text_id)
        if secrets:
            await self._reveal(caller, config)
            return config, text
        return config, await sized(len(text), redact, text, self._platform(config))

    async def diff(
        self, caller: Caller, device_id: str, old: int | None, new: int | None, *, secrets: bool
    ) -> VersionDiff:
        """Compares two versions, by default the two newest.

        In a thread: two texts of 40,000 lines (0.6 MB each) cost some 300 ms, nearly all of it normalising
        and redacting them. The thread shares the interpreter with the loop in turns of 5 ms.
        """
        org_id = caller.org_id
        await self._devices.get(org_id, device_id)
        pair = await self._pair(org_id, device_id, old, new)
        if secrets:
            for config in pair:
                await self._reveal(caller, config)
        key = None if secrets else (await self._texts.keys(org_id)).secret
        texts = [await self._texts.load(org_id, config.text_id) for config in pair]
        platforms = [self._platform(config) for config in pair]
        names = [f"version {config.version}" for config in pair]
        identical, found = await asyncio.to_thread(_compared, texts, platforms, names, key)
        return VersionDiff(
            old=pair[0],
            new=pair[1],
            identical=identical,
            text=found.text,
            additions=found.additions,
            deletions=found.deletions,
        )

    async def pull(self, caller: Caller, device_id: str) -> Captured:
        """Reads one device now, before any bulk work; a failure of the device is a SessionFailure."""
        scope = self.sessions.scope(caller, device_id=device_id)
        _, captured = await self.captures.take(scope, device_id, Pull(via="api", by=caller.user_id))
        details = {"version": captured.config.version, "changed": captured.changed}
        await self._audit.record(caller, "config.pull", "device", device_id, details)
        return captured

    async def bulk_pull(self, caller: Caller, device_ids: Sequence[str]) -> BulkResult:
        """Reads many devices; one that fails, or is not there, is an entry of the errors."""
        wanted = list(dict.fromkeys(device_ids))
        names = await self._devices.names(caller.org_id, wanted)
        scope = self.sessions.scope(caller, bulk=True, bulk_pull=len(wanted))
        errors: list[tuple[str, str | None, str]] = []
        waiting = iter(wanted)

        async def work() -> None:
            for device_id in waiting:
                try:
                    await self._pull_one(scope, device_id)
                except NetautodError as error:
                    errors.append((device_id, names.get(device_id), error.text))

        async with asyncio.TaskGroup() as workers:
            for _ in range(min(AT_ONCE, len(wanted))):
                workers.create_task(work())
        result = BulkResult(succeeded=len(wanted) - len(errors), errors=errors)
        details = {"succeeded": result.succeeded, "failed": len(errors)}
        await self._audit.record(caller, "config.bulk_pull", "device", None, details)
        return result

    async def _pull_one(self, scope: SessionScope, device_id: str) -> None:
        await self.captures.take(scope, device_id, Pull(via="bulk", by=scope.caller.user_id))

    async def _version(self, org_id: OrgId, device_id: str, version: int | None) -> Config:
        if version is None:
            found, missing = await self._store.newest(org_id, device_id), "No config is stored of this device"
        else:
            found, missing = await self._store.get(org_id, device_id, version), NO_VERSION
        if found is None:
            raise NotFound(missing)
        return found

    async def _pair(
        self, org_id: OrgId, device_id: str, old: int | None, new: int | None
    ) -> tuple[Config, Config]:
        later = await self._version(org_id, device_id, new)
        if old is not None:
            return await self._version(org_id, device_id, old), later
        earlier = await self._store.newest(org_id, device_id, below=later.version)
        if earlier is None:
            raise NotFound(f"There is no version before version {later.version} to compare it with")
        return earlier, later

    def _platform(self, config: Config) -> Platform:
        return self.sessions.platforms.get(config.platform)

    async def _reveal(self, caller: Caller, config: Config) -> None:
        """Who sees secrets leaves a trace, written before he sees them."""
        caller.require("credentials.manage")
        details = {"device_id": config.device_id, "version": config.version}
        await self._audit.record(caller, "config.read_secrets", "config", config.id, details)


def _compared(
    texts: Sequence[str], platforms: Sequence[Platform], names: Sequence[str], key: bytes | None
) -> tuple[bool, Difference]:
    """Whether the texts say the same, and their diff; without a key the raw texts as they are."""
    old, new = (
        _raw_lines(text) if key is None else _redacted_lines(text, platform, key)
        for text, platform in zip(texts, platforms, strict=True)
    )
    identical = old.compared == new.compared
    return identical, diff.unified(old, new, old_name=names[0], new_name=names[1])


def _raw_lines(text: str) -> Lines:
    lines = text.removesuffix("\n").split("\n")
    return Lines(compared=lines, shown=lines)


def _redacted_lines(text: str, platform: Platform, key: bytes) -> Lines:
    """Lines are compared before they are redacted, so that the redaction cannot hide a change."""
    normal = normalise(text, platform, key)
    # A key block becomes one token: `redact` would replace its lines by fewer ones.
    normal = PEM.sub(lambda match: f"{match[1]}\n{secret_token(match[2], key)}\n{match[3]}", normal)
    compared = normal.removesuffix("\n").split("\n")
    shown = redact(normal, platform).removesuffix("\n").split("\n")
    # Should a redaction ever join lines: then what is shown is what is compared.
    return Lines(compared=compared if len(compared) == len(shown) else shown, shown=shown)
