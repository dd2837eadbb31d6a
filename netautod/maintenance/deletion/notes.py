"""The deletion of the notes of an organization whose passphrase is lost."""

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.core.clock import Clock
from netautod.core.errors import Conflict
from netautod.core.identity.caller import OrgId, system_caller
from netautod.documents.models import NOTES, DocumentFilter
from netautod.documents.notes.service import NONE_SET

EVERY_NOTE = DocumentFilter(category=NOTES)


class NotesReset:
    """A reset of the notes; repeating one that was interrupted completes it, since the keys go last."""

    def __init__(self, *, stores: Stores, clock: Clock, audit: AuditLog) -> None:
        self._stores = stores
        self._clock = clock
        self._audit = audit

    async def count(self, org_id: OrgId) -> int:
        """Return how many notes a reset deletes. Raises Conflict while no passphrase is set."""
        state = await self._stores.notes.get(org_id)
        if state is None or state.passphrase is None:
            raise Conflict(NONE_SET)
        return await self._stores.documents.count(org_id, EVERY_NOTE)

    async def run(self, org_id: OrgId) -> int:
        """Delete all notes and forget the passphrase; return how many notes there were."""
        await self._stores.notes.lock(org_id)  # no note is written from here on
        notes = await self._stores.documents.listed(org_id, EVERY_NOTE, limit=None, offset=0)
        for note in notes:
            await self._stores.documents.mark_deleted(org_id, note.id, self._clock.now())
            await self._stores.document_versions.remove_all(org_id, note.id)
        # Those of documents that were notes once, and were not converted yet.
        await self._stores.document_versions.remove_sealed(org_id)
        await self._stores.notes.forget(org_id)
        caller, details = system_caller(org_id), {"notes": len(notes)}
        await self._audit.record(caller, "vault.reset", "vault", None, details)
        return len(notes)
