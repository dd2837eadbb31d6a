"""The ticks that a pause holds back: at its end the rule of missed ticks applies to them.

Most have no run yet, and the due scan decides about them. Those whose run waited already when the pause began
are handled here: after a pause of days a backup of the night before it has no use.
"""

import logging
from datetime import datetime, timedelta

from netautod.automation.executions.settings import SchedulerSettings
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.tasks.decide import ON_TIME
from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
from netautod.core.metrics import Metrics

logger = logging.getLogger(__name__)
MISSED = "missed: the automation was paused for longer than the catch-up window"


class PausedTicks:
    def __init__(
        self, *, store: ExecutionStore, clock: Clock, metrics: Metrics, settings: SchedulerSettings
    ) -> None:
        self._store = store
        self._clock = clock
        self._metrics = metrics
        self._window = max(timedelta(seconds=settings.catch_up_seconds), ON_TIME)

    async def give_up(self, org_id: OrgId, paused_at: datetime) -> None:
        """Cancel the runs that the pause has made too old.

        Call it before the pause ends: afterwards they would be claimed. Calling it again does no harm. A
        pause within the window cancels nothing, however long a run has waited for a slot before it. A run
        that a user has started stays, and so does one that has begun and waits for its retry.
        """
        oldest = self._clock.now() - self._window
        if paused_at < oldest:
            missed = await self._store.give_up_ticks(org_id, before=oldest, reason=MISSED)
            self._metrics.add("scheduler_missed", missed)
            if missed:
                logger.warning("%d waiting executions were cancelled: %s", missed, MISSED)
