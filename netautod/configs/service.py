"""What users do with stored configurations: read them, compare them, search them, note something on them.

Reads name a device of the inventory, so those of a deleted one are not found. With only one of
`old_version` and `new_version` the other is the version before, or the newest. A diff compares normalised
texts, in which a secret is a keyed token, and shows them redacted: a changed password is a removed and an
added line that look alike. With `secrets=true` it compares and shows the raw texts.
"""

from collections.abc import Callable

from netautod.audit.service import AuditLog
from netautod.configs.backups.facts import BackupFactsStore
from netautod.configs.backups.info import BackupInfos
from netautod.configs.capture.captures import ConfigCapture
from netautod.configs.capture.pulls import Pulls
from netautod.configs.models import Config, VersionDiff
from netautod.configs.search import ConfigSearch
from netautod.configs.settings import ConfigSettings
from netautod.configs.snapshots import Snapshots
from netautod.configs.store import ConfigStore
from netautod.configs.texts.redact import redact
from netautod.configs.texts.store import ConfigTexts
from netautod.configs.workers.pool import TextWorkers
from netautod.core.clock import Clock
from netautod.core.errors import NotFound
from netautod.core.identity import Caller, OrgId
from netautod.core.loop.pace import sized
from netautod.core.pages import Page, PageOf
from netautod.devices.service import DeviceService
from netautod.devices.sessions.service import DeviceSessions
from netautod.plugin_api.events import ConfigChanged
from netautod.store.client import Database
from netautod.vault.vault import Vault

NO_VERSION = "Config version not found"


class ConfigService:
    """`captures`, `snapshots` and `sessions` also serve the runs of tasks (acting.py).

    `workers` are running. `changed` is told of every new version (capture.py).
    """

    def __init__(
        self,
        database: Database,
        *,
        vault: Vault,
        clock: Clock,
        audit: AuditLog,
        devices: DeviceService,
        sessions: DeviceSessions,
        workers: TextWorkers,
        settings: ConfigSettings,
        changed: Callable[[ConfigChanged], None] | None = None,
    ) -> None:
        self._store = ConfigStore(database)
        self.texts = ConfigTexts(database, vault=vault, clock=clock)
        self.facts = BackupFactsStore(database)
        self.captures = ConfigCapture(
            store=self._store, texts=self.texts, facts=self.facts, clock=clock, changed=changed
        )
        self.snapshots = Snapshots(database, clock=clock)
        self.pulls = Pulls(captures=self.captures, sessions=sessions, devices=devices, audit=audit)
        self.backups = BackupInfos(devices=devices, facts=self.facts, store=self._store)
        self.search = ConfigSearch(
            devices=devices,
            store=self._store,
            texts=self.texts,
            worker=workers.searching,
            seconds=settings.search_seconds,
        )
        self.sessions = sessions
        self._workers = workers
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
        text = await self.texts.load(caller.org_id, config.text_id)
        if secrets:
            await self._reveal(caller, config)
            return config, text
        platform = self.sessions.platforms.get(config.platform)
        return config, await sized(len(text), redact, text, platform)

    async def diff(
        self, caller: Caller, device_id: str, old: int | None, new: int | None, *, secrets: bool
    ) -> VersionDiff:
        """Compares two versions, by default the two newest, in a text worker."""
        org_id = caller.org_id
        await self._devices.get(org_id, device_id)
        pair = await self._pair(org_id, device_id, old, new)
        if secrets:
            for config in pair:
                await self._reveal(caller, config)
        key = None if secrets else (await self.texts.keys(org_id)).secret
        texts = [await self.texts.load_one_packed(org_id, config.text_id) for config in pair]
        async with self._workers.comparing.turn() as turn:
            identical, found = await turn.ask(
                "compare",
                packed=texts,
                device_types=[config.platform for config in pair],
                names=[f"version {config.version}" for config in pair],
                key=key,
            )
        return VersionDiff(
            old=pair[0],
            new=pair[1],
            identical=identical,
            text=found.text,
            additions=found.additions,
            deletions=found.deletions,
        )

    async def set_notes(self, caller: Caller, device_id: str, version: int, notes: str | None) -> Config:
        """What people note on a version; None clears it."""
        await self._devices.get(caller.org_id, device_id)
        config = await self._store.set_notes(caller.org_id, device_id, version, notes)
        if config is None:
            raise NotFound(NO_VERSION)
        details = {"device_id": device_id, "version": version}
        await self._audit.record(caller, "config.set_notes", "config", config.id, details)
        return config

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
        earlier = await self._store.newest_before(org_id, device_id, later.version)
        if earlier is None:
            raise NotFound(f"There is no version before version {later.version} to compare it with")
        return earlier, later

    async def _reveal(self, caller: Caller, config: Config) -> None:
        """Requires the permission to see secrets, and audits it before they are shown."""
        caller.require("credentials.manage")
        details = {"device_id": config.device_id, "version": config.version}
        await self._audit.record(caller, "config.read_secrets", "config", config.id, details)
