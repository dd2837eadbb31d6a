"""/api/auth/sessions and /api/auth/password."""

from netautod.http.access import any_token
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.identity.auth.account.service import AccountService
from netautod.identity.auth.schemas import (
    SMALL_BODY,
    LogoutAnswer,
    PasswordBody,
    SessionListAnswer,
    SessionQuery,
)


class AccountHandler(JsonHandler):
    account: AccountService


class SessionListHandler(AccountHandler):
    @any_token(query=SessionQuery, answer=SessionListAnswer, errors=(404,))
    async def get(self) -> None:
        """List one's own living sessions; with users.manage and `user_id` those of another user."""
        found = await self.account.sessions(self.caller, self.query.get("user_id"))
        own = self.caller.session_id
        self.answer({"sessions": [session.to_json(current=session.id == own) for session in found]})


class OneSessionHandler(AccountHandler):
    @any_token(status=204)
    async def delete(self, session_id: str) -> None:
        """End a session; its access and refresh tokens are refused from now on."""
        await self.account.end_session(self.caller, self.path_id(session_id, "Session"))
        self.answer_nothing()


class OtherSessionsHandler(AccountHandler):
    @any_token(answer=LogoutAnswer, name="end_other_sessions")
    async def delete(self) -> None:
        """End all of one's own sessions but this one."""
        ended = await self.account.end_other_sessions(self.caller)
        self.answer({"message": "All other sessions have ended", "sessions_revoked": ended})


class PasswordHandler(AccountHandler):
    @any_token(
        body=PasswordBody, answer=LogoutAnswer, body_limit=SMALL_BODY, grows=False, name="change_password"
    )
    async def put(self) -> None:
        """Change one's own password; ends all other sessions, refresh tokens and API tokens."""
        ended = await self.account.change_password(
            self.caller,
            self.body["current_password"],
            self.body["new_password"],
            keep_api_tokens=self.body["keep_api_tokens"],
        )
        self.answer({"message": "The password has been changed", "sessions_revoked": ended})


ROUTES = (
    Route(path="/api/auth/sessions", handler=SessionListHandler),
    Route(path="/api/auth/sessions/:id", handler=OneSessionHandler),
    Route(path="/api/auth/sessions/other", handler=OtherSessionsHandler),
    Route(path="/api/auth/password", handler=PasswordHandler),
)
