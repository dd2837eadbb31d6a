"""The only writer of documents: the replaced content becomes a version, then the new one is live.

Both carry one new timestamp. The live document is written by compare-and-set on the revision whose content
became the version, so of 100 concurrent writes each replaces the result of the one before, and none is lost.
If the process dies between the two there is one version that equals the live content; the next write takes it
over.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4
from weakref import WeakValueDictionary

from netautod.core.clock import Clock
from netautod.core.errors import NotFound, Unavailable
from netautod.core.identity.caller import Caller, OrgId
from netautod.documents import contents
from netautod.documents.access import require_readable
from netautod.documents.content_types import ContentTypes
from netautod.documents.models import NO_DOCUMENT, Content, Document, DocumentVersion, Edit, ShownDocument
from netautod.documents.notes.service import NotesVault
from netautod.documents.store import DocumentStore
from netautod.documents.version_store import VersionStore

ATTEMPTS = 100
BUSY = "The document is being changed by many others; try again"
OnlyIf = Callable[[ShownDocument], None]
"""Asked about the document before it is changed; raises what keeps it from that."""
# A version of this revision that another writer has added within this time gives our write its timestamp; an
# older one was left by a crash.
SAME_WRITE = timedelta(seconds=5)
RESEAL_BATCH = 100
RESEAL_BYTES = 8 * 1024 * 1024


class DocumentWriter:
    def __init__(
        self,
        *,
        documents: DocumentStore,
        versions: VersionStore,
        resealing: "Resealing",
        notes: NotesVault,
        types: ContentTypes,
        clock: Clock,
    ) -> None:
        self._documents = documents
        self._versions = versions
        self._resealing = resealing
        self._types = types
        self._notes = notes
        self._clock = clock
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._recent = RecentDocuments(clock)

    async def write(
        self, caller: Caller, document_id: str, edit: Edit, *, only_if: OnlyIf | None = None
    ) -> tuple[Document, str]:
        """Write the edit; return the changed document and its text.

        Raises NotFound, Forbidden while the vault is locked or for what shows a note to a caller who may not
        read it, InvalidInput for a content that is not of its type.

        `only_if` checks the very revision that is replaced.

        Writers of one node take turns; those of other nodes meet at the compare-and-set.
        """
        org_id = caller.org_id
        async with self._turns.setdefault(document_id, asyncio.Lock()):
            # The write detects an outdated one; a condition must not be checked against it.
            known = self._recent.take(org_id, document_id) if only_if is None else None
            for attempt in range(ATTEMPTS):
                current = known or await self._documents.get(org_id, document_id)
                known = None
                if current is None:
                    await self._give_up(org_id, document_id, attempt)
                    raise NotFound(NO_DOCUMENT)
                if only_if is not None:
                    only_if(ShownDocument(document=current, text=None))
                if (written := await self._attempt(caller, current, edit)) is not None:
                    self._recent.keep(org_id, written[0])
                    return written
        raise Unavailable(BUSY)

    async def _attempt(self, caller: Caller, current: Document, edit: Edit) -> tuple[Document, str] | None:
        """Try one write; return None if the document differs from `current` by now."""
        org_id, wanted = caller.org_id, replace(current, **edit.fields)
        if not wanted.is_note:
            require_readable(caller, current)
        # Before anything is written: a locked vault leaves no half of a change.
        key = await self._notes.key(org_id) if current.is_note or wanted.is_note else None
        content, text = await self._next_content(org_id, current, wanted, edit, key)
        await self._check(caller, current, wanted, edit, text)
        at = await self._keep_version(org_id, current)
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
            text = await contents.open_content(key, org_id, current.id, current.content)
            if wanted.is_note == current.content.is_sealed:
                return current.content, text
        else:
            text = edit.text
        if not wanted.is_note:
            return contents.plain(text), text
        assert key is not None
        return await contents.sealed(key, org_id, current.id, text), text

    async def _check(
        self, caller: Caller, current: Document, wanted: Document, edit: Edit, text: str
    ) -> None:
        """Check what the edit changes. A stored content may stay, also one of a plugin that is gone.

        What a plugin says of a stored note may quote it, and is for callers who may read it.
        """
        if wanted.content_type != current.content_type or (edit.text is not None and not edit.restored):
            gone = wanted.content_type == current.content_type
            if edit.text is None and self._types.is_checked(wanted.content_type):
                require_readable(caller, current)
            await self._types.check(wanted.content_type, text, may_be_gone=gone)

    async def _keep_version(self, org_id: OrgId, current: Document) -> datetime:
        now = max(self._clock.now(), current.updated_at)
        taken = await self._versions.add(org_id, current, now)
        return max(taken, current.updated_at) if now - taken < SAME_WRITE else now

    async def _give_up(self, org_id: OrgId, document_id: str, attempt: int) -> None:
        """Clean up after the document was deleted during the write, and raise NotFound.

        Our version may have been added after the others were removed.
        """
        if attempt:
            await self._versions.remove_all(org_id, document_id)


class RecentDocuments:
    """The last documents that this node has written, so that an editor's next save need not read them.

    An entry may be out of date: a write based on it then fails at the compare-and-set and reads anew. Notes
    are not kept, so that no outdated entry can refuse a write for a locked vault. Entries live much shorter
    than the row of a deleted document (upkeep.py).
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


class Resealing:
    """A converter of a document's versions to its new category: sealed for a note, plain for any other.

    The write that changes the category leaves a token on the document; it is removed when no version of the
    other kind is left. If the process dies before, the upkeep continues while the vault is unlocked. Each
    batch reads the document's category again: two opposite changes at once end with the versions as the last
    one requires.
    """

    def __init__(self, documents: DocumentStore, versions: VersionStore) -> None:
        self._documents = documents
        self._versions = versions

    async def run(self, org_id: OrgId, document_id: str, key: bytes) -> None:
        """Convert all versions; returns when none is left, or the document is gone. Harmless if repeated."""
        below: int | None = None
        while (found := await self._documents.resealing(org_id, document_id)) is not None:
            document, token = found
            reached = await self._batch(org_id, document, key, below)
            nothing_left = reached is None and below is None
            if nothing_left and await self._documents.resealed(org_id, document_id, token):
                return
            if reached is not None:
                # An opposite change may have ended while we wrote for the one before.
                await self._documents.reopen_resealing(org_id, document_id, unless=token, token=uuid4().hex)
            # After the last batch once more from the top: a late writer may have added one.
            below = reached

    async def _batch(self, org_id: OrgId, document: Document, key: bytes, below: int | None) -> int | None:
        """Convert a batch; return the lowest revision that was changed, None if there was none left."""
        rows = await self._versions.of_other_kind(
            org_id, document.id, sealed=document.is_note, below=below, limit=RESEAL_BATCH
        )
        batch: list[str] = []
        lowest, room = None, RESEAL_BYTES
        for version_id, revision, size in rows:
            if batch and size > room:
                break
            batch.append(version_id)
            lowest, room = revision, room - size
        versions = await self._versions.some(org_id, batch) if batch else []
        changed = [(one.id, await self._converted(org_id, document, key, one)) for one in versions]
        await self._versions.replace_contents(org_id, changed)
        return lowest

    async def _converted(
        self, org_id: OrgId, document: Document, key: bytes, one: DocumentVersion
    ) -> Content:
        text = await contents.open_content(key, org_id, document.id, one.content)
        if document.is_note:
            return await contents.sealed(key, org_id, document.id, text)
        return contents.plain(text)
