"""Roles: the permissions that they hold, and what these grant in effect."""

from typing import Any

from netautod.automation.system.capabilities.service import Capabilities
from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.core.identity.permissions import DESCRIPTIONS, grants
from netautod.core.json.values import to_text
from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.identity.users.models import Role
from netautod.identity.users.roles.service import RoleService
from netautod.identity.users.schemas import RoleRequest

PATH, PERMISSION = "/roles", "users.manage"


class RolePage(PageHandler):
    roles: RoleService
    capabilities: Capabilities

    def effective(self, role: Role) -> list[str]:
        """Return all permissions that the role grants, wildcards and implied ones included."""
        held = role.granted
        return [key for key in self.catalogue() if key != "*" and grants(held, key)]

    def catalogue(self) -> dict[str, str]:
        """Return every permission that a role can have, with its description."""
        return {"*": "Everything", **DESCRIPTIONS, **self.capabilities.permissions.of_plugins}

    async def show_form(self, title: str, role: Role | None = None) -> None:
        selected = () if role is None else role.permissions
        catalogue = self.catalogue()
        self.show(
            "administration/role.html",
            title=title,
            record=role,
            tag="" if role is None else to_text(role.updated_at),
            # A wildcard of a part, such as `devices.*`, has no row of its own in the catalogue.
            catalogue={**catalogue, **{key: "" for key in selected if key not in catalogue}},
            selected=self.form.all("permissions") if "permissions" in self.form.given else selected,
            effective=[] if role is None else self.effective(role),
        )

    async def form_of(self, role_id: str) -> None:
        role = await self.found(role_id)
        await self.show_form(role.name, role)

    async def found(self, role_id: str) -> Role:
        return await self.roles.get(self.caller.org_id, self.path_id(role_id, "Role"))


class RolesPage(RolePage):
    @requires(PERMISSION, query=PageQuery)
    async def get(self) -> None:
        """Show the roles by name."""
        listed = await self.roles.page(self.caller.org_id, Page(**self.query))
        effective = {role.id: self.effective(role) for role in listed.items}
        self.show("administration/roles.html", title="Roles", listed=listed, effective=effective)


class NewRolePage(RolePage):
    @requires(PERMISSION)
    async def get(self) -> None:
        """Show the form of a new role."""
        await self.show_form("New role")

    @requires(PERMISSION, consumes=FORM)
    async def post(self) -> None:
        """Create a role."""
        await self.submit(self._make(), lambda: self.show_form("New role"))

    async def _make(self) -> str:
        made = await self.roles.create(self.caller, self.form.values(RoleRequest()))
        self.set_notice(f"The role {made.name} was created.")
        return f"{PATH}/{made.id}"


class OneRolePage(RolePage):
    @requires(PERMISSION)
    async def get(self, role_id: str) -> None:
        """Show one role, what it grants, and the form to change it."""
        await self.form_of(role_id)

    @requires(PERMISSION, consumes=FORM)
    async def post(self, role_id: str) -> None:
        """Change the role."""
        await self.submit(self._change(role_id), lambda: self.form_of(role_id))

    async def _change(self, role_id: str) -> str:
        role = await self.found(role_id)
        self.require_unchanged(to_text(role.updated_at))
        values: dict[str, Any] = self.form.values(RoleRequest(), partial=True)
        await self.roles.update(self.caller, role.id, values)
        self.set_notice(f"The role {values.get('name', role.name)} was saved.")
        return f"{PATH}/{role.id}"


class DeleteRolePage(RolePage):
    @requires(PERMISSION, consumes=FORM)
    async def post(self, role_id: str) -> None:
        """Delete the role unless a user has it."""
        await self.submit(self._delete(role_id), lambda: self.form_of(role_id))

    async def _delete(self, role_id: str) -> str:
        role = await self.found(role_id)
        await self.roles.delete(self.caller, role.id)
        self.set_notice(f"The role {role.name} was deleted.")
        return PATH


PAGES = (
    Route(path=PATH, handler=RolesPage),
    Route(path=f"{PATH}/new", handler=NewRolePage),
    Route(path=f"{PATH}/:id", handler=OneRolePage),
    Route(path=f"{PATH}/:id/delete", handler=DeleteRolePage),
)
