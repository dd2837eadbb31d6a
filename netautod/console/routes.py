"""All pages of the console, and the chapter of the manual that each belongs to."""

from collections.abc import Mapping

from netautod.console.account import handlers as account
from netautod.console.administration import audit, credentials, roles, system, users, webhooks
from netautod.console.base import static
from netautod.console.configs import handlers as configs
from netautod.console.devices import pages as devices
from netautod.console.documents import routes as documents
from netautod.console.find import handlers as find
from netautod.console.help import handlers as manual
from netautod.console.inventory import routes as inventory
from netautod.console.login import handlers as login
from netautod.console.overview import handlers as overview
from netautod.console.runs import approvals, editor, execution, executions, tasks
from netautod.console.topology import handlers as topology
from netautod.http.routing.routes import Route

# The pages by the chapter of the manual that explains them: where their "?" leads.
CHAPTERS: Mapping[str, tuple[Route, ...]] = {
    "operate/audit": audit.PAGES,
    "operate/logins": users.PAGES,
    "operate/scale": system.NODE_PAGES,
    "operate/settings#see-what-a-plugin-is-set-to": system.PLUGIN_PAGES,
    "use/agents#approve-a-change": approvals.PAGES,
    "use/backups": configs.PAGES,
    "use/console": (*login.PAGES, *overview.PAGES),
    "use/console#your-account-and-your-session": account.PAGES,
    "use/devices": devices.PAGES,
    "use/devices#add-a-credential": credentials.PAGES,
    "use/discovery": (*find.PAGES, *topology.PAGES),
    "use/documents": documents.PAGES,
    "use/events-and-webhooks": webhooks.PAGES,
    "use/inventory": inventory.PAGES,
    "use/permissions": roles.PAGES,
    "use/tasks": (*editor.PAGES, *execution.PAGES, *executions.PAGES, *tasks.PAGES),
}
PAGES: tuple[Route, ...] = (
    *(route for pages in CHAPTERS.values() for route in pages),
    *manual.PAGES,
    *static.PAGES,
)


def chapters() -> dict[str, str]:
    """Return the chapter of each route that has one."""
    return {route.path: chapter for chapter, pages in CHAPTERS.items() for route in pages}
