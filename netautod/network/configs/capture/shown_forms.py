"""Makes anew in the background what readers without secrets may know of a version: hash and size as shown.

It does so for versions of earlier releases, for those of nodes of such a release that run beside this one,
and for all after the rules of redaction have changed: an upgrade, or a plugin with a platform. Each version
says by which rules its form was made, so the work goes on where it was interrupted. Until then readers get
null.

Nodes with different rules may run side by side for a while. A node leaves alone what was made since its own
start, and later within the last hour: so the one that was started last has its way, and what a node has made
that is gone since is made anew.

A text that takes too long, or that the worker dies of, has a form that says nothing, as one that is lost.
"""

import logging
from collections.abc import Awaitable, Collection, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Protocol

from netautod.core.clock import Clock
from netautod.core.errors import NotFound, Unavailable
from netautod.core.identity.caller import OrgId
from netautod.network.configs.models import Config, Part, ShownForm
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.packing import unpacked_size
from netautod.network.configs.texts.store import ConfigTexts
from netautod.network.configs.texts.tokens import SecretForm
from netautod.network.configs.texts.version_diff import difference_names
from netautod.network.configs.workers.pool import TextWorker
from netautod.secrets.vault.errors import VaultError
from netautod.transport.ssh.encoding import to_bytes

logger = logging.getLogger(__name__)
BATCH = 100
# Of texts in one request, unpacked: a search waits for a fraction of a second.
MOST_BYTES = 512 * 1024
LEFT_TO_OTHERS = timedelta(hours=1)

Measured = dict[str, tuple[str, int] | None]
"""Hash and size of texts as shown, by their ids; None: unknown."""


class Due(Protocol):
    """A look for versions whose forms are due."""

    def __call__(
        self, *, before: datetime, limit: int, without: Collection[OrgId]
    ) -> Awaitable[list[Config]]: ...


class ShownForms:
    """The work of one pass after the other. `measuring` is a text worker that runs."""

    def __init__(
        self, *, store: ConfigStore, texts: ConfigTexts, measuring: TextWorker, clock: Clock
    ) -> None:
        self._store = store
        self._texts = texts
        self._measuring = measuring
        self._clock = clock
        self._started_at = self._parts_due = clock.now()

    async def renew(self) -> int:
        """Make all forms that are due; return how many. A version whose text is lost or damaged has none."""
        closed: set[OrgId] = set()
        done = await self._renew(self._store.unshown, closed)
        if (now := self._clock.now()) >= self._parts_due:
            self._parts_due = now + LEFT_TO_OTHERS
            done += await self._renew(self._store.unshown_parts, closed)
        if done:
            logger.info("hash and size as shown were made for %d configs", done)
        return done

    async def _renew(self, due: Due, closed: set[OrgId]) -> int:
        """Make forms until none is due but of organizations whose keys do not open: `closed` gets them."""
        done = 0
        before = max(self._started_at, self._clock.now() - LEFT_TO_OTHERS)
        while versions := await due(before=before, limit=BATCH, without=closed):
            versions.sort(key=lambda version: version.org_id)
            for org_id, group in groupby(versions, key=lambda version: version.org_id):
                try:
                    done += await self._renew_some(org_id, list(group))
                except VaultError as error:
                    logger.error("hash and size of configs as shown cannot be made: %s", error)
                    closed.add(org_id)
        return done

    async def _renew_some(self, org_id: OrgId, versions: Sequence[Config]) -> int:
        key = (await self._texts.keys(org_id)).normalised
        wanted = {text_id for version in versions for text_id in _texts_of(version)}
        packed = await self._texts.load_packed(org_id, list(wanted))
        for some in _portions(versions, packed):
            texts = {
                text_id: packed[text_id] for one in some for text_id in _texts_of(one) if text_id in packed
            }
            measured = await self._measured(texts, key)
            for version in some:
                await self._store_form(version, measured)
        return len(versions)

    async def _store_form(self, version: Config, measured: Measured) -> None:
        found, size = measured.get(version.text_id) or (None, None)
        sizes = {
            part.text_id: length
            for part in version.parts
            if (length := await self._part_size(version, part, measured)) is not None
        }
        form = ShownForm(config_hash=found, size=size, rules=self._store.rules)
        await self._store.set_shown(version, form, sizes, at=self._clock.now())

    async def _measured(self, packed: dict[str, bytes], key: bytes) -> Measured:
        """Measure together what can be, else one by one."""
        if not packed:
            return {}
        values = await self._answer("measure", packed=list(packed.values()), key=key)
        if values is not None:
            return dict(zip(packed, values, strict=True))
        if len(packed) == 1:
            logger.error("hash and size of the text %s as shown stay unknown", *packed)
            return dict.fromkeys(packed)
        found: Measured = {}
        for text_id, data in packed.items():
            found |= await self._measured({text_id: data}, key)
        return found

    async def _answer(self, work: str, **arguments: Any) -> Any:
        """Return the answer of the worker, or None if it died of it or took too long. Unavailable: it does
        not start.
        """
        async with self._measuring.turn() as turn:
            try:
                return await turn.ask(work, **arguments)
            except Unavailable as error:
                logger.warning("%s", error.text)
                return None

    async def _part_size(self, version: Config, part: Part, measured: Measured) -> int | None:
        """Return the size of what is shown of a part, of one that is a configuration that of the diff."""
        known = measured.get(part.text_id)
        if known is None:
            return None
        if not part.difference:
            return known[1]
        try:
            return await self._difference_size(version, part)
        except (NotFound, VaultError):
            return None

    async def _difference_size(self, version: Config, part: Part) -> int | None:
        ids = (part.text_id, version.text_id)
        texts = [await self._texts.load_one_packed(version.org_id, text_id) for text_id in ids]
        secrets = SecretForm(key=(await self._texts.keys(version.org_id)).secret)
        found = await self._answer(
            "compare",
            packed=texts,
            device_types=[version.platform] * 2,
            names=difference_names(part.command, version),
            secrets=secrets,
        )
        if found is None:
            return None
        identical, difference = found
        return 0 if identical else len(to_bytes(difference.text))


def _texts_of(version: Config) -> list[str]:
    return [version.text_id, *(part.text_id for part in version.parts)]


def _portions(versions: Sequence[Config], packed: dict[str, bytes]) -> Iterator[list[Config]]:
    """Yield the versions, as many at once as their texts are measured in one request."""
    some: list[Config] = []
    size = 0
    for version in versions:
        length = sum(unpacked_size(packed[text_id]) for text_id in _texts_of(version) if text_id in packed)
        if some and size + length > MOST_BYTES:
            yield some
            some, size = [], 0
        some.append(version)
        size += length
    if some:
        yield some
