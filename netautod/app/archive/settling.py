"""The end of a restore: what was going on when the backup was taken is over, and nothing goes on by itself.

Each step may be done again: a restore that is killed here goes on here.
"""

from dataclasses import dataclass
from datetime import datetime

from netautod.app.data.stores import INDEXES, Stores
from netautod.app.settings import Settings
from netautod.audit.service import AuditLog
from netautod.core.clock import SystemClock
from netautod.core.identity import system_caller
from netautod.core.json_values import to_text
from netautod.core.waiting import migrating
from netautod.store.client import Database
from netautod.store.indexes import create_indexes
from netautod.system.models import Pause

BY = "netautod restore"


@dataclass(frozen=True, kw_only=True)
class Settled:
    """How many executions were cancelled, sessions ended and organizations paused."""

    executions: int
    sessions: int
    organizations: int


async def settle(database: Database, settings: Settings, *, backup_id: str, taken_at: datetime) -> Settled:
    """Makes the indexes, and then of what was restored something that a service may start on."""
    reason = f"restored from the backup of {to_text(taken_at)}"
    clock, stores = SystemClock(), Stores.of(database, settings.retention)
    with migrating():
        await create_indexes(database, INDEXES)
        executions = await stores.executions.abandon_all(reason)
        sessions = await stores.sessions.end_all(reason, clock.now())
        await stores.polls.discard_open()
        await stores.notes.lock_all()
        await stores.discovered.drop_all()
        for owing in (stores.executions, stores.configs, stores.stale_backups, stores.suspensions):
            await owing.drop_owed()
        await stores.webhook_deliveries.drop_waiting()
        organizations = await stores.organizations.all()
        audit = AuditLog(store=stores.audit, clock=clock)
        for organization in organizations:
            pause = Pause(reason=reason, by=BY, at=clock.now())
            await stores.system.put_pause(organization.id, pause)
            details = {"backup": backup_id, "taken_at": to_text(taken_at)}
            caller = system_caller(organization.id)
            await audit.record(caller, "system.restore", "system", None, details)
    return Settled(executions=executions, sessions=sessions, organizations=len(organizations))
