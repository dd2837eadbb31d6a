"""The page of the own account, which all forms of it show again when they are refused."""

from dataclasses import dataclass
from typing import Any

from netautod.console.base.pages import ACCOUNT, AccountFirst, PageHandler
from netautod.core.pages import Page
from netautod.core.text.plurals import noun_for
from netautod.http.access import Operation
from netautod.identity.auth.account.service import AccountService
from netautod.identity.auth.models import LoginSession
from netautod.identity.auth.otp.service import OtpService
from netautod.identity.auth.service import AuthService
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.identity.auth.tokens.service import ApiTokens
from netautod.identity.users.models import LOCAL
from netautod.identity.users.required_actions import CHANGE_IT, SET_UP_CODES

SESSIONS_SHOWN = 50
TITLE = "Account"


@dataclass(frozen=True, kw_only=True)
class ShownSession:
    """A session as a person knows it."""

    session: LoginSession
    current: bool

    @property
    def kind(self) -> str:
        if self.session.cookie_hash is not None:
            return "Console"
        return "Terminal" if self.session.client_type == "terminal" else "API client"


class AccountBase(PageHandler):
    """The base of all account pages.

    `_resolves` names the sentences that block a caller and that a page ends; for any other sentence the
    caller is redirected.
    """

    account: AccountService
    auth: AuthService
    otp: OtpService
    ssh_ca: SshAuthority
    tokens: ApiTokens
    _resolves = frozenset[str]()

    async def admit(self, operation: Operation) -> None:
        await super().admit(operation)
        blocked = self.caller.blocked
        if blocked is not None and blocked not in self._resolves:
            raise AccountFirst(blocked)

    def next_page(self) -> str:
        """Return where a form leads: to the other pages once nothing blocks the caller any more."""
        return ACCOUNT if self.caller.blocked is None else "/"

    async def show_account(self) -> None:
        """Show the whole account; a caller who has to change something first sees only the form for that."""
        blocked = self.caller.blocked
        self.show(
            "account/account.html",
            title=TITLE,
            user=await self.auth.current_user(self.caller),
            is_local=LOCAL,
            blocked=blocked,
            with_password=blocked in (None, CHANGE_IT),
            with_codes=blocked in (None, SET_UP_CODES),
            rest=None if blocked is not None else await self._rest(),
        )

    async def _rest(self) -> dict[str, Any]:
        caller = self.caller
        sessions = await self.account.sessions(caller, None)
        user = await self.auth.current_user(caller)
        page = Page(offset=self.query.get("offset", 0)) if hasattr(self, "query") else Page()
        return {
            "sessions": [
                ShownSession(session=one, current=one.id == caller.session_id)
                for one in sessions[:SESSIONS_SHOWN]
            ],
            "more_sessions": max(0, len(sessions) - SESSIONS_SHOWN),
            "tokens": await self.tokens.page(caller, page),
            "grantable": self.tokens.grantable(caller),
            "days": f"{self.tokens.days:g} {noun_for(1 if self.tokens.days == 1 else 2, 'day')}",
            "may_be_endless": caller.can("system.manage"),
            "permissions": sorted(caller.shown_permissions),
            "authority": await self.ssh_ca.public_key(caller.org_id),
            "principals": self.ssh_ca.principals_of(user),
        }
