"""The part of the composition root about documents: their service, the notes vault and the upkeep."""

from dataclasses import dataclass
from datetime import timedelta

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.core.clock import Clock
from netautod.documents.content_types import ContentTypes
from netautod.documents.editing import DocumentWriter, Resealing
from netautod.documents.notes.service import NotesVault
from netautod.documents.rendering.pool import RenderPool
from netautod.documents.service import DocumentService
from netautod.documents.settings import NotesVaultSettings
from netautod.documents.upkeep import DocumentUpkeep
from netautod.secrets.vault.vault import Vault


def notes_of(
    *, stores: Stores, vault: Vault, clock: Clock, audit: AuditLog, settings: NotesVaultSettings
) -> NotesVault:
    minutes = settings.auto_lock_minutes
    return NotesVault(
        store=stores.notes,
        vault=vault,
        clock=clock,
        audit=audit,
        auto_lock=timedelta(minutes=minutes) if minutes else None,
    )


@dataclass(frozen=True, kw_only=True)
class DocumentParts:
    documents: DocumentService
    upkeep: DocumentUpkeep


def documents_of(
    *,
    stores: Stores,
    notes: NotesVault,
    renderer: RenderPool,
    types: ContentTypes,
    clock: Clock,
    audit: AuditLog,
) -> DocumentParts:
    """The caller runs the renderer and the upkeep."""
    documents, versions = stores.documents, stores.document_versions
    resealing = Resealing(documents, versions)
    writer = DocumentWriter(
        documents=documents, versions=versions, resealing=resealing, notes=notes, types=types, clock=clock
    )
    service = DocumentService(
        documents=documents,
        versions=versions,
        writer=writer,
        notes=notes,
        renderer=renderer,
        types=types,
        clock=clock,
        audit=audit,
    )
    upkeep = DocumentUpkeep(
        documents=documents, versions=versions, resealing=resealing, notes=notes, clock=clock
    )
    return DocumentParts(documents=service, upkeep=upkeep)
