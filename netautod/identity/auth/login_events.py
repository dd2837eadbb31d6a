"""The audit events of logins and sessions."""

from collections.abc import Mapping

from netautod.activity.audit.service import AuditLog
from netautod.core.identity.caller import RequestInfo
from netautod.identity.auth.models import LoginSession
from netautod.identity.users.models import User
from netautod.identity.users.organizations.service import OrganizationService


class LoginEvents:
    def __init__(self, audit: AuditLog, organizations: OrganizationService) -> None:
        self._audit = audit
        self._organizations = organizations

    async def record(
        self,
        action: str,
        user: User,
        session: LoginSession | None,
        info: RequestInfo,
        details: Mapping[str, str],
    ) -> None:
        """Record one event of a user's session."""
        await self._audit.record_for(
            user.org_id,
            actor_id=user.id,
            actor_name=user.username,
            action=action,
            resource_type="session",
            resource_id=session.id if session else None,
            ip_address=info.ip_address,
            request_id=info.request_id,
            details=details,
        )

    async def record_failure(
        self, provider: str, action: str, user: User | None, info: RequestInfo, *, unavailable: bool = False
    ) -> None:
        """Record one event of a login that failed; `user` is the one with the typed name, if any."""
        details = {"auth_provider": provider, "known_user": user is not None}
        await self._audit.record_for(
            user.org_id if user else await self._organizations.default_id(),
            actor_id=user.id if user else None,
            actor_name=user.username if user else None,
            action=action,
            resource_type="user",
            resource_id=user.id if user else None,
            ip_address=info.ip_address,
            request_id=info.request_id,
            details={**details, "provider_unavailable": True} if unavailable else details,
        )
