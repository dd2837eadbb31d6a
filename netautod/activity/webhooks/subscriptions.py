"""The events that organizations want: read once a second, answered from memory.

For an event that no webhook wants nothing is written. While the database is away, what was read last holds.
"""

import logging
from collections.abc import Mapping
from typing import Protocol, Self

from netautod.activity.webhooks.models import Webhook
from netautod.activity.webhooks.store import WebhookStore
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.core.loop.repeating import Repeating

logger = logging.getLogger(__name__)


class Wanted(Protocol):
    """A function that returns whether a webhook of the organization wants an event of that name."""

    def __call__(self, org_id: OrgId, name: str) -> bool: ...


def wants_nothing(org_id: OrgId, name: str) -> bool:
    """Return False, where no webhooks are followed: on the command line, and in tests of something else."""
    return False


class Subscriptions:
    """The subscriptions of all webhooks.

    `async with` reads them before anything is started; until then no event is wanted.
    """

    def __init__(self, store: WebhookStore, *, refresh_seconds: float = 1.0) -> None:
        self._store = store
        self._webhooks: Mapping[str, Webhook] = {}
        self._wanted: frozenset[tuple[OrgId, str]] = frozenset()
        self._loop = Repeating(self._follow, name="the look for webhooks", seconds=refresh_seconds)

    async def __aenter__(self) -> Self:
        await self.refresh()
        self._loop.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.stop()

    def wants(self, org_id: OrgId, name: str) -> bool:
        return (org_id, name) in self._wanted

    def is_wanted(self, name: str) -> bool:
        return any(wanted == name for _, wanted in self._wanted)

    @property
    def any(self) -> bool:
        """Return whether there is a webhook at all, enabled or not."""
        return bool(self._webhooks)

    def get(self, webhook_id: str) -> Webhook | None:
        """Return the webhook as it was read last."""
        return self._webhooks.get(webhook_id)

    async def refresh(self) -> None:
        """Read the webhooks; this node's own changes call it, too, so that they count at once here."""
        found = await self._store.all()
        self._webhooks = {one.id: one for one in found}
        self._wanted = frozenset((one.org_id, name) for one in found if one.enabled for name in one.events)

    async def _follow(self) -> None:
        try:
            await self.refresh()
        except Unavailable as error:
            logger.debug("the webhooks could not be read, the old ones hold: %s", error)
