"""All pages of the console."""

from netautod.console.account import handlers as account
from netautod.console.base import static
from netautod.console.devices import handlers as devices
from netautod.console.login import handlers as login
from netautod.http.routes import Route

PAGES: tuple[Route, ...] = (
    *account.PAGES,
    *devices.PAGES,
    *login.PAGES,
    *static.PAGES,
)
