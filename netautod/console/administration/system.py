"""Nodes, plugins, and the pause of the organization's automation."""

from netautod.automation.system.schemas import PauseRequest
from netautod.automation.system.service import SystemService
from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.http.access import requires
from netautod.http.routing.routes import Route

PERMISSION = "system.manage"


class SystemPage(PageHandler):
    system: SystemService

    async def show_status(self) -> None:
        status = await self.system.status(self.caller.org_id)
        seen = max((node.heartbeat_at for node in status.nodes), default=None)
        self.show("administration/nodes.html", title="Nodes", status=status, seen=seen)


class NodesPage(SystemPage):
    @requires(PERMISSION)
    async def get(self) -> None:
        """Show the nodes, the database and what waits."""
        await self.show_status()


class PausePage(SystemPage):
    @requires(PERMISSION, consumes=FORM, grows=False)
    async def post(self) -> None:
        """Pause automation: nothing starts until it is resumed."""
        await self.submit(self._pause(), self.show_status)

    async def _pause(self) -> str:
        values = self.form.values(PauseRequest())
        await self.system.pause(self.caller, values["reason"])
        self.set_notice("The service is paused: running work may finish, nothing new starts.")
        return "/nodes"


class ResumePage(SystemPage):
    @requires(PERMISSION, consumes=FORM, grows=False)
    async def post(self) -> None:
        """End the pause."""
        await self.submit(self._resume(), self.show_status)

    async def _resume(self) -> str:
        await self.system.resume(self.caller)
        self.set_notice("The service is resumed.")
        return "/nodes"


class PluginsPage(SystemPage):
    @requires(PERMISSION)
    async def get(self) -> None:
        """Show the plugins, and what keeps one from working."""
        status = await self.system.status(self.caller.org_id)
        self.show("administration/plugins.html", title="Plugins", plugins=status.plugins)


NODE_PAGES = (
    Route(path="/nodes", handler=NodesPage),
    Route(path="/nodes/pause", handler=PausePage),
    Route(path="/nodes/resume", handler=ResumePage),
)
PLUGIN_PAGES = (Route(path="/plugins", handler=PluginsPage),)
