"""/api/users."""

from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import Repeat, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.identity.users.models import NewUser, User
from netautod.identity.users.schemas import UserAnswer, UserCreate, UserListAnswer, UserUpdate
from netautod.identity.users.service import UserService


class UsersHandler(JsonHandler):
    users: UserService

    @requires("users.manage", query=PageQuery, answer=UserListAnswer)
    async def get(self) -> None:
        """List the organization's users."""
        page = await self.users.page(self.caller.org_id, Page(**self.query))
        self.answer(page.to_json("users", User.to_managed_json))

    @requires("users.manage", status=201, body=UserCreate, answer=UserAnswer, repeat=Repeat.AGAIN)
    async def post(self) -> None:
        """Create a user with roles whose permissions the caller holds."""
        user = await self.users.create(self.caller, NewUser.from_request(self.body))
        self.answer(user.to_managed_json())


class OneUserHandler(JsonHandler):
    users: UserService

    @requires("users.manage", answer=UserAnswer)
    async def get(self, user_id: str) -> None:
        """Read a user."""
        user = await self.users.get(self.caller.org_id, self.path_id(user_id, "User"))
        self.answer(user.to_managed_json())

    @requires("users.manage", body=UserUpdate, partial=True, answer=UserAnswer, grows=False)
    async def put(self, user_id: str) -> None:
        """Change a user who holds nothing that the caller does not hold; `password` resets it."""
        user = await self.users.update(self.caller, self.path_id(user_id, "User"), self.body)
        self.answer(user.to_managed_json())

    @requires("users.manage", status=204)
    async def delete(self, user_id: str) -> None:
        """Delete a user; their sessions and tokens end."""
        await self.users.delete(self.caller, self.path_id(user_id, "User"))
        self.answer_nothing()


ROUTES = (
    Route(path="/api/users", handler=UsersHandler),
    Route(path="/api/users/:id", handler=OneUserHandler),
)
