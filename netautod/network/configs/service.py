"""The use of stored configurations: reads, comparisons, searches and notes.

Reads name a device of the inventory, so those of a deleted one are not found. With only one of `old_version`
and `new_version` the other is the version before, or the newest. A diff compares normalised texts. In the
history of one device a changed password is a change, shown as `<secret: changed>`, or as tokens keyed by the
device to who holds credentials.manage. Between devices all secrets count as equal, so that no one finds that
of one device by typing guesses on another. With `secrets=true` a diff compares and shows the raw texts.
"""

from collections.abc import AsyncGenerator, Sequence

from netautod.activity.audit.service import AuditLog
from netautod.core.errors import NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.pages import Page, PageOf
from netautod.network.configs.models import ChangedLines, Config, Part, ReadConfig
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.diff import Difference
from netautod.network.configs.texts.learned_noise import Rule
from netautod.network.configs.texts.learned_noise_store import LearnedNoise
from netautod.network.configs.texts.redacted_cache import ShownTexts
from netautod.network.configs.texts.side_by_side import SideBySide
from netautod.network.configs.texts.store import ConfigTexts
from netautod.network.configs.texts.tokens import (
    SecretForm,
    key_of_device,
    keyed_by_device,
    without_tokens,
)
from netautod.network.configs.texts.version_diff import DiffForm, VersionDiff, difference_names
from netautod.network.configs.workers.pool import TextWorker
from netautod.network.devices.service import DeviceService
from netautod.transport.ssh.encoding import encoding_of, readable, to_bytes
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.platform.registry import PlatformRegistry

NO_VERSION = "Config version not found"
UNIFIED = DiffForm()
VersionOf = tuple[str, int | None]
"""A device and a version of it; None: the newest."""
NO_PART = "The version has no such part"
SECRETS = "credentials.manage"


