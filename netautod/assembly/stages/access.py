"""Who may come in, and what they hear of: logins, event streams, refusals."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from netautod.activity.audit.refusals import RefusalLog
from netautod.assembly.installation import Installation
from netautod.assembly.parts.auth import AuthParts, auth_of, lockout_of, ssh_ca_of
from netautod.assembly.parts.events import EventParts, events_of
from netautod.assembly.parts.http import refusal_log_of
from netautod.assembly.parts.sessions import SessionParts, sessions_of
from netautod.assembly.settings import Settings
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.plugin_host.manager import PluginManager


@dataclass(frozen=True, kw_only=True)
class Logins:
    sessions: SessionParts
    ssh_ca: SshAuthority
    auth: AuthParts


async def logins(settings: Settings, installation: Installation, plugins: PluginManager) -> Logins:
    stores, vault, clock = installation.stores, installation.vault, installation.clock
    sessions = await sessions_of(
        stores=stores, vault=vault, clock=clock, users=installation.people.users, settings=settings
    )
    ssh_ca = ssh_ca_of(
        stores=stores, vault=vault, clock=clock, audit=installation.audit, settings=settings.ssh_ca
    )
    auth = auth_of(
        stores=stores,
        vault=installation.vault,
        clock=clock,
        audit=installation.audit,
        people=installation.people,
        sessions=sessions,
        lockout=await lockout_of(
            database=installation.database, vault=vault, clock=clock, settings=settings.auth
        ),
        ssh_ca=ssh_ca,
        directories=plugins.auth_providers().values(),
        settings=settings.auth,
    )
    return Logins(sessions=sessions, ssh_ca=ssh_ca, auth=auth)


def events(settings: Settings, installation: Installation, logins: Logins) -> EventParts:
    return events_of(
        database=installation.database,
        stores=installation.stores,
        clock=installation.clock,
        token_states=logins.sessions.token_states,
        settings=settings.events,
    )


def refusals(installation: Installation) -> AbstractAsyncContextManager[RefusalLog]:
    return refusal_log_of(
        audit=installation.audit,
        default_org=installation.people.organizations.default_id,
        clock=installation.clock,
    )
