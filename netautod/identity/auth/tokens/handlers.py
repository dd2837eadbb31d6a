"""/api/auth/tokens: a user's own API tokens; /api/users/:id/tokens: those of others."""

from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import any_token, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.identity.auth.models import ApiToken
from netautod.identity.auth.schemas import ApiTokenBody, ApiTokenListAnswer, NewApiTokenAnswer
from netautod.identity.auth.tokens.service import ApiTokens


class ApiTokenHandler(JsonHandler):
    tokens: ApiTokens


class ApiTokenListHandler(ApiTokenHandler):
    @any_token(query=PageQuery, answer=ApiTokenListAnswer)
    async def get(self) -> None:
        """List one's own API tokens, newest first."""
        page = await self.tokens.page(self.caller, Page(**self.query))
        self.answer(page.to_json("tokens", ApiToken.to_json))

    @any_token(status=201, body=ApiTokenBody, answer=NewApiTokenAnswer)
    async def post(self) -> None:
        """Create an API token with some of one's own permissions; `token` is shown this once."""
        token, plain = await self.tokens.create(
            self.caller,
            name=self.body["name"],
            permissions=self.body["permissions"],
            expires_at=self.body.get("expires_at"),
        )
        self.answer({**token.to_json(), "token": plain})


class OneApiTokenHandler(ApiTokenHandler):
    @any_token(status=204)
    async def delete(self, token_id: str) -> None:
        """Revoke one of one's own API tokens."""
        await self.tokens.revoke(self.caller, self.path_id(token_id, "Token"))
        self.answer_nothing()


class UserTokenListHandler(ApiTokenHandler):
    @requires("users.manage", query=PageQuery, answer=ApiTokenListAnswer)
    async def get(self, user_id: str) -> None:
        """List a user's API tokens, newest first."""
        page = await self.tokens.page_of(self.caller, self.path_id(user_id, "User"), Page(**self.query))
        self.answer(page.to_json("tokens", ApiToken.to_json))


class OneUserTokenHandler(ApiTokenHandler):
    @requires("users.manage", status=204)
    async def delete(self, user_id: str, token_id: str) -> None:
        """Revoke an API token of a user who holds nothing that the caller does not hold."""
        user_id, token_id = self.path_id(user_id, "User"), self.path_id(token_id, "Token")
        await self.tokens.revoke_of(self.caller, user_id, token_id)
        self.answer_nothing()


ROUTES = (
    Route(path="/api/auth/tokens", handler=ApiTokenListHandler),
    Route(path="/api/auth/tokens/:id", handler=OneApiTokenHandler),
    Route(path="/api/users/:id/tokens", handler=UserTokenListHandler),
    Route(path="/api/users/:id/tokens/:token_id", handler=OneUserTokenHandler),
)
