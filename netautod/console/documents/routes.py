"""The pages of documents."""

from netautod.console.documents import documents, editing, notes, rendering, versions
from netautod.http.routing.routes import Route

PAGES: tuple[Route, ...] = (
    *documents.PAGES,
    *editing.PAGES,
    *notes.PAGES,
    *rendering.PAGES,
    *versions.PAGES,
)
