"""All pages of the console."""

from netautod.console.account import handlers as account
from netautod.console.administration import audit, credentials, roles, system, users, webhooks
from netautod.console.base import static
from netautod.console.configs import handlers as configs
from netautod.console.devices import handlers as devices
from netautod.console.login import handlers as login
from netautod.console.topology import handlers as topology
from netautod.http.routes import Route

PAGES: tuple[Route, ...] = (
    *account.PAGES,
    *audit.PAGES,
    *configs.PAGES,
    *credentials.PAGES,
    *devices.PAGES,
    *login.PAGES,
    *roles.PAGES,
    *static.PAGES,
    *system.PAGES,
    *topology.PAGES,
    *users.PAGES,
    *webhooks.PAGES,
)
