"""The documents wing: documents, the notes vault and their upkeep."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from netautod.assembly.identity import build_lockout
from netautod.assembly.installation import Installation
from netautod.documents.content_types import ContentTypes
from netautod.documents.editing import DocumentWriter, Resealing
from netautod.documents.notes.service import NotesVault
from netautod.documents.rendering.pool import RenderPool
from netautod.documents.service import DocumentService
from netautod.documents.upkeep import DocumentUpkeep
from netautod.http.routing.services import Services


@dataclass(frozen=True, kw_only=True)
class Documents(Services):
    """The services of documents."""

    notes: NotesVault
    documents: DocumentService
    upkeep: DocumentUpkeep


@asynccontextmanager
async def open_documents(installation: Installation, types: ContentTypes) -> AsyncIterator[Documents]:
    """Build the services and run the renderer and the upkeep within the block."""
    async with RenderPool(processes=installation.settings.docs.render_processes) as renderer:
        documents = build_documents(installation, renderer=renderer, types=types)
        async with documents.upkeep:
            yield documents


def build_documents(
    installation: Installation, *, renderer: RenderPool, types: ContentTypes, notes: NotesVault | None = None
) -> Documents:
    """Build the services; the caller runs the renderer and the upkeep."""
    stores, clock, audit = installation.stores, installation.clock, installation.audit
    documents, versions = stores.documents, stores.document_versions
    notes = notes or _build_notes(installation)
    resealing = Resealing(documents, versions)
    writer = DocumentWriter(
        documents=documents, versions=versions, resealing=resealing, notes=notes, types=types, clock=clock
    )
    return Documents(
        notes=notes,
        documents=DocumentService(
            documents=documents,
            versions=versions,
            writer=writer,
            notes=notes,
            renderer=renderer,
            types=types,
            clock=clock,
            audit=audit,
        ),
        upkeep=DocumentUpkeep(
            documents=documents, versions=versions, resealing=resealing, notes=notes, clock=clock
        ),
    )


def _build_notes(installation: Installation) -> NotesVault:
    minutes = installation.settings.vault.auto_lock_minutes
    return NotesVault(
        store=installation.stores.notes,
        vault=installation.vault,
        clock=installation.clock,
        audit=installation.audit,
        lockout=build_lockout(installation),
        auto_lock=timedelta(minutes=minutes) if minutes else None,
    )
