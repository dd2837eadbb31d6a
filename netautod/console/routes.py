"""All pages of the console."""

from netautod.console.account import handlers as account
from netautod.console.administration import audit, credentials, roles, system, users, webhooks
from netautod.console.base import static
from netautod.console.configs import handlers as configs
from netautod.console.devices import pages as devices
from netautod.console.documents import routes as documents
from netautod.console.find import handlers as find
from netautod.console.inventory import routes as inventory
from netautod.console.login import handlers as login
from netautod.console.overview import handlers as overview
from netautod.console.runs import approvals, editor, execution, executions, tasks
from netautod.console.topology import handlers as topology
from netautod.http.routing.routes import Route

PAGES: tuple[Route, ...] = (
    *account.PAGES,
    *approvals.PAGES,
    *audit.PAGES,
    *configs.PAGES,
    *credentials.PAGES,
    *devices.PAGES,
    *documents.PAGES,
    *editor.PAGES,
    *execution.PAGES,
    *executions.PAGES,
    *find.PAGES,
    *inventory.PAGES,
    *login.PAGES,
    *overview.PAGES,
    *roles.PAGES,
    *static.PAGES,
    *system.PAGES,
    *tasks.PAGES,
    *topology.PAGES,
    *users.PAGES,
    *webhooks.PAGES,
)
