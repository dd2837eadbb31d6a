"""/api/roles."""

from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import Repeat, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.identity.users.models import Role
from netautod.identity.users.roles.service import RoleService
from netautod.identity.users.schemas import RoleAnswer, RoleListAnswer, RoleRequest


class RolesHandler(JsonHandler):
    roles: RoleService

    @requires("users.manage", query=PageQuery, answer=RoleListAnswer)
    async def get(self) -> None:
        """List the organization's roles by name."""
        page = await self.roles.page(self.caller.org_id, Page(**self.query))
        self.answer(page.to_json("roles", Role.to_json))

    @requires("users.manage", status=201, body=RoleRequest, answer=RoleAnswer, repeat=Repeat.AGAIN)
    async def post(self) -> None:
        """Create a role of permissions that the caller holds."""
        self.answer((await self.roles.create(self.caller, self.body)).to_json())


class OneRoleHandler(JsonHandler):
    roles: RoleService

    @requires("users.manage", answer=RoleAnswer)
    async def get(self, role_id: str) -> None:
        """Read a role."""
        role = await self.roles.get(self.caller.org_id, self.path_id(role_id, "Role"))
        self.answer(role.to_json())

    @requires("users.manage", body=RoleRequest, partial=True, answer=RoleAnswer)
    async def put(self, role_id: str) -> None:
        """Change a role that is not built in and grants nothing that the caller does not hold."""
        role = await self.roles.update(self.caller, self.path_id(role_id, "Role"), self.body)
        self.answer(role.to_json())

    @requires("users.manage", status=204)
    async def delete(self, role_id: str) -> None:
        """Delete a role that no user has."""
        await self.roles.delete(self.caller, self.path_id(role_id, "Role"))
        self.answer_nothing()


ROUTES = (
    Route(path="/api/roles", handler=RolesHandler),
    Route(path="/api/roles/:id", handler=OneRoleHandler),
)
