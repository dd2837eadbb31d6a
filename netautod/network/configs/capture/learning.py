"""Tells what moves by itself from an edit, where a reading differs from the stored one in a few lines.

The device is read again at once, in the same session (texts/learned.py has the rule). An edit is the same in
both readings; what moved is learned and makes no version.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from netautod.core.errors import NotFound
from netautod.core.loop.pace import in_thread_if_large
from netautod.network.configs.models import Config
from netautod.network.configs.texts.learned_noise import (
    MOST_LINES,
    Rule,
    differing,
    judged,
    moving,
    on_trial,
    quiet,
)
from netautod.network.configs.texts.learned_noise_store import Learned, LearnedNoise
from netautod.network.configs.texts.normalise import normalise
from netautod.network.configs.texts.store import ConfigTexts, Reading
from netautod.network.devices.sessions.service import OpenDevice
from netautod.secrets.vault.errors import VaultError
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform

ReadAgain = Callable[[], Awaitable[Reading]]


class NoiseLearning:
    def __init__(self, *, texts: ConfigTexts, learned: LearnedNoise) -> None:
        self._texts = texts
        self._learned = learned

    async def settle(
        self, opened: OpenDevice, last: Config | None, reading: Reading, again: ReadAgain
    ) -> Reading:
        """Return the reading that counts; it has the hash of the last one where only noise differs.

        A second reading that fails leaves the first one, which has broken no rule.
        """
        if last is None or reading.config_hash == last.config_hash or reading.text_id == last.text_id:
            return reading
        try:
            raw = await self._texts.load(last.org_id, last.text_id)
            known = await self._learned.of(last.org_id, last.device_id)
        except (NotFound, VaultError):
            return reading  # lost or damaged: there is nothing to compare with
        stored = await self._lines(opened, raw)
        first = await self._lines(opened, reading.raw)
        if stored == first:
            # A release may have changed what counts as noise: the hash is new, the text is not.
            return reading
        differ = await self._differ(stored, first, known)
        if differ > MOST_LINES:
            return reading
        repeated = reading
        try:
            if differ or await in_thread_if_large(len(raw), on_trial, known.rules, first):
                repeated = await again()
        except DeviceFailed:
            return reading if differ else replace(reading, config_hash=last.config_hash)
        second = first if repeated is reading else await self._lines(opened, repeated.raw)
        rules = await in_thread_if_large(len(raw), _learned, known.rules, stored, first, second)
        if [rule.to_json() for rule in rules] != [rule.to_json() for rule in known.rules]:
            known = await self._learned.put(opened.work, last.device_id, known, rules)
        found = await self._differ(stored, first, known), await self._differ(stored, second, known)
        counted = repeated if found[1] <= found[0] else reading  # a log line in one of them adds to it
        return counted if min(found) else replace(counted, config_hash=last.config_hash)

    async def _lines(self, opened: OpenDevice, raw: str) -> list[str]:
        keys = await self._texts.keys(opened.work.org_id)
        return await in_thread_if_large(len(raw), _normalised, raw, opened.session.platform, keys.secret)

    async def _differ(self, old: Sequence[str], new: Sequence[str], known: Learned) -> int:
        return await in_thread_if_large(sum(map(len, new)), _differing, old, new, known)


def _learned(
    known: Sequence[Rule], stored: Sequence[str], first: Sequence[str], second: Sequence[str]
) -> list[Rule]:
    """Return the rules that are known after this capture."""
    kept = judged(known, stored, first, second)
    return [*kept, *moving(stored, first, second, known=kept)]


def _normalised(raw: str, platform: Platform, key: bytes) -> list[str]:
    return normalise(raw, platform, key).split("\n")


def _differing(old: Sequence[str], new: Sequence[str], known: Learned) -> int:
    return differing(quiet(old, known.rules), quiet(new, known.rules))
