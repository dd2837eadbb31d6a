"""Gives up deliveries that have waited too long, or that are too many."""

import logging
from dataclasses import dataclass
from datetime import timedelta

from netautod.activity.webhooks.delivery.store import DeliveryStore
from netautod.activity.webhooks.settings import WebhooksSettings
from netautod.core.clock import Clock
from netautod.core.metrics import Metrics

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class DeliveryUpkeep:
    deliveries: DeliveryStore
    clock: Clock
    metrics: Metrics
    settings: WebhooksSettings

    async def expire(self) -> int:
        """Make one pass, on one node at a time; return how many deliveries it gave up."""
        hours, most = self.settings.expire_hours, self.settings.queue
        now = self.clock.now()
        expired = await self.deliveries.expire(
            before=now - timedelta(hours=hours), reason=f"it was not accepted for {hours:g} hours", at=now
        )
        for webhook_id, waiting in (await self.deliveries.waiting_by_webhook()).items():
            if waiting > most:
                reason = f"more than {most} deliveries wait for this webhook"
                expired += await self.deliveries.expire_oldest(
                    webhook_id, waiting - most, reason=reason, at=now
                )
        if expired:
            self.metrics.add("webhook_deliveries", expired, "expired")
            logger.warning("%d deliveries of webhooks have expired", expired)
        return expired
