"""All pages of the console."""

from netautod.console.administration import audit, credentials, roles, system, users, webhooks
from netautod.console.base import static
from netautod.console.devices import handlers as devices
from netautod.http.routes import Route

PAGES: tuple[Route, ...] = (
    *audit.PAGES,
    *credentials.PAGES,
    *devices.PAGES,
    *roles.PAGES,
    *static.PAGES,
    *system.PAGES,
    *users.PAGES,
    *webhooks.PAGES,
)
