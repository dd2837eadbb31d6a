"""The cancellation of an executor, and what is logged when it swallows the cancellation or does not end."""

import asyncio
import logging
from typing import Any

from netautod.automation.executions.models import Execution
from netautod.automation.executions.running.environment import RunEnvironment
from netautod.automation.executions.running.registered_executors import package_of
from netautod.core.work.guard import LeaseLostError

logger = logging.getLogger(__name__)
Work = asyncio.Task[Any]


class FinalLog:
    """The final log of the executor of one attempt.

    An executor may take its time to close what it opened; only one that continues instead is reported.
    """

    def __init__(self, environment: RunEnvironment, execution: Execution) -> None:
        self._clock = environment.clock
        self._grace = environment.settings.cancel_grace_seconds
        self._execution = execution
        self._executor = environment.executors.get(execution.task_type)
        self._cancelled_at: float | None = None
        self._reported = False

    def cancel(self, work: Work) -> None:
        """Cancel the work once: a second cancellation would cut its cleaning up short."""
        if self._cancelled_at is None:
            self._cancelled_at = self._clock.monotonic()
            work.cancel()

    def ended(self, work: Work) -> str | None:
        """Return, once, the log line of an executor that has ended, if it needs one."""
        if work.cancelled():
            return None
        error = work.exception()  # retrieved in any case: asyncio would log it as never retrieved
        if self._cancelled_at is None or self._reported:
            return None
        self._reported = True
        if error is None:
            text = f"the executor swallowed its cancellation and went on for {self._seconds():.1f} s"
            logger.warning("%s: %s", self._name, text)
            return text
        if not isinstance(error, LeaseLostError):  # the guard raises it for what the run may no longer do
            logger.warning("%s raised while it was cancelled", self._name, exc_info=error)
        return None

    def left_behind(self, work: Work) -> str:
        """Return the log line of an executor that has not ended.

        How it ends later goes to the service's log.
        """
        text = f"the executor has not ended {self._grace:g} s after its cancellation and is left behind"
        logger.error("%s: %s", self._name, text)
        work.add_done_callback(self._report_late)
        return text

    def _report_late(self, work: Work) -> None:
        if self.ended(work) is None:
            logger.warning("%s ended %.1f s after its cancellation", self._name, self._seconds())

    def _seconds(self) -> float:
        return 0.0 if self._cancelled_at is None else self._clock.monotonic() - self._cancelled_at

    @property
    def _name(self) -> str:
        """Return task, task type, plugin and execution, by which a reader finds the code."""
        plugin = "no plugin" if self._executor is None else package_of(self._executor)
        one = self._execution
        return f"task {one.task_name!r} ({one.task_type} of {plugin}), execution {one.id}"
