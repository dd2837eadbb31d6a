"""The audit log: one event for every write, login, secret use, command and approval; and its reading."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from uuid import uuid4

from netautod.audit.models import AuditEvent, AuditFilter
from netautod.audit.store import AuditStore
from netautod.core.clock import Clock
from netautod.core.identity import Caller, OrgId
from netautod.core.pages import Page, PageOf


class AuditLog:
    """Events are written after the change that they record; `details` never holds a secret."""

    def __init__(self, *, store: AuditStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def page(self, org_id: OrgId, narrowed: AuditFilter, page: Page) -> PageOf[AuditEvent]:
        """Newest first."""
        return await self._store.page(org_id, narrowed, page)

    async def sweep(self, *, keep_days: float) -> None:
        """Deletes the events of all organizations that are older than so many days; 0 keeps all."""
        if keep_days:
            await self._store.delete_older(before=self._clock.now() - timedelta(days=keep_days))

    async def record(
        self,
        caller: Caller,
        action: str,
        resource_type: str,
        resource_id: str | None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """`action` is a verb with its resource: `device.create`, `auth.login`, `credential.use`."""
        await self._store.insert(self._event(caller, action, resource_type, resource_id, details or {}))

    async def record_many(
        self,
        caller: Caller,
        action: str,
        resource_type: str,
        records: Iterable[tuple[str, Mapping[str, Any]]],
    ) -> None:
        """One event for each (resource id, details), in one write."""
        await self._store.insert_many(
            caller.org_id,
            [
                self._event(caller, action, resource_type, resource_id, details)
                for resource_id, details in records
            ],
        )

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
        """For events without an authenticated caller, such as a failed login."""
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
            details=details or {},
        )
        await self._store.insert(event)

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
            details=details,
        )
