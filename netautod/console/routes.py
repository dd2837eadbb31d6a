"""All pages of the console."""

from netautod.console.base import static
from netautod.console.devices import handlers as devices
from netautod.http.routes import Route

PAGES: tuple[Route, ...] = (
    *devices.PAGES,
    *static.PAGES,
)
