"""The part of the composition root about documents: their service, the notes vault and the upkeep."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta

from netautod.app.foundation import Foundation
from netautod.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.docs.editing import DocumentWriter, Resealing
from netautod.docs.notes.service import NotesVault
from netautod.docs.notes.store import NotesVaultStore
from netautod.docs.rendering.pool import RenderPool
from netautod.docs.service import DocumentService
from netautod.docs.store import DocumentStore, VersionStore
from netautod.docs.upkeep import DocumentUpkeep
from netautod.store.client import Database


@dataclass(frozen=True, kw_only=True)
class DocumentParts:
    notes: NotesVault
    documents: DocumentService
    upkeep: DocumentUpkeep

    @classmethod
    def build(
        cls,
        database: Database,
        *,
        clock: Clock,
        audit: AuditLog,
        notes: NotesVault,
        renderer: RenderPool,
    ) -> "DocumentParts":
        documents, versions = DocumentStore(database), VersionStore(database)
        resealing = Resealing(documents, versions)
        writer = DocumentWriter(
            documents=documents, versions=versions, resealing=resealing, notes=notes, clock=clock
        )
        service = DocumentService(
            documents=documents,
            versions=versions,
            writer=writer,
            notes=notes,
            renderer=renderer,
            clock=clock,
            audit=audit,
        )
        upkeep = DocumentUpkeep(
            documents=documents, versions=versions, resealing=resealing, notes=notes, clock=clock
        )
        return cls(notes=notes, documents=service, upkeep=upkeep)


async def documents_of(stack: AsyncExitStack, base: Foundation) -> DocumentParts:
    """Renders and keeps up until the stack ends."""
    minutes = base.settings.vault.auto_lock_minutes
    notes = NotesVault(
        store=NotesVaultStore(base.database),
        vault=base.vault,
        clock=base.clock,
        audit=base.audit,
        auto_lock=timedelta(minutes=minutes) if minutes else None,
    )
    renderer = RenderPool(processes=base.settings.docs.render_processes)
    parts = DocumentParts.build(
        base.database,
        clock=base.clock,
        audit=base.audit,
        notes=notes,
        renderer=await stack.enter_async_context(renderer),
    )
    await stack.enter_async_context(parts.upkeep)
    return parts
