"""Captures the configuration of one device and makes a version of it, if it says something new."""

import asyncio
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Protocol
from uuid import uuid4

from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, NotFound
from netautod.core.loop.pace import in_thread_if_large
from netautod.core.work.context import Work
from netautod.network.configs.backups.store import BackupStates
from netautod.network.configs.capture.learning import NoiseLearning
from netautod.network.configs.capture.parts import PartsCapture
from netautod.network.configs.models import FROM_DEVICE, TEXT_FORMAT, Captured, Config, ShownForm
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.redacted_cache import ShownTexts
from netautod.network.configs.texts.store import ConfigTexts, Reading, measure
from netautod.network.devices.sessions.service import OpenDevice, SessionScope
from netautod.plugin_api.events import ConfigChanged
from netautod.secrets.vault.errors import VaultError
from netautod.transport.ssh.capture.configuration import capture, suspicious
from netautod.transport.ssh.failures import DeviceFailed

ATTEMPTS = 10


class CaptureObservers(Protocol):
    def config_changed(self, event: ConfigChanged) -> None:
        """Notify the observers once a new version is stored; returns at once and never raises."""
        ...


class ConfigCapture:
    def __init__(
        self,
        *,
        store: ConfigStore,
        texts: ConfigTexts,
        shown: ShownTexts,
        parts: PartsCapture,
        learning: NoiseLearning,
        states: BackupStates,
        clock: Clock,
        observers: CaptureObservers,
    ) -> None:
        self._store = store
        self._texts = texts
        self._shown = shown
        self._parts = parts
        self._learning = learning
        self._states = states
        self._clock = clock
        self._observers = observers

    async def take(
        self, scope: SessionScope, device_id: str, *, via: str, credential_id: str | None = None
    ) -> tuple[str, Captured]:
        """Read the device and store what it says; return its name and the outcome. `via` is described at
        Config.

        Raises DiskFull before the device is contacted, NotFound without such a device and DeviceFailed for
        everything that goes wrong with it: what is refused, cut off or suspiciously small never becomes a
        version. The version is written while the session still holds the device, so that versions follow the
        order of the readings.
        """
        self._texts.require_room()
        try:
            name, captured = await self._capture(scope, device_id, via, credential_id)
        except DeviceFailed as failure:
            await self._record_state(scope.work, device_id, failure)
            raise
        if captured.changed:
            self._notify(name, captured.config, scope.work)
            # If we die before this, the version says that its capture is still to be noted.
            await self._record_state(scope.work, device_id)
            await scope.work.persist(partial(self._store.noted, captured.config, scope.work.unguarded()))
        return name, captured

    async def _record_state(self, work: Work, device_id: str, failure: DeviceFailed | None = None) -> None:
        ended = (None, None) if failure is None else (failure.text, failure.kind)
        now, (error, kind) = self._clock.now(), ended
        await work.persist(partial(self._states.record, work, device_id, at=now, error=error, kind=kind))

    async def _capture(
        self, scope: SessionScope, device_id: str, via: str, credential_id: str | None
    ) -> tuple[str, Captured]:
        org_id = scope.work.org_id
        async with scope.open(device_id, credential_id=credential_id) as opened:
            # No one else writes versions of the device while we hold its lease.
            newest = self._store.newest(org_id, device_id, scope.work)
            last, found = await asyncio.gather(newest, capture(opened.session))
            reading = await self._measured(opened, found.raw, last)
            reading, notes = await self._believable(opened, last, (reading, found.notes))
            again = partial(self._reading_again, opened)
            reading = await self._learning.settle(opened, last, reading, again)
            opened.work.guard()
            config, changed = await self._keep(opened, reading, last, via)
            if self._parts.are_due(config, opened.session.platform):
                notes = (*notes, *await self._parts.take(opened, config, reading.raw))
            captured = Captured(
                config=config, changed=changed, credential_id=opened.credential_id, notes=notes
            )
            return opened.device.name, captured

    def _notify(self, device_name: str, config: Config, work: Work) -> None:
        self._observers.config_changed(
            changed(config, device_name=device_name, execution_id=work.execution_id)
        )

    async def _believable(
        self, opened: OpenDevice, last: Config | None, read: tuple[Reading, tuple[str, ...]]
    ) -> tuple[Reading, tuple[str, ...]]:
        """Return a reading; one of under half the last good size counts only if a second one agrees.

        No sentence has the sizes: they are those of texts with secrets.
        """
        reading, notes = read
        if last is None or not suspicious(reading.size, last.size):
            return reading, notes
        again, notes = await self._read(opened)
        if again.config_hash != reading.config_hash:
            raise DeviceFailed(
                "the configuration has less than half its size before, and a second reading differs: "
                "neither is believed",
                kind="incomplete",
            )
        note = "the configuration shrank to less than half its size; a second reading agrees"
        return again, (*notes, note)

    async def _read(self, opened: OpenDevice) -> tuple[Reading, tuple[str, ...]]:
        found = await capture(opened.session)
        return await self._measured(opened, found.raw), found.notes

    async def _reading_again(self, opened: OpenDevice) -> Reading:
        reading, _ = await self._read(opened)
        return reading

    async def _measured(self, opened: OpenDevice, raw: str, last: Config | None = None) -> Reading:
        keys = await self._texts.keys(opened.work.org_id)
        known = {} if last is None else {last.text_id: last.config_hash}
        platform, device_id = opened.session.platform, opened.device.id
        return await in_thread_if_large(len(raw), measure, raw, platform, keys, device_id, known)

    async def _keep(
        self, opened: OpenDevice, reading: Reading, last: Config | None, via: str
    ) -> tuple[Config, bool]:
        """Return the version with this content, and whether it is a new one. A run tries until it is
        stored."""
        own_id, known = str(uuid4()), [last]

        async def keep() -> tuple[Config, bool]:
            # Read again after a try whose result is not known.
            newest = known.pop() if known else await self._store.newest(opened.work.org_id, opened.device.id)
            if newest is not None and newest.id == own_id:
                return newest, True
            return await self._stored(opened, reading, newest, via, own_id)

        return await opened.work.persist(keep)

    async def _stored(
        self, opened: OpenDevice, reading: Reading, last: Config | None, via: str, own_id: str
    ) -> tuple[Config, bool]:
        work = opened.work
        for _ in range(ATTEMPTS):
            now = self._clock.now()
            if last is not None and await self._same(opened, last, reading):
                shown = await self._form_of(last, reading)
                # State first: if we die in between it is right, and the version was only seen earlier.
                await self._states.record(work, opened.device.id, at=now, error=None)
                seen = await self._store.seen(
                    last, work, at=now, config_hash=reading.config_hash, shown=shown
                )
                return seen, False
            # Text first: if we die in between there is a text that no version names, never the opposite.
            await self._texts.save(work, reading)
            keys = await self._texts.keys(work.org_id)
            shown = await self._shown.form(reading.raw, keys.normalised)
            config = replace(_version(opened, reading, last, via, now, own_id), shown=shown)
            try:
                event = {"device_name": opened.device.name, "execution_id": work.execution_id}
                await self._store.insert(config, work, event=event)
            except Duplicate:
                # Another capture made this version after all: it may say the same.
                last = await self._store.newest(work.org_id, opened.device.id)
                if last is not None and last.id == own_id:
                    return last, True
                continue
            return config, True
        raise Conflict("The device's configuration is being stored by others; try again")

    async def _form_of(self, last: Config, reading: Reading) -> ShownForm:
        """Return how readers see the version that the device still has, made anew where it is not known."""
        if last.shown.config_hash is not None:
            return last.shown
        try:
            is_same = last.text_id == reading.text_id
            raw = reading.raw if is_same else await self._texts.load(last.org_id, last.text_id)
        except (NotFound, VaultError):
            return last.shown
        keys = await self._texts.keys(last.org_id)
        return await self._shown.form(raw, keys.normalised)

    async def _same(self, opened: OpenDevice, last: Config, reading: Reading) -> bool:
        """Return whether the newest version says the same.

        Where the hashes differ its text is hashed anew: a release, or another device_type, may have changed
        what counts as noise or how a secret stands in the hashed text, and that is no change of the device.
        """
        if last.config_hash == reading.config_hash or last.text_id == reading.text_id:
            return True
        try:
            raw = await self._texts.load(last.org_id, last.text_id)
        except (NotFound, VaultError):
            return False  # lost or damaged: the new reading is stored as a new version
        return (await self._measured(opened, raw)).config_hash == reading.config_hash


def changed(config: Config, *, device_name: str, execution_id: str | None) -> ConfigChanged:
    """Return the event of a new version for observers and webhooks, who get the hash of the text as shown.

    It is empty for a version that a node of an earlier release has stored just now.
    """
    return ConfigChanged(
        org_id=config.org_id,
        device_id=config.device_id,
        device_name=device_name,
        version=config.version,
        previous_version=config.version - 1 or None,
        config_hash=config.shown.config_hash or "",
        execution_id=execution_id,
    )


def _version(
    opened: OpenDevice, reading: Reading, last: Config | None, via: str, now: datetime, own_id: str
) -> Config:
    return Config(
        id=own_id,
        org_id=opened.work.org_id,
        device_id=opened.device.id,
        version=1 if last is None else last.version + 1,
        config_hash=reading.config_hash,
        config_format=TEXT_FORMAT,
        source=FROM_DEVICE,
        pulled_via=via,
        created_by=opened.work.caller.user_id,
        created_at=now,
        last_seen_at=now,
        size=reading.size,
        notes=None,
        text_id=reading.text_id,
        platform=opened.device.device_type,
    )
