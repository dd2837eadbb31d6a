"""The product's services as the executor of a run sees them: with the rights of the task's owner."""

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Protocol

from netautod.assembly.acting.caller_services import READ, CallerServices, SharedServices
from netautod.automation.agents.desk import Desk
from netautod.automation.executions.models import Execution
from netautod.automation.executions.running.environment import ActingFactory, RunActing
from netautod.core.work.context import Work
from netautod.network.configs.models import Captured
from netautod.network.configs.snapshots import Snapshots
from netautod.network.devices.models import Device
from netautod.plugin_api import Acting, ResultTotals


class ActingServices(CallerServices):
    """The `acting` of one attempt: every call checks the owner's permission (Forbidden ends the run without a
    retry), and captures go into the snapshot of the execution."""

    def __init__(
        self,
        *,
        work: Work,
        execution: Execution,
        shared: SharedServices,
        snapshots: Snapshots,
        desk: Desk,
    ) -> None:
        super().__init__(work=work, shared=shared)
        self.agent = desk
        self.http = shared.http.under(work.guard)
        self._execution = execution
        self._snapshots = snapshots
        self._snapshot_lock = asyncio.Lock()
        self._has_snapshot = False

    @property
    def repeatable(self) -> bool:
        return not self.agent.has_written

    @property
    def unclear(self) -> bool:
        return self.agent.is_writing

    def matching(self, site: str | None, device_type: str | None) -> AsyncIterator[list[Device]]:
        """Yield the selected devices alone where the run is for a subset."""
        subset = self._execution.device_subset
        if subset is None:
            return super().matching(site, device_type)
        return self._shared.devices.of_ids(self.work.org_id, subset, persist=self.work.persist)

    async def captured(self, device_id: str, name: str, captured: Captured) -> None:
        await self.work.persist(self._begin_snapshot)
        await self.work.persist(partial(self._snapshots.add, self.work, self._execution.id, name, captured))

    async def _begin_snapshot(self) -> None:
        async with self._snapshot_lock:  # a capture is added once the snapshot exists
            if not self._has_snapshot:
                await self._snapshots.begin(self.work.org_id, self._execution.id)
                self._has_snapshot = True

    async def create_snapshot(self, name: str, totals: ResultTotals) -> str:
        self.work.caller.require(READ)
        self.work.guard()
        return await self.work.persist(
            partial(
                self._snapshots.create,
                self.work.org_id,
                name=name,
                task_id=self._execution.of_task,
                execution_id=self._execution.id,
                devices_total=totals.devices_total,
                succeeded=totals.succeeded,
                failed=totals.failed,
            )
        )


class DeskFactory(Protocol):
    """A factory of the desk of an attempt.

    `acting` makes the services in the name of other work of the run.
    """

    def __call__(self, work: Work, execution: Execution, acting: Callable[[Work], Acting]) -> Desk: ...


def acting_factory(*, shared: SharedServices, snapshots: Snapshots, desk: DeskFactory) -> ActingFactory:
    """Return the factory that the runner calls for each attempt."""

    def make(work: Work, execution: Execution) -> RunActing:
        def acting(as_owner: Work) -> ActingServices:
            return ActingServices(
                work=as_owner, execution=execution, shared=shared, snapshots=snapshots, desk=at_work
            )

        at_work = desk(work, execution, acting)
        return acting(work)

    return make
