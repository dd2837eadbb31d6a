"""Makes anew in the background what readers without secrets may know of a version: hash and size as shown.

It does so for versions of earlier releases, for those of nodes of such a release that run beside this one,
and for all after the rules of redaction have changed: an upgrade, or a plugin with a platform. Each version
says by which rules its form was made, so the work goes on where it was interrupted. Until then readers get
null.

Nodes with different rules may run side by side for a while. A node leaves alone what was made since its own
start: so the one that was started last has its way, and none undoes the work of another again and again.
"""

import logging
from collections.abc import Sequence
from itertools import groupby

from netautod.core.clock import Clock
from netautod.core.errors import NotFound
from netautod.core.identity.caller import OrgId
from netautod.network.configs.models import Config, Part, ShownForm
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.store import ConfigTexts
from netautod.network.configs.texts.tokens import SecretForm
from netautod.network.configs.texts.version_diff import difference_names
from netautod.network.configs.workers.pool import TextWorker
from netautod.secrets.vault.errors import VaultError
from netautod.transport.ssh.encoding import to_bytes

logger = logging.getLogger(__name__)
BATCH = 100
PACKED_BYTES = 512 * 1024  # of texts in one request: a search waits for a fraction of a second at most

Measured = dict[str, tuple[str, int]]
"""Hash and size of texts as shown, by their ids."""


class ShownForms:
    """The work of one pass after the other. `measuring` is a text worker that runs."""

    def __init__(
        self, *, store: ConfigStore, texts: ConfigTexts, measuring: TextWorker, clock: Clock
    ) -> None:
        self._store = store
        self._texts = texts
        self._measuring = measuring
        self._clock = clock
        self._started_at = clock.now()

    async def renew(self) -> int:
        """Make all forms that are due; return how many. A version whose text is lost or damaged has none."""
        done = 0
        while versions := await self._store.unshown(before=self._started_at, limit=BATCH):
            versions.sort(key=lambda version: version.org_id)
            for org_id, group in groupby(versions, key=lambda version: version.org_id):
                await self._renew_some(org_id, list(group))
            done += len(versions)
        if done:
            logger.info("hash and size as shown were made for %d configs", done)
        return done

    async def _renew_some(self, org_id: OrgId, versions: Sequence[Config]) -> None:
        wanted = {version.text_id for version in versions}
        wanted |= {part.text_id for version in versions for part in version.parts}
        packed = await self._texts.load_packed(org_id, list(wanted))
        measured = await self._measured(org_id, packed)
        for version in versions:
            found, size = measured.get(version.text_id, (None, None))
            sizes = {
                part.text_id: length
                for part in version.parts
                if (length := await self._part_size(version, part, measured)) is not None
            }
            form = ShownForm(config_hash=found, size=size, rules=self._store.rules)
            await self._store.set_shown(version, form, sizes, at=self._clock.now())

    async def _measured(self, org_id: OrgId, packed: dict[str, bytes]) -> Measured:
        key = (await self._texts.keys(org_id)).normalised
        found: Measured = {}
        some: list[str] = []
        for number, text_id in enumerate(packed, 1):
            some.append(text_id)
            if number == len(packed) or sum(len(packed[one]) for one in some) >= PACKED_BYTES:
                async with self._measuring.turn() as turn:
                    values = await turn.ask("measure", packed=[packed[one] for one in some], key=key)
                found |= zip(some, values, strict=True)
                some = []
        return found

    async def _part_size(self, version: Config, part: Part, measured: Measured) -> int | None:
        """Return the size of what is shown of a part, of one that is a configuration that of the diff."""
        if part.text_id not in measured:
            return None
        if not part.difference:
            return measured[part.text_id][1]
        try:
            return await self._difference_size(version, part)
        except (NotFound, VaultError):
            return None

    async def _difference_size(self, version: Config, part: Part) -> int:
        ids = (part.text_id, version.text_id)
        texts = [await self._texts.load_one_packed(version.org_id, text_id) for text_id in ids]
        secrets = SecretForm(key=(await self._texts.keys(version.org_id)).secret)
        async with self._measuring.turn() as turn:
            identical, found = await turn.ask(
                "compare",
                packed=texts,
                device_types=[version.platform] * 2,
                names=difference_names(part.command, version),
                secrets=secrets,
            )
        return 0 if identical else len(to_bytes(found.text))
