"""The permissions of documents: who reads and writes them, and what others are shown of a note."""

from dataclasses import replace

from netautod.core.identity.caller import Caller
from netautod.documents.models import Document, DocumentFilter, ShownDocument

READ = "docs.read"
MANAGE = "docs.manage"
READ_NOTES = "notes.read"


def require_readable(caller: Caller, document: Document) -> None:
    """Raise Forbidden for a note that the caller may not read; `docs.read` is checked by the route."""
    if document.is_note:
        caller.require(READ_NOTES)


def visible(caller: Caller, filters: DocumentFilter) -> DocumentFilter:
    """Return the filters without notes for a caller who may not read them."""
    return filters if caller.can(READ_NOTES) else replace(filters, notes=False)


def written(caller: Caller, shown: ShownDocument) -> ShownDocument:
    """Return what the answer to a write shows: a note without its content if the caller may not read it."""
    if not shown.document.is_note or caller.can(READ_NOTES):
        return shown
    return replace(shown, text="")
