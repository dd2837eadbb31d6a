"""Users: their roles and what these grant, passwords, sessions and one-time codes."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.core.errors import NotFound
from netautod.core.json.values import to_text
from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.identity.auth.account.service import AccountService
from netautod.identity.auth.otp.service import OtpService
from netautod.identity.users.models import NewUser, User
from netautod.identity.users.roles.service import RoleService
from netautod.identity.users.schemas import UserCreate, UserUpdate
from netautod.identity.users.service import UserService

PATH, PERMISSION = "/users", "users.manage"
MOST_ROLES = 100


class UserPage(PageHandler):
    users: UserService
    roles: RoleService
    account: AccountService

    async def show_form(self, title: str, user: User | None = None, **values: Any) -> None:
        roles = await self.roles.page(self.caller.org_id, Page(limit=MOST_ROLES))
        selected = () if user is None else tuple(user.role_names)
        self.show(
            "administration/user.html",
            title=title,
            record=user,
            tag="" if user is None else to_text(user.updated_at),
            roles=roles.items,
            selected=self.form.all("roles") if "roles" in self.form.given else selected,
            **{"sessions": (), **values},
        )

    async def form_of(self, user_id: str) -> None:
        user = await self.found(user_id)
        sessions = await self.account.sessions(self.caller, user.id)
        await self.show_form(user.username, user, sessions=sessions)

    async def found(self, user_id: str) -> User:
        return await self.users.get(self.caller.org_id, self.path_id(user_id, "User"))


class UsersPage(UserPage):
    @requires(PERMISSION, query=PageQuery)
    async def get(self) -> None:
        """Show the users by name."""
        listed = await self.users.page(self.caller.org_id, Page(**self.query))
        self.show("administration/users.html", title="Users", listed=listed)


class NewUserPage(UserPage):
    @requires(PERMISSION)
    async def get(self) -> None:
        """Show the form of a new user."""
        await self.show_form("New user")

    @requires(PERMISSION, consumes=FORM)
    async def post(self) -> None:
        """Create a user."""
        await self.submit(self._make(), lambda: self.show_form("New user"))

    async def _make(self) -> str:
        body = with_password(self.form.values(UserCreate()), self.form.secret("password"))
        made = await self.users.create(self.caller, NewUser.from_request(body))
        self.set_notice(f"The user {made.username} was created.")
        return f"{PATH}/{made.id}"


class OneUserPage(UserPage):
    @requires(PERMISSION)
    async def get(self, user_id: str) -> None:
        """Show one user: permissions, sessions, and the form to change the user."""
        await self.form_of(user_id)

    @requires(PERMISSION, consumes=FORM, grows=False)
    async def post(self, user_id: str) -> None:
        """Change the user; a password that is typed resets the old one."""
        await self.submit(self._change(user_id), lambda: self.form_of(user_id))

    async def _change(self, user_id: str) -> str:
        user = await self.found(user_id)
        self.require_unchanged(to_text(user.updated_at))
        values = changed(user, self.form.values(UserUpdate(), partial=True))
        await self.users.update(self.caller, user.id, with_password(values, self.form.secret("password")))
        self.set_notice(f"The user {user.username} was saved.")
        return f"{PATH}/{user.id}"


class UserActionPage(UserPage):
    """A button that acts on a user; an error shows the user's page."""

    otp: OtpService

    async def act(self, user_id: str, action: str) -> None:
        await self.submit(self._act(user_id, action), lambda: self.form_of(user_id))

    async def _act(self, user_id: str, action: str) -> str:
        user = await self.found(user_id)
        if action == "delete":
            await self.users.delete(self.caller, user.id)
            self.set_notice(f"The user {user.username} was deleted.")
            return PATH
        if action == "otp":
            await self.otp.remove(self.caller, user.id)
            self.set_notice(f"The one-time codes of {user.username} were removed.")
        else:
            for session in await self.account.sessions(self.caller, user.id):
                with suppress(NotFound):  # it has ended by itself since they were listed; the others go on
                    await self.account.end_session(self.caller, session.id)
            self.set_notice(f"The sessions of {user.username} have ended.")
        return f"{PATH}/{user.id}"


class DeleteUserPage(UserActionPage):
    @requires(PERMISSION, consumes=FORM, grows=False)
    async def post(self, user_id: str) -> None:
        """Delete the user; sessions and tokens end."""
        await self.act(user_id, "delete")


class UserOtpPage(UserActionPage):
    @requires(PERMISSION, consumes=FORM, grows=False)
    async def post(self, user_id: str) -> None:
        """Remove the one-time codes of the user."""
        await self.act(user_id, "otp")


class UserSessionsPage(UserActionPage):
    @requires(PERMISSION, consumes=FORM, grows=False)
    async def post(self, user_id: str) -> None:
        """End all sessions of the user."""
        await self.act(user_id, "sessions")


def with_password(values: Mapping[str, Any], typed: str) -> dict[str, Any]:
    """Return the values with the password exactly as typed; an empty one is left out, so the old one
    stays.
    """
    others = {name: value for name, value in values.items() if name != "password"}
    return {**others, "password": typed} if typed else others


def changed(user: User, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that differ from the record; lists count as sets here."""
    known: dict[str, Any] = {name: getattr(user, name, None) for name in values}
    known |= {"roles": user.role_names, "ssh_principals": user.ssh_principals}
    return {name: value for name, value in values.items() if _plain(value) != _plain(known[name])}


def _plain(value: Any) -> Any:
    return set(value) if isinstance(value, list | tuple) else value


PAGES = (
    Route(path=PATH, handler=UsersPage),
    Route(path=f"{PATH}/new", handler=NewUserPage),
    Route(path=f"{PATH}/:id", handler=OneUserPage),
    Route(path=f"{PATH}/:id/delete", handler=DeleteUserPage),
    Route(path=f"{PATH}/:id/otp", handler=UserOtpPage),
    Route(path=f"{PATH}/:id/sessions", handler=UserSessionsPage),
)
