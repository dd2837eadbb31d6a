"""The end of a restore: what was going on when the backup was taken is over, and nothing goes on by itself.

Each step may be done again: a restore that is killed here goes on here.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import INDEXES, Stores
from netautod.assembly.settings import Settings
from netautod.automation.system.models import Pause
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import system_caller
from netautod.core.json.values import to_text
from netautod.core.work.deadlines import migrating
from netautod.store.client import Database
from netautod.store.indexes import create_indexes

BY = "netautod restore"


@dataclass(frozen=True, kw_only=True)
class Settled:
    """The numbers of executions cancelled, sessions ended and organizations paused."""

    executions: int
    sessions: int
    organizations: int


async def settle(
    database: Database,
    settings: Settings,
    *,
    confirm: Callable[[], Awaitable[None]],
    backup_id: str,
    taken_at: datetime,
    authenticated: bool,
) -> Settled:
    """Create the indexes, and then turn what was restored into data that a service may start on.

    `confirm` is called before each step, and raises once another restore has taken over: a service may work
    by then.
    """
    reason = f"restored from the backup of {to_text(taken_at)}"
    clock, stores = SystemClock(), Stores.of(database, settings.retention)
    with migrating():
        await confirm()
        await create_indexes(database, INDEXES)
        await confirm()
        executions = await stores.executions.abandon_all(reason)
        await confirm()
        sessions = await stores.sessions.end_all(reason, clock.now())
        pending = (
            stores.discovered.undelivered,
            stores.discovered.unnotified,
            stores.executions.undelivered,
            stores.task_owners.undelivered,
            stores.configs.undelivered,
            stores.stale_backups.undelivered,
            stores.stale_backups.undelivered_of_earlier,
            stores.suspensions.undelivered,
        )
        for step in (
            stores.polls.discard_open,
            stores.notes.lock_all,
            *(events.discard for events in pending),
            stores.webhook_deliveries.drop_waiting,
        ):
            await confirm()
            await step()
        organizations = await stores.organizations.all()
        audit = AuditLog(store=stores.audit, clock=clock)
        for organization in organizations:
            await confirm()
            pause = Pause(reason=reason, by=BY, at=clock.now())
            await stores.system.put_pause(organization.id, pause)
            await confirm()
            details = {
                "backup": backup_id,
                "taken_at": to_text(taken_at),
                "authenticated": authenticated,
            }
            caller = system_caller(organization.id)
            await audit.record(caller, "system.restore", "system", None, details)
    return Settled(executions=executions, sessions=sessions, organizations=len(organizations))
