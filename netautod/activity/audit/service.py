"""The audit log: one event for every write, login, secret use, command and approval."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

from netautod.activity.audit.chain.appender import Appender
from netautod.activity.audit.chain.retention import Retention
from netautod.activity.audit.details import safe
from netautod.activity.audit.models import AuditEvent, AuditFilter
from netautod.activity.audit.store import AuditStore
from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller, OrgId, system_caller
from netautod.core.loop.each import in_batches
from netautod.core.metrics import Metrics
from netautod.core.pages import Page, PageOf

BATCH = 200  # events that one turn of the event loop builds


class AuditLog:
    """A service that records and lists audit events.

    Events are written after the change that they record, and a change whose event cannot be written is
    answered as a failure. If the node dies between the two, that one event is lost.
    """

    def __init__(self, *, store: AuditStore, clock: Clock, metrics: Metrics | None = None) -> None:
        self._store = store
        self._appender = Appender(store.chains)
        self._retention = Retention(store.chains)
        self._clock = clock
        self._metrics = metrics or Metrics()

    async def page(self, org_id: OrgId, narrowed: AuditFilter, page: Page) -> PageOf[AuditEvent]:
        """Return one page of events, newest first."""
        return await self._store.page(org_id, narrowed, page)

    async def sweep(self, *, keep_days: float) -> None:
        """Delete events of all organizations that are older than so many days; 0 keeps all."""
        if not keep_days:
            return
        now = self._clock.now()
        before = now - timedelta(days=keep_days)
        async for org_id, shortened in self._retention.shorten(before=before, now=now):
            details = {"through_seq": shortened.last.seq, "hash": shortened.last.hash}
            details["deleted"] = shortened.deleted
            await self.record(system_caller(org_id, "retention"), "audit.retention", "audit", None, details)
        await self._store.delete_unchained(before=before)

    async def record(
        self,
        caller: Caller,
        action: str,
        resource_type: str,
        resource_id: str | None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """Record one event.

        `action` is a resource with its verb: `device.create`, `auth.login`, `credential.use`.
        """
        event = self._event(caller, action, resource_type, resource_id, details or {})
        await self._append(caller.org_id, [event])

    async def record_many(
        self,
        caller: Caller,
        action: str,
        resource_type: str,
        records: Iterable[tuple[str, Mapping[str, Any]]],
    ) -> None:
        """Record one event for each (resource id, details), in their order."""
        for batch in in_batches(records, BATCH):
            events = [self._event(caller, action, resource_type, *record) for record in batch]
            await self._append(caller.org_id, events)

    async def record_for(
        self,
        org_id: OrgId,
        *,
        actor_id: str | None,
        actor_name: str | None,
        action: str,
        resource_type: str,
        resource_id: str | None,
        ip_address: str | None,
        request_id: str | None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """Record an event without an authenticated caller, such as a failed login."""
        event = AuditEvent(
            id=str(uuid4()),
            org_id=org_id,
            at=self._clock.now(),
            actor_id=actor_id,
            actor_name=actor_name,
            action=action,
            resource_type=resource_type,
            resource_id=resource_id,
            ip_address=ip_address,
            request_id=request_id,
            details=safe(details or {}),
        )
        await self._append(org_id, [event])

    async def _append(self, org_id: OrgId, events: Sequence[AuditEvent]) -> None:
        await self._appender.append(org_id, events)
        for event in events:
            self._metrics.add("audit_events", 1, event.action)

    def _event(
        self,
        caller: Caller,
        action: str,
        resource_type: str,
        resource_id: str | None,
        details: Mapping[str, Any],
    ) -> AuditEvent:
        return AuditEvent(
            id=str(uuid4()),
            org_id=caller.org_id,
            at=self._clock.now(),
            actor_id=caller.user_id,
            actor_name=caller.username,
            action=action,
            resource_type=resource_type,
            resource_id=resource_id,
            ip_address=caller.ip_address,
            request_id=caller.request_id,
            details=safe({**details, **token_of(caller)}),
        )


def token_of(caller: Caller) -> dict[str, Any]:
    """Return the details about the API token of a request; the event's actor is the user it belongs to."""
    return {} if caller.token is None else {"token": {"id": caller.token.id, "name": caller.token.name}}
