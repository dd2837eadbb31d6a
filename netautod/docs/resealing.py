"""Brings the snapshots of a document over to its new category: sealed for a note, plain for any other.

The write that changes the category leaves a token on the document; it is taken off when no snapshot of the
other kind is left. If we die before, the upkeep goes on while the vault is unlocked. Each batch looks again
at what the document is now: two opposite changes at once end with the snapshots as the last one wants them.
"""

from netautod.core.identity import OrgId
from netautod.docs import contents
from netautod.docs.models import Content, Document, Snapshot
from netautod.docs.store import DocumentStore
from netautod.docs.versions import VersionStore

BATCH = 100
BATCH_BYTES = 8 * 1024 * 1024


class Resealing:
    def __init__(self, documents: DocumentStore, versions: VersionStore) -> None:
        self._documents = documents
        self._versions = versions

    async def run(self, org_id: OrgId, document_id: str, key: bytes) -> None:
        """Returns when all snapshots are of the document's kind, or it is gone; harmless if repeated."""
        below: int | None = None
        while (found := await self._documents.resealing(org_id, document_id)) is not None:
            document, token = found
            reached = await self._batch(org_id, document, key, below)
            nothing_left = reached is None and below is None
            if nothing_left and await self._documents.resealed(org_id, document_id, token):
                return
            # After the last batch once more from the top: a late writer may have added one.
            below = reached

    async def _batch(self, org_id: OrgId, document: Document, key: bytes, below: int | None) -> int | None:
        """The lowest revision that was changed, None if there was none left."""
        rows = await self._versions.of_other_kind(
            org_id, document.id, sealed=document.is_note, below=below, limit=BATCH
        )
        chosen: list[str] = []
        lowest, room = None, BATCH_BYTES
        for version_id, revision, size in rows:
            if chosen and size > room:
                break
            chosen.append(version_id)
            lowest, room = revision, room - size
        snapshots = await self._versions.some(org_id, chosen) if chosen else []
        changed = [(one.id, await self._converted(org_id, document, key, one)) for one in snapshots]
        await self._versions.replace_contents(org_id, changed)
        return lowest

    async def _converted(self, org_id: OrgId, document: Document, key: bytes, one: Snapshot) -> Content:
        text = await contents.opened(key, org_id, document.id, one.content)
        if document.is_note:
            return await contents.sealed(key, org_id, document.id, text)
        return contents.plain(text)
