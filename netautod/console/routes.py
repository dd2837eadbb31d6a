"""All pages of the console."""

from netautod.console.administration import credentials
from netautod.console.base import static
from netautod.console.devices import handlers as devices
from netautod.http.routes import Route

PAGES: tuple[Route, ...] = (
    *credentials.PAGES,
    *devices.PAGES,
    *static.PAGES,
)
