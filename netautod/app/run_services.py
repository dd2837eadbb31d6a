"""The product's services as the executor of a run sees them: with the rights of the task's owner."""

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Protocol

from netautod.agents.desk import Desk
from netautod.configs.capture.captures import ConfigCapture
from netautod.configs.snapshots import Snapshots
from netautod.core.errors import InvalidInput, NotFound
from netautod.core.schema import uuid_or_none
from netautod.core.work import Work
from netautod.devices.operations.commands import CommandRunner
from netautod.devices.operations.models import LONGEST_SECONDS, SHORTEST_SECONDS
from netautod.devices.service import DeviceService
from netautod.devices.sessions.service import DeviceSessions
from netautod.executions.models import Execution
from netautod.executions.running.environment import ActingFactory, RunActing
from netautod.outbound.client import GuardedClient
from netautod.plugin_api import (
    Acting,
    CaptureOutcome,
    CommandOutcome,
    DeviceFailed,
    DeviceInfo,
    ResultTotals,
)

READ = "devices.access"
COMMAND = "devices.manage"


class ActingServices:
    """The `acting` of one attempt.

    Every call checks the owner's permission as HTTP does (Forbidden ends the run without a retry).
    """

    def __init__(
        self,
        *,
        work: Work,
        execution: Execution,
        devices: DeviceService,
        captures: ConfigCapture,
        snapshots: Snapshots,
        sessions: DeviceSessions,
        commands: CommandRunner,
        http: GuardedClient,
        desk: Desk,
    ) -> None:
        self.agent = desk
        self.http = http.under(work.guard)
        self._work = work
        self._execution = execution
        self._devices = devices
        self._captures = captures
        self._snapshots = snapshots
        self._commands = commands
        self._sessions = sessions.scope(work)
        self._beginning = asyncio.Lock()
        self._begun = False

    @property
    def repeatable(self) -> bool:
        return not self.agent.has_written

    @property
    def unclear(self) -> bool:
        return self.agent.is_writing

    async def devices(
        self, *, site: str | None = None, device_type: str | None = None
    ) -> AsyncIterator[DeviceInfo]:
        self._work.caller.require(READ)
        org_id, persist, chosen = self._work.org_id, self._work.persist, self._execution.chosen
        if chosen is None:
            found = self._devices.matching(org_id, site=site, device_type=device_type, persist=persist)
        else:
            found = self._devices.of_ids(org_id, chosen, persist=persist)
        async for batch in found:
            self._work.guard()
            for device in batch:
                yield DeviceInfo(
                    id=device.id,
                    name=device.name,
                    host=device.host,
                    device_type=device.device_type,
                    site=device.site,
                )

    async def capture_config(self, device_id: str, *, credential_id: str | None = None) -> CaptureOutcome:
        """Raises DeviceFailed (kinds: ssh/failures.py); `not_found`: the device was deleted meanwhile."""
        self._work.caller.require(READ)
        # `str`: a schema's UUID field gives a UUID.
        override = None if credential_id is None else uuid_or_none(str(credential_id)) or str(credential_id)
        try:
            # Asked again only for what went wrong before the device was read: the rest is kept by `take`.
            name, captured = await self._work.persist(
                partial(self._captures.take, self._sessions, device_id, via="task", credential_id=override)
            )
        except NotFound as exc:
            raise DeviceFailed(exc.text, kind="not_found") from exc
        self._work.guard()
        await self._work.persist(self._begin_snapshot)
        await self._work.persist(partial(self._snapshots.add, self._work, self._execution.id, name, captured))
        config = captured.config
        return CaptureOutcome(
            config_id=config.id,
            version=config.version,
            config_hash=config.config_hash,
            changed=captured.changed,
            credential_id=captured.credential_id,
            notes=captured.notes,
        )

    async def _begin_snapshot(self) -> None:
        async with self._beginning:  # nobody adds to it before it is there
            if not self._begun:
                await self._snapshots.begin(self._work.org_id, self._execution.id)
                self._begun = True

    async def run_command(
        self, device_id: str, command: str, *, timeout_seconds: float = 30.0
    ) -> CommandOutcome:
        """In a background session: it does not try suspended logins, nor take the place of a person."""
        self._work.caller.require(COMMAND)
        self._work.guard()
        try:
            ran = await self._commands.run(
                self._work,
                device_id,
                command,
                seconds=max(SHORTEST_SECONDS, min(LONGEST_SECONDS, timeout_seconds)),
            )
        except InvalidInput as exc:
            raise ValueError(exc.text) from exc
        except NotFound as exc:
            return CommandOutcome(
                success=False, output="", error=exc.text, error_kind="not_found", duration_ms=0
            )
        return ran.outcome

    async def create_snapshot(self, name: str, totals: ResultTotals) -> str:
        self._work.caller.require(READ)
        self._work.guard()
        return await self._work.persist(
            partial(
                self._snapshots.create,
                self._work.org_id,
                name=name,
                task_id=self._execution.of_task,
                execution_id=self._execution.id,
                devices_total=totals.devices_total,
                succeeded=totals.succeeded,
                failed=totals.failed,
            )
        )


class DeskFactory(Protocol):
    """Makes the desk of an attempt; `acting` makes the services in the name of other work of the run."""

    def __call__(self, work: Work, execution: Execution, acting: Callable[[Work], Acting]) -> Desk: ...


def acting_factory(
    *,
    devices: DeviceService,
    captures: ConfigCapture,
    snapshots: Snapshots,
    sessions: DeviceSessions,
    commands: CommandRunner,
    http: GuardedClient,
    desk: DeskFactory,
) -> ActingFactory:
    """What the runner calls for each attempt."""

    def make(work: Work, execution: Execution) -> RunActing:
        def acting(as_owner: Work) -> ActingServices:
            return ActingServices(
                work=as_owner,
                execution=execution,
                devices=devices,
                captures=captures,
                snapshots=snapshots,
                sessions=sessions,
                commands=commands,
                http=http,
                desk=at_work,
            )

        at_work = desk(work, execution, acting)
        return acting(work)

    return make
