"""Keeps beside a version what its device tells besides its configuration (`[[parts]]` of the platform).

Parts make no versions: those of the newest version are replaced while its configuration stays the same, so
that they say how the device is now, and those of an older one how it was then. They are read after the
configuration is stored, which they cannot harm, and once in a while only: each costs a round trip.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from netautod.core.clock import Clock
from netautod.core.errors import Conflict, DiskFull
from netautod.core.loop.pace import in_thread_if_large
from netautod.network.configs.models import Config, Part
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.compare import compared
from netautod.network.configs.texts.redacted_cache import ShownTexts
from netautod.network.configs.texts.store import ConfigTexts, RawText, TextKeys, identified
from netautod.network.configs.texts.tokens import SecretForm
from netautod.network.configs.texts.version_diff import difference_names
from netautod.network.devices.sessions.service import OpenDevice
from netautod.transport.ssh.capture.parts import PartReading, PartReadings, read_parts
from netautod.transport.ssh.encoding import to_bytes
from netautod.transport.ssh.platform.model import Platform


class PartsCapture:
    """A capture of parts. `hours` is how old the parts of a version may be; 0: none are read."""

    def __init__(
        self, *, store: ConfigStore, texts: ConfigTexts, shown: ShownTexts, clock: Clock, hours: float
    ) -> None:
        self._store = store
        self._texts = texts
        self._shown = shown
        self._clock = clock
        self._age = timedelta(hours=hours)

    def are_due(self, config: Config, platform: Platform) -> bool:
        if not (self._age and platform.parts):
            return False
        return config.parts_at is None or self._clock.now() - config.parts_at >= self._age

    async def take(self, opened: OpenDevice, config: Config, raw: str) -> Sequence[str]:
        """Read the parts of the device, whose configuration is `raw`, for its newest version; return the
        notes.

        A part that cannot be read now stays as it was. Whatever the result, the parts are not due for a
        while.
        """
        found = await read_parts(opened.session)
        opened.work.guard()
        keys = await self._texts.keys(config.org_id)
        platform = opened.session.platform
        measured = [(await self._measured(one, config, raw, platform, keys)) for one in found.read]
        store = partial(self._store_parts, opened, config, measured, found, self._clock.now())
        try:
            await opened.work.persist(store)
        except (Conflict, DiskFull) as exc:  # the configuration is stored, and these are no reason to lose it
            return (*found.notes, f"the parts could not be stored: {exc.text}")
        return found.notes

    async def _measured(
        self, reading: PartReading, config: Config, raw: str, platform: Platform, keys: TextKeys
    ) -> tuple[Part, RawText]:
        """Return the part and its text. `size` is that of what a reader is shown of the part."""
        text = await in_thread_if_large(len(reading.raw), identified, reading.raw, keys)
        if reading.part.difference:
            names = difference_names(reading.command, config)
            length = len(reading.raw) + len(raw)
            shown = await in_thread_if_large(
                length, _difference, (reading.raw, raw), platform, names, keys.secret, self._shown.readers
            )
        else:
            shown = await self._shown.redacted(reading.raw)
        part = Part(
            name=reading.part.name,
            command=reading.command,
            size=len(to_bytes(shown)),
            text_id=text.text_id,
            difference=reading.part.difference,
        )
        return part, text

    async def _store_parts(
        self,
        opened: OpenDevice,
        config: Config,
        measured: Sequence[tuple[Part, RawText]],
        found: PartReadings,
        now: datetime,
    ) -> None:
        # Texts first: if we die in between there are texts that no version names, never the opposite.
        for _, text in measured:
            await self._texts.save(opened.work, text)
        parts = {part.name: part for part, _ in measured}
        parts |= {part.name: part for part in config.parts if part.name in found.failed}
        kept = {part.text_id for part in parts.values()}
        gone = [part.text_id for part in config.parts if part.text_id not in kept]
        await self._texts.loosen(config.org_id, gone)
        ordered = [parts[part.name] for part in opened.session.platform.parts if part.name in parts]
        await self._store.set_parts(config, ordered, opened.work, at=now)


def _difference(
    texts: tuple[str, str], platform: Platform, names: tuple[str, str], key: bytes, readers: Platform
) -> str:
    """Return what readers are shown of a part that is a configuration, too; empty if nothing differs."""
    identical, found = compared(texts, (platform, platform), names, SecretForm(key=key), readers=readers)
    return "" if identical else found.text
