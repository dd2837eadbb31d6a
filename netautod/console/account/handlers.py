"""/account: password, one-time codes, sessions and API tokens of the user who is logged in."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from netautod.console.account.base import AccountBase
from netautod.console.base.forms import FORM, Form
from netautod.console.base.pages import ACCOUNT
from netautod.console.base.refusals import in_the_form
from netautod.console.base.words import counted
from netautod.core.errors import Conflict
from netautod.core.schema.bases import PageQuery
from netautod.http.access import any_token
from netautod.http.routing.routes import Route
from netautod.identity.auth.models import NEVER
from netautod.identity.auth.schemas import (
    SMALL_BODY,
    ApiTokenBody,
    OtpBody,
    OtpCodeBody,
    OtpEndBody,
    PasswordBody,
)
from netautod.identity.users.required_actions import CHANGE_IT, SET_UP_CODES

CODES_TITLE = "One-time codes"
AGAIN = "These one-time codes wait no longer to be confirmed; set them up again"
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _form(**options: Any) -> Callable[[Any], Any]:
    """Declare a form of a few short fields for any session."""
    return any_token(consumes=FORM, body_limit=SMALL_BODY, **options)


class AccountPage(AccountBase):
    _resolves = frozenset({CHANGE_IT, SET_UP_CODES})

    @any_token(query=PageQuery)
    async def get(self) -> None:
        """Show the own account, or the form that has to be done first."""
        await self.show_account()


class PasswordPage(AccountBase):
    _resolves = frozenset({CHANGE_IT})

    @_form(grows=False)
    async def post(self) -> None:
        """Change the own password."""
        await self.submit(in_the_form(self._change()), again=self.show_account)

    async def _change(self) -> str:
        given = self.form.values(PasswordBody())
        ended = await self.account.change_password(
            self.caller,
            given["current_password"],
            given["new_password"],
            keep_api_tokens=given["keep_api_tokens"],
        )
        self.set_notice(f"The password was changed; {counted(ended, 'other session')} ended.")
        return self.next_page()


class CodesPage(AccountBase):
    """The secret and the recovery codes are shown by the answer of the form, once."""

    _resolves = frozenset({SET_UP_CODES})

    @_form(grows=False)
    async def post(self) -> None:
        """Create a secret and recovery codes, which replace earlier ones."""
        await self.submit(in_the_form(self._set_up()), again=self.show_account)

    async def _set_up(self) -> None:
        given = self.form.values(OtpBody())
        new = await self.otp.begin(self.caller, given["password"], given.get("code"))
        self.show("account/codes.html", title=CODES_TITLE, new=new)


class ConfirmCodesPage(AccountBase):
    _resolves = frozenset({SET_UP_CODES})

    @_form(grows=False)
    async def post(self) -> None:
        """Put the codes in force."""
        await self.submit(in_the_form(self._confirm()), again=self._show_again)

    async def _confirm(self) -> str:
        try:
            await self.otp.confirm(self.caller, self.form.values(OtpCodeBody())["code"])
        except Conflict as error:
            raise Conflict(AGAIN) from error
        self.set_notice("One-time codes are on: every login asks for a code.")
        return self.next_page()

    async def _show_again(self) -> None:
        if self.error == AGAIN:
            await self.show_account()
        else:
            self.show("account/codes.html", title=CODES_TITLE, new=None)


class EndCodesPage(AccountBase):
    @_form(grows=False)
    async def post(self) -> None:
        """Turn off the own one-time codes."""
        await self.submit(in_the_form(self._turn_off()), again=self.show_account)

    async def _turn_off(self) -> str:
        given = self.form.values(OtpEndBody())
        await self.otp.end(self.caller, given["password"], given["code"])
        self.set_notice("One-time codes are off: a login asks for the password alone.")
        return ACCOUNT


class EndSessionPage(AccountBase):
    @_form(grows=False)
    async def post(self, session_id: str) -> None:
        """End one of the own sessions."""
        await self.account.end_session(self.caller, self.path_id(session_id, "Session"))
        self.set_notice("The session was ended.")
        self.redirect_to(ACCOUNT)


class EndOtherSessionsPage(AccountBase):
    @_form(grows=False)
    async def post(self) -> None:
        """End all own sessions but this one."""
        ended = await self.account.end_other_sessions(self.caller)
        self.set_notice(f"{counted(ended, 'other session')} ended.")
        self.redirect_to(ACCOUNT)


class TokensPage(AccountBase):
    """The token is shown by the answer of the form, once."""

    @_form()
    async def post(self) -> None:
        """Create an API token."""
        await self.submit(self._make(), again=self.show_account)

    async def _make(self) -> None:
        given = _with_end(self.form).values(ApiTokenBody())
        token, plain = await self.tokens.create(
            self.caller,
            name=given["name"],
            permissions=given["permissions"],
            expires_at=given.get("expires_at"),
        )
        self.show("account/token.html", title="New API token", token=token, plain=plain)


class RevokeTokenPage(AccountBase):
    @_form(grows=False)
    async def post(self, token_id: str) -> None:
        """Revoke one of the own API tokens."""
        await self.tokens.revoke(self.caller, self.path_id(token_id, "Token"))
        self.set_notice("The API token was revoked.")
        self.redirect_to(ACCOUNT)


def _with_end(form: Form) -> Form:
    """Return the form with the end of the token's last day as its expiry; a ticked `never` wins over
    the day.
    """
    day = form.text("expires_at")
    end = NEVER if form.has("never") else f"{day}T23:59:59Z" if _DAY.fullmatch(day) else day
    return replace(form, given={**form.given, "expires_at": [end]})


PAGES = (
    Route(path=ACCOUNT, handler=AccountPage),
    Route(path=f"{ACCOUNT}/password", handler=PasswordPage),
    Route(path=f"{ACCOUNT}/codes", handler=CodesPage),
    Route(path=f"{ACCOUNT}/codes/confirm", handler=ConfirmCodesPage),
    Route(path=f"{ACCOUNT}/codes/end", handler=EndCodesPage),
    Route(path=f"{ACCOUNT}/sessions/:id/end", handler=EndSessionPage),
    Route(path=f"{ACCOUNT}/sessions/end-others", handler=EndOtherSessionsPage),
    Route(path=f"{ACCOUNT}/tokens", handler=TokensPage),
    Route(path=f"{ACCOUNT}/tokens/:id/revoke", handler=RevokeTokenPage),
)
