"""The part of the composition root about documents: their service, the notes vault and the renderers."""

from contextlib import AsyncExitStack
from datetime import timedelta

from netautod.app.foundation import Foundation
from netautod.docs.notes.service import NotesVault
from netautod.docs.rendering.pool import RenderPool
from netautod.docs.service import DocumentService


async def documents_of(stack: AsyncExitStack, base: Foundation) -> tuple[NotesVault, DocumentService]:
    minutes = base.settings.vault.auto_lock_minutes
    notes = NotesVault(
        base.database,
        vault=base.vault,
        clock=base.clock,
        audit=base.audit,
        auto_lock=timedelta(minutes=minutes) if minutes else None,
    )
    documents = DocumentService(
        base.database,
        notes=notes,
        renderer=await stack.enter_async_context(RenderPool(processes=base.settings.docs.render_processes)),
        clock=base.clock,
        audit=base.audit,
    )
    await stack.enter_async_context(documents.upkeep)
    return notes, documents
