"""Refused requests in the audit log: at most one event a minute for each caller and route, with a count.

The first refusal is written at once, further ones are counted and written when the minute is over or the node
stops. Each node counts for itself. If it dies, counts of its last minute are lost, never a first event.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Self

from netautod.activity.audit.service import AuditLog, token_of
from netautod.core.clock import Clock
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.core.identity.refusals import Refusal, UnrecordedChange
from netautod.core.json.values import to_text
from netautod.core.logs.folding import repeats
from netautod.core.net.addresses import group_of

logger = logging.getLogger(__name__)
WINDOW = timedelta(minutes=1)
# Callers (or addresses of anonymous callers) that are counted on their own; the others of a route together.
# So a flood from ever new addresses takes neither memory nor disk.
MOST_CALLERS = 5000
MOST_STRANGERS = 500
OTHERS = "others"


@dataclass(frozen=True, kw_only=True)
class _Key:
    known: bool
    who: str
    method: str
    route: str
    status: int


@dataclass(kw_only=True)
class _Window:
    """A minute of a caller at a route.

    `count`: refusals that are not written yet; `last` is one of them.
    """

    ends_at: datetime
    last: Refusal
    began_at: datetime
    count: int = 0


class RefusalLog:
    """A log of refused requests, started and stopped with `async with`; call `write_due` every few seconds.

    `default_org` is the organization whose log shows refusals that belong to none, as it shows failed logins
    of unknown users.
    """

    def __init__(self, *, audit: AuditLog, default_org: Callable[[], Awaitable[OrgId]], clock: Clock) -> None:
        self._audit = audit
        self._default_org = default_org
        self._clock = clock
        self._windows: dict[_Key, _Window] = {}
        self._counts = {True: 0, False: 0}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for window in self._windows.values():
            if window.count:
                await self._write(window.last, window.count, window.began_at)
        self._windows.clear()

    async def record(self, refusal: Refusal) -> None:
        """Record a refusal; never raises.

        While the database is down the refusal is kept, and written later.
        """
        now, key = self._clock.now(), self._key(refusal)
        window = self._windows.get(key)
        if window is None:
            self._windows[key] = _Window(ends_at=now + WINDOW, last=refusal, began_at=now)
            self._counts[key.known] += 1
            await self._write(refusal, 1, now)
            return
        if not window.count:
            window.began_at = now
        window.count, window.last = window.count + 1, refusal

    async def record_change(self, change: UnrecordedChange) -> None:
        """Record a write that its service has not recorded, so that no write is without a trace."""
        caller = change.caller
        await self._audit.record_for(
            caller.org_id if caller else await self._default_org(),
            actor_id=caller.user_id if caller else None,
            actor_name=caller.username if caller else None,
            action="request.done",
            resource_type="route",
            resource_id=f"{change.method} {change.route}",
            ip_address=change.info.ip_address,
            request_id=change.info.request_id,
            details={} if caller is None else token_of(caller),
        )

    async def write_due(self) -> None:
        """Write the counts of the minutes that are over."""
        now = self._clock.now()
        for key, window in [item for item in self._windows.items() if item[1].ends_at <= now]:
            if not window.count:
                del self._windows[key]
                self._counts[key.known] -= 1
                continue
            count, window.count, window.ends_at = window.count, 0, now + WINDOW
            await self._write(window.last, count, window.began_at)

    def _key(self, refusal: Refusal) -> _Key:
        caller = refusal.caller
        if caller is None:
            who = group_of(refusal.info.ip_address)
        else:
            who = f"{caller.user_id} {caller.token.id if caller.token else ''}"
        key = _Key(
            known=caller is not None,
            who=who,
            method=refusal.method,
            route=refusal.route,
            status=refusal.status,
        )
        full = self._counts[key.known] >= (MOST_CALLERS if key.known else MOST_STRANGERS)
        return replace(key, who=OTHERS) if full and key not in self._windows else key

    async def _write(self, refusal: Refusal, count: int, began_at: datetime) -> None:
        caller = refusal.caller
        try:
            await self._audit.record_for(
                caller.org_id if caller else await self._default_org(),
                actor_id=caller.user_id if caller else None,
                actor_name=caller.username if caller else None,
                action="request.denied" if refusal.status == 403 else "request.token_refused",
                resource_type="route",
                resource_id=f"{refusal.method} {refusal.route}",
                ip_address=refusal.info.ip_address,
                request_id=refusal.info.request_id,
                details=_details(refusal, count, began_at),
            )
        except Unavailable as error:
            logger.error(
                "a refused request could not be recorded in the audit log: %s",
                error,
                extra=repeats("refused"),
            )


def _details(refusal: Refusal, count: int, began_at: datetime) -> dict[str, Any]:
    details: dict[str, Any] = {"status": refusal.status, "reason": refusal.reason, "count": count}
    if count > 1:
        details["since"] = to_text(began_at)
    if refusal.permission is not None:
        details["permission"] = refusal.permission
    return details if refusal.caller is None else {**details, **token_of(refusal.caller)}
