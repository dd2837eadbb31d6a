"""/api/users."""

from netautod.http.access import requires
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route
from netautod.http.schema import PageQuery
from netautod.store.paging import Page
from netautod.users.models import NewUser, User
from netautod.users.schemas import UserAnswer, UserCreate, UserListAnswer
from netautod.users.service import UserService

USERS_MANAGE = "users.manage"


class Users(JsonHandler):
    users: UserService

    @requires(USERS_MANAGE, query=PageQuery, answer=UserListAnswer)
    async def get(self) -> None:
        """Lists the organization's users."""
        page = await self.users.page(self.caller.org_id, Page(**self.query))
        self.answer(page.to_json("users", User.to_managed_json))

    @requires(USERS_MANAGE, status=201, body=UserCreate, answer=UserAnswer)
    async def post(self) -> None:
        """Creates a user with roles whose permissions the caller holds."""
        user = await self.users.create(self.caller, NewUser.from_request(self.body))
        self.answer(user.to_managed_json())


def routes(users: UserService) -> list[Route]:
    return [Route(path="/api/users", handler=Users, services={"users": users})]
