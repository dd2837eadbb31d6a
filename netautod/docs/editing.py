"""The one way in which a document changes: the replaced content becomes a snapshot, then the new one is live.

Both carry one new timestamp. The live document is written by compare-and-set on the revision that was
snapshotted, so of 100 writes at once each replaces what the one before left, and none is lost. If we die
between the two there is one snapshot that equals the live content; the next write takes it over.
"""

import asyncio
from collections import OrderedDict
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4
from weakref import WeakValueDictionary

from netautod.core.clock import Clock
from netautod.core.errors import NotFound, Unavailable
from netautod.core.identity import OrgId
from netautod.docs import contents
from netautod.docs.models import Content, Document, Edit
from netautod.docs.notes.service import NotesVault
from netautod.docs.resealing import Resealing
from netautod.docs.store import DocumentStore
from netautod.docs.versions import VersionStore

ATTEMPTS = 100
NOT_FOUND = "Document not found"
# A snapshot that somebody else has just taken of this revision lends its time to our write; an older one
# was left by a crash.
SAME_WRITE = timedelta(seconds=5)


class Writer:
    def __init__(
        self,
        *,
        documents: DocumentStore,
        versions: VersionStore,
        resealing: Resealing,
        notes: NotesVault,
        clock: Clock,
    ) -> None:
        self._documents = documents
        self._versions = versions
        self._resealing = resealing
        self._notes = notes
        self._clock = clock
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._recent = Recent(clock)

    async def write(self, org_id: OrgId, document_id: str, edit: Edit) -> tuple[Document, str]:
        """The changed document and its text; NotFound, Forbidden while the vault is locked.

        Writers of one node take turns; those of other nodes meet at the compare-and-set.
        """
        async with self._turns.setdefault(document_id, asyncio.Lock()):
            known = self._recent.take(org_id, document_id)
            for attempt in range(ATTEMPTS):
                current = known or await self._documents.get(org_id, document_id)
                known = None
                if current is None:
                    await self._give_up(org_id, document_id, attempt)
                    raise NotFound(NOT_FOUND)
                if (written := await self._attempt(org_id, current, edit)) is not None:
                    self._recent.keep(org_id, written[0])
                    return written
        raise Unavailable("The document is being changed by many others; try again")

    async def _attempt(self, org_id: OrgId, current: Document, edit: Edit) -> tuple[Document, str] | None:
        """None if the document is no longer what `current` says."""
        wanted = replace(current, **edit.fields)
        # Before anything is written: a locked vault leaves no half of a change.
        key = await self._notes.key(org_id) if current.is_note or wanted.is_note else None
        content, text = await self._next_content(org_id, current, wanted, edit, key)
        at = await self._snapshot(org_id, current)
        new = replace(wanted, content=content, updated_at=at, revision=current.revision + 1)
        token = uuid4().hex if new.is_note != current.is_note else None
        if not await self._documents.swap(org_id, current, new, resealing=token):
            return None
        if token is not None:
            assert key is not None
            await self._resealing.run(org_id, new.id, key)
        return new, text

    async def _next_content(
        self, org_id: OrgId, current: Document, wanted: Document, edit: Edit, key: bytes | None
    ) -> tuple[Content, str]:
        assert current.content is not None
        if edit.text is None:
            text = await contents.opened(key, org_id, current.id, current.content)
            if wanted.is_note == current.content.is_sealed:
                return current.content, text
        else:
            text = edit.text
        if not wanted.is_note:
            return contents.plain(text), text
        assert key is not None
        return await contents.sealed(key, org_id, current.id, text), text

    async def _snapshot(self, org_id: OrgId, current: Document) -> datetime:
        now = max(self._clock.now(), current.updated_at)
        taken = await self._versions.add(org_id, current, now)
        return max(taken, current.updated_at) if now - taken < SAME_WRITE else now

    async def _give_up(self, org_id: OrgId, document_id: str, attempt: int) -> None:
        """The document was deleted while we wrote: our snapshot may have come after the deletion's sweep."""
        if attempt:
            await self._versions.remove_all(org_id, document_id)


class Recent:
    """The last documents that this node has written, so that an editor's next save need not read them.

    An entry may be out of date: what is based on it then fails at the compare-and-set and is read anew.
    Notes are not kept, so that no outdated entry can refuse a write for a locked vault. Entries live much
    shorter than the row of a deleted document (upkeep.py).
    """

    def __init__(
        self,
        clock: Clock,
        *,
        documents: int = 256,
        content_bytes: int = 64 * 1024,
        seconds: float = 60.0,
    ) -> None:
        self._entries: OrderedDict[tuple[OrgId, str], tuple[float, Document]] = OrderedDict()
        self._clock = clock
        self._documents = documents
        self._content_bytes = content_bytes
        self._seconds = seconds

    def take(self, org_id: OrgId, document_id: str) -> Document | None:
        kept_at, document = self._entries.pop((org_id, document_id), (0.0, None))
        return document if self._clock.monotonic() - kept_at < self._seconds else None

    def keep(self, org_id: OrgId, document: Document) -> None:
        if document.is_note or document.content is None or document.content.size > self._content_bytes:
            return
        self._entries[org_id, document.id] = (self._clock.monotonic(), document)
        if len(self._entries) > self._documents:
            self._entries.popitem(last=False)
