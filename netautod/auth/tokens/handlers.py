"""/api/auth/tokens: a user's own API tokens."""

from netautod.auth.models import ApiToken
from netautod.auth.schemas import ApiTokenBody, ApiTokenListAnswer, NewApiTokenAnswer
from netautod.auth.tokens.service import ApiTokens
from netautod.core.pages import Page
from netautod.core.schema import PageQuery
from netautod.http.access import any_token
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route


class ApiTokenHandler(JsonHandler):
    tokens: ApiTokens


class ApiTokenListHandler(ApiTokenHandler):
    @any_token(query=PageQuery, answer=ApiTokenListAnswer)
    async def get(self) -> None:
        """Lists one's own API tokens, newest first."""
        page = await self.tokens.page(self.caller, Page(**self.query))
        self.answer(page.to_json("tokens", ApiToken.to_json))

    @any_token(status=201, body=ApiTokenBody, answer=NewApiTokenAnswer)
    async def post(self) -> None:
        """Makes an API token with some of one's own permissions; `token` is shown this once."""
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
        """Revokes one of one's own API tokens."""
        await self.tokens.revoke(self.caller, self.path_id(token_id, "Token"))
        self.answer_nothing()


ROUTES = (
    Route(path="/api/auth/tokens", handler=ApiTokenListHandler),
    Route(path="/api/auth/tokens/:id", handler=OneApiTokenHandler),
)
