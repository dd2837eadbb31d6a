"""The pages of inventories and sites."""

from netautod.console.inventory import imports, sites, source_actions, source_forms, sources
from netautod.http.routing.routes import Route

PAGES: tuple[Route, ...] = (
    *imports.PAGES,
    *sites.PAGES,
    *source_actions.PAGES,
    *source_forms.PAGES,
    *sources.PAGES,
)