class ConfigService:
    """The service of stored configurations. `comparing` is a text worker that runs."""

    def __init__(
        self,
        *,
        store: ConfigStore,
        texts: ConfigTexts,
        learned: LearnedNoise,
        devices: DeviceService,
        platforms: PlatformRegistry,
        shown: ShownTexts,
        comparing: TextWorker,
        audit: AuditLog,
    ) -> None:
        self._store = store
        self._texts = texts
        self._learned = learned
        self._devices = devices
        self._platforms = platforms
        self._shown = shown
        self._comparing = comparing
        self._audit = audit

    async def page(self, org_id: OrgId, device_id: str, page: Page) -> PageOf[Config]:
        """Return one page of the versions of a device, newest first."""
        await self._devices.require(org_id, device_id)
        return await self._store.page(org_id, device_id, page)

    async def every(
        self, org_id: OrgId, device_id: str, *, offset: int
    ) -> tuple[int, AsyncGenerator[Config, None]]:
        """Return how many versions a device has, and those from `offset` on, newest first, fetched one batch
        after the other.
        """
        await self._devices.require(org_id, device_id)
        total = await self._store.count(org_id, device_id)
        return total, self._store.every(org_id, device_id, offset=offset)

    async def beside(
        self, org_id: OrgId, device_id: str, version: int
    ) -> tuple[Config | None, Config | None]:
        """Return the version before this one and the one after it."""
        await self._devices.require(org_id, device_id)
        before = await self._store.newest_before(org_id, device_id, version)
        return before, await self._store.oldest_after(org_id, device_id, version)

    async def read(self, caller: Caller, device_id: str, version: int | None, *, secrets: bool) -> ReadConfig:
        """Return a version (None: the newest) and its text, redacted unless `secrets`; NotFound,
        Forbidden."""
        await self._devices.require(caller.org_id, device_id)
        config = await self._version(caller.org_id, device_id, version)
        text = await self._texts.load(caller.org_id, config.text_id)
        if secrets:
            await self._reveal(caller, config)
        shown = text if secrets else await self._shown.of(caller.org_id, device_id, config.text_id, text)
        encoding = encoding_of(text)
        noise = await self._noise(caller, device_id)
        return ReadConfig(
            config=config,
            text=readable(shown, encoding),
            encoding=encoding,
            learned_noise=[readable(line, encoding) for line in noise],
            full=caller.can(SECRETS),
        )

    async def learned_noise(self, caller: Caller, device_id: str) -> list[str]:
        """Return patterns of lines that change by themselves in the device's configurations, redacted;
        NotFound.
        """
        await self._devices.require(caller.org_id, device_id)
        return [readable(line, encoding_of(line)) for line in await self._noise(caller, device_id)]

    async def _noise(self, caller: Caller, device_id: str) -> list[str]:
        learned = (await self._learned.of(caller.org_id, device_id)).rules
        if not learned:
            return []
        noise = redact("\n".join(rule.shown for rule in learned), self._platforms.for_readers)
        if caller.can(SECRETS):
            key = (await self._texts.keys(caller.org_id)).secret
            noise = keyed_by_device(noise, key_of_device(key, device_id))
        else:
            noise = without_tokens(noise)
        return [line for line in noise.split("\n") if line]

    async def raw(self, caller: Caller, device_id: str, version: int) -> bytes:
        """Return the bytes of a version, with all secrets; NotFound, Forbidden."""
        await self._devices.require(caller.org_id, device_id)
        config = await self._version(caller.org_id, device_id, version)
        text = await self._texts.load(caller.org_id, config.text_id)
        await self._reveal(caller, config)
        return to_bytes(text)

    async def part(
        self, caller: Caller, device_id: str, version: int, name: str, *, secrets: bool
    ) -> tuple[Part, str]:
        """Return a part of a version and its text, redacted unless `secrets`; NotFound, Forbidden."""
        await self._devices.require(caller.org_id, device_id)
        config = await self._version(caller.org_id, device_id, version)
        part = next((part for part in config.parts if part.name == name), None)
        if part is None:
            raise NotFound(NO_PART)
        if secrets:
            await self._reveal(caller, config, part=name)
        if part.difference:
            return part, await self._difference(caller, config, part, secrets=secrets)
        text = await self._texts.load(caller.org_id, part.text_id)
        return part, readable(text if secrets else await self._shown.redacted(text), encoding_of(text))

    async def _difference(self, caller: Caller, config: Config, part: Part, *, secrets: bool) -> str:
        """Return how the version differs from the part; empty if in nothing that counts."""
        form = await self._secret_form(caller, (config, config))
        ids = (part.text_id, config.text_id)
        texts = [await self._texts.load_one_packed(config.org_id, text_id) for text_id in ids]
        names = difference_names(part.command, config)
        identical, found = await self._compared(texts, [config.platform] * 2, names, form)
        if secrets and not identical:
            _, found = await self._compared(texts, [config.platform] * 2, names, None)
        return "" if identical or not isinstance(found, Difference) else found.text

    async def diff(
        self,
        caller: Caller,
        device_id: str,
        old: int | None,
        new: int | None,
        *,
        secrets: bool,
        form: DiffForm = UNIFIED,
    ) -> VersionDiff:
        """Compare two versions, by default the two newest, in a text worker."""
        await self._devices.require(caller.org_id, device_id)
        pair = await self._pair(caller.org_id, device_id, old, new)
        names = [f"version {config.version}" for config in pair]
        return await self._versions(caller, pair, names, secrets=secrets, form=form)

    async def diff_of_devices(
        self, caller: Caller, old: VersionOf, new: VersionOf, *, secrets: bool, form: DiffForm = UNIFIED
    ) -> VersionDiff:
        """Compare a version of a device with one of another, by default the newest of each.

        What is known to move by itself on either is not compared.
        """
        devices = [await self._devices.get(caller.org_id, device_id) for device_id, _ in (old, new)]
        first, second = [await self._version(caller.org_id, *version_of) for version_of in (old, new)]
        names = [
            f"{device.name} version {config.version}"
            for device, config in zip(devices, (first, second), strict=True)
        ]
        return await self._versions(caller, (first, second), names, secrets=secrets, form=form)

    async def _versions(
        self,
        caller: Caller,
        pair: tuple[Config, Config],
        names: Sequence[str],
        *,
        secrets: bool,
        form: DiffForm,
    ) -> VersionDiff:
        if secrets:
            for config in pair:
                await self._reveal(caller, config)
        hidden = None if secrets else await self._secret_form(caller, pair)
        return await self._compared_versions(pair, names, hidden, form=form)

    async def _secret_form(self, caller: Caller | None, pair: tuple[Config, Config]) -> SecretForm:
        """Return how the secrets of two versions are compared and shown; None: to any reader."""
        old, new = pair
        key = (await self._texts.keys(old.org_id)).secret
        if old.device_id != new.device_id:
            return SecretForm(key=key, between_devices=True)
        tokens = caller is not None and caller.can(SECRETS)
        return SecretForm(key=key, device_key=key_of_device(key, old.device_id) if tokens else None)

    async def changed_lines(self, config: Config) -> ChangedLines:
        """Count the changes against the version before, as `diff` does; NotFound or VaultError for a lost
        text.
        """
        before = await self._store.newest_before(config.org_id, config.device_id, config.version)
        if before is None:
            text = await self._texts.load(config.org_id, config.text_id)
            shown = await self._shown.redacted(text)
            return ChangedLines(additions=shown.removesuffix("\n").count("\n") + 1, deletions=0)
        pair = (before, config)
        hidden = await self._secret_form(None, pair)
        found = await self._compared_versions(pair, ("", ""), hidden, form=UNIFIED)
        return ChangedLines(additions=found.additions, deletions=found.deletions)

    async def _compared_versions(
        self,
        pair: tuple[Config, Config],
        names: Sequence[str],
        secrets: SecretForm | None,
        *,
        form: DiffForm,
    ) -> VersionDiff:
        org_id = pair[0].org_id
        texts = [await self._texts.load_one_packed(org_id, config.text_id) for config in pair]
        device_ids = dict.fromkeys(config.device_id for config in pair)
        rules = [rule for one in device_ids for rule in (await self._learned.of(org_id, one)).rules]
        platforms = [config.platform for config in pair]
        identical, found = await self._compared(texts, platforms, names, secrets, rules=rules, form=form)
        return VersionDiff(old=pair[0], new=pair[1], identical=identical, found=found)

    async def forget_noise(self, caller: Caller, device_id: str) -> None:
        """Forget what was learned to move by itself in the device's configurations; NotFound."""
        await self._devices.require(caller.org_id, device_id)
        await self._learned.forget(caller.org_id, device_id)
        await self._audit.record(caller, "config.forget_noise", "device", device_id, {})

    async def set_notes(self, caller: Caller, device_id: str, version: int, notes: str | None) -> Config:
        """Set the notes of a version; None clears them."""
        await self._devices.require(caller.org_id, device_id)
        config = await self._store.set_notes(caller.org_id, device_id, version, notes)
        if config is None:
            raise NotFound(NO_VERSION)
        details = {"device_id": device_id, "version": version}
        await self._audit.record(caller, "config.set_notes", "config", config.id, details)
        return config

    async def _compared(
        self,
        packed: Sequence[bytes],
        device_types: Sequence[str],
        names: Sequence[str],
        secrets: SecretForm | None,
        *,
        rules: Sequence[Rule] = (),
        form: DiffForm = UNIFIED,
    ) -> tuple[bool, Difference | SideBySide]:
        async with self._comparing.turn() as turn:
            found: tuple[bool, Difference | SideBySide] = await turn.ask(
                "compare",
                packed=packed,
                device_types=device_types,
                names=names,
                secrets=secrets,
                rules=rules,
                context=form.context,
                columns=form.columns,
            )
        return found

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

    async def _reveal(self, caller: Caller, config: Config, **what: str) -> None:
        """Require the permission to see secrets, and audit it before they are shown."""
        caller.require(SECRETS)
        details = {"device_id": config.device_id, "version": config.version, **what}
        await self._audit.record(caller, "config.read_secrets", "config", config.id, details)
