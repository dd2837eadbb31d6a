"""The documents of users: created, read, changed, restored, rendered and deleted.

A list is sorted by category, then name, and its documents are read while it is written. `parent_folder=`
lists the documents without a folder. A PUT without fields is a write like any other and adds a version. When
a document leaves the notes its versions are decrypted, when it becomes a note they are encrypted.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Duplicate, InvalidInput, NotFound, Unavailable
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.pages import Page, PageOf
from netautod.documents import contents
from netautod.documents.content_types import ContentTypes
from netautod.documents.editing import ATTEMPTS, BUSY, DocumentWriter, OnlyIf
from netautod.documents.models import (
    JINJA,
    NO_DOCUMENT,
    NO_VERSION,
    NOTES,
    Document,
    DocumentFilter,
    DocumentVersion,
    Edit,
    ListedDocument,
    Listing,
    ShownDocument,
    ShownVersion,
)
from netautod.documents.notes.service import NotesVault
from netautod.documents.rendering.pool import Rendered, RenderPool
from netautod.documents.shown import group_parts, show_documents
from netautod.documents.store import DocumentStore
from netautod.documents.version_store import VersionStore

READ_AT_ONCE = 200
# Contents of up to so many bytes come along with their documents: READ_AT_ONCE of them are held anyway.
SMALL = 4 * 1024


class DocumentService:
    def __init__(
        self,
        *,
        documents: DocumentStore,
        versions: VersionStore,
        writer: DocumentWriter,
        notes: NotesVault,
        renderer: RenderPool,
        types: ContentTypes,
        clock: Clock,
        audit: AuditLog,
    ) -> None:
        self._types = types
        self._documents = documents
        self._versions = versions
        self._writer = writer
        self._notes = notes
        self._renderer = renderer
        self._clock = clock
        self._audit = audit

    async def listing(
        self,
        org_id: OrgId,
        filters: DocumentFilter,
        *,
        limit: int | None = None,
        offset: int = 0,
        content: bool = True,
    ) -> Listing:
        """Find the documents of a list, sorted by category and name; those of a short list are read
        already."""
        few = READ_AT_ONCE if limit is None else min(limit, READ_AT_ONCE)
        count, up_to = few if few == limit else few + 1, SMALL if content else -1
        parts = await self._documents.first(org_id, filters, limit=count, offset=offset, up_to=up_to)
        found: Sequence[ListedDocument | Document]
        if len(parts) > few:
            found, parts = await self._documents.listed(org_id, filters, limit=limit, offset=offset), []
        else:
            found = [one for one, _ in parts]
        notes = any(one.category == NOTES for one in found)
        locked = notes and await self._notes.key_if_unlocked(org_id) is None
        return Listing(documents=found, locked=locked, parts=parts)

    async def listed(
        self,
        org_id: OrgId,
        filters: DocumentFilter,
        *,
        limit: int | None = None,
        offset: int = 0,
        content: bool = True,
        listing: Listing | None = None,
    ) -> AsyncGenerator[ShownDocument, None]:
        """Yield the documents sorted by category and name; each is read on demand, so that many fit in little
        memory.

        The order is that of the beginning (of the `listing`, if there is one already): a document that is
        renamed meanwhile comes once, a deleted one does not.
        """
        if listing is None:
            listing = await self.listing(org_id, filters, limit=limit, offset=offset, content=content)
        parts, up_to = listing.parts, SMALL if content else -1
        ids = [] if parts else [one.id for one in listing.documents]
        for start in range(0, len(ids) or 1, READ_AT_ONCE):
            if ids:
                some = ids[start : start + READ_AT_ONCE]
                parts = await self._documents.some(org_id, filters, some, up_to=up_to)
            for group in group_parts(parts):
                for shown in await show_documents(
                    self._notes, org_id, await self._whole(org_id, group, content=content)
                ):
                    yield shown

    async def read(self, org_id: OrgId, listing: Listing) -> list[ShownDocument]:
        """Return all documents of a list that `is_read`."""
        return await show_documents(self._notes, org_id, [document for document, _ in listing.parts])

    async def page(self, org_id: OrgId, filters: DocumentFilter, page: Page) -> PageOf[ShownDocument]:
        """Return one page, sorted by category and name, without contents."""
        listed = self.listed(org_id, filters, limit=page.limit, offset=page.offset, content=False)
        found = [one async for one in listed]
        return PageOf(items=found, total=await self._documents.count(org_id, filters), page=page)

    async def _whole(self, org_id: OrgId, group: Sequence[Document], *, content: bool) -> list[Document]:
        """Add the contents that were not read yet; leaves out documents that are gone by now."""
        missing = [one.id for one in group if content and one.content is None]
        if not missing:
            return list(group)
        found = {one.id: one for one in await self._documents.with_contents(org_id, missing)}
        return [found.get(one.id, one) for one in group if one.content is not None or one.id in found]

    async def get(self, org_id: OrgId, document_id: str) -> ShownDocument:
        """Return the document; a note is empty and locked while the vault is locked. Raises NotFound."""
        return (await show_documents(self._notes, org_id, [await self._existing(org_id, document_id)]))[0]

    async def create(
        self, caller: Caller, fields: Mapping[str, Any], *, document_id: str | None = None
    ) -> ShownDocument:
        """Create a document; `fields` as DocumentRequest loads them. Forbidden for a note while the vault is
        locked.

        `document_id`: the id for it; an existing document with that id was created by the same request.
        """
        now, text, document_id = self._clock.now(), fields["content"], document_id or str(uuid4())
        await self._types.check(fields["content_type"], text)
        if fields["category"] == NOTES:
            contents.measure(text)
            key = await self._notes.key(caller.org_id)
            content = await contents.sealed(key, caller.org_id, document_id, text)
        else:
            content = contents.plain(text)
        document = Document(
            id=document_id,
            name=fields["name"],
            category=fields["category"],
            content_type=fields["content_type"],
            parent_folder=fields.get("parent_folder"),
            session_id=fields.get("session_id"),
            created_at=now,
            updated_at=now,
            revision=0,
            content=content,
        )
        try:
            await self._documents.insert(caller.org_id, document)
        except Duplicate:
            # The request is repeated: the node that served it first died between this write and the answer.
            before = await self.get(caller.org_id, document_id)
            document, text = before.document, before.text or ""
        details = {"name": document.name, "category": document.category}
        await self._audit.record(caller, "document.create", "document", document.id, details)
        return ShownDocument(document=document, text=text)

    async def update(
        self,
        caller: Caller,
        document_id: str,
        fields: Mapping[str, Any],
        *,
        only_if: OnlyIf | None = None,
    ) -> ShownDocument:
        """Store the content before as a version, then write the fields. Raises NotFound, Forbidden,
        TooLarge."""
        text = fields.get("content")
        if text is not None:
            contents.measure(text)
        metadata = {name: value for name, value in fields.items() if name != "content"}
        edit = Edit(fields=metadata, text=text)
        document, shown = await self._writer.write(caller.org_id, document_id, edit, only_if=only_if)
        details = {"name": document.name, "fields": sorted(fields)}
        await self._audit.record(caller, "document.update", "document", document_id, details)
        return ShownDocument(document=document, text=shown)

    async def restore(self, caller: Caller, document_id: str, version_id: str) -> ShownDocument:
        """Store the current content as a version, then write that of the given one. Raises NotFound,
        Forbidden.
        """
        await self._existing(caller.org_id, document_id, content=False)
        version = await self._versions.get(caller.org_id, version_id)
        if version is None or version.document_id != document_id:
            raise NotFound(NO_VERSION)
        text = await self._text_of(caller.org_id, version)
        document, shown = await self._writer.write(caller.org_id, document_id, Edit(text=text, restored=True))
        details = {"name": document.name, "version_id": version_id}
        await self._audit.record(caller, "document.restore", "document", document_id, details)
        return ShownDocument(document=document, text=shown)

    async def delete(self, caller: Caller, document_id: str, *, only_if: OnlyIf | None = None) -> None:
        """Delete the document and its versions, whether the vault is locked or not. Raises NotFound."""
        await self._mark_deleted(caller.org_id, document_id, only_if)
        # If we die here the versions are out of reach already, and the upkeep removes them.
        await self._versions.remove_all(caller.org_id, document_id)
        await self._audit.record(caller, "document.delete", "document", document_id)

    async def versions(self, org_id: OrgId, document_id: str) -> list[dict[str, Any]]:
        """List the versions without contents, newest first: id, document_id and created_at (text) of each."""
        await self._existing(org_id, document_id, content=False)
        return await self._versions.listed(org_id, document_id)

    async def version(self, org_id: OrgId, version_id: str) -> ShownVersion:
        """Return a version with its content. Raises NotFound."""
        version = await self._versions.get(org_id, version_id)
        # A version without a document is one that a deletion has not reached yet.
        if version is None or await self._documents.get(org_id, version.document_id, content=False) is None:
            raise NotFound(NO_VERSION)
        return ShownVersion(version=version, text=await self._text_of(org_id, version))

    async def render(self, org_id: OrgId, document_id: str, variables: Mapping[str, Any]) -> Rendered:
        """Render the template with the variables; its errors are part of the result.

        Raises NotFound, InvalidInput, Forbidden.
        """
        document = await self._existing(org_id, document_id)
        if not self.can_render(document.content_type):
            raise InvalidInput(f"Only a document of content_type {self._types.rendered} can be rendered")
        assert document.content is not None
        key = await self._notes.key(org_id) if document.content.is_sealed else None
        text = await contents.open_content(key, org_id, document_id, document.content)
        if document.content_type != JINJA:
            return await self._types.render(document.content_type, text, variables)
        return await self._renderer.render(text, variables)

    @property
    def content_types(self) -> tuple[str, ...]:
        """Return the types that a document may have."""
        return self._types.names

    def can_render(self, content_type: str) -> bool:
        """Return whether contents of this type can be rendered."""
        return content_type == JINJA or self._types.is_rendered(content_type)

    async def _existing(self, org_id: OrgId, document_id: str, *, content: bool = True) -> Document:
        found = await self._documents.get(org_id, document_id, content=content)
        if found is None:
            raise NotFound(NO_DOCUMENT)
        return found

    async def _mark_deleted(self, org_id: OrgId, document_id: str, only_if: OnlyIf | None) -> None:
        for _ in range(ATTEMPTS):
            revision = None
            if only_if is not None:
                seen = await self._existing(org_id, document_id, content=False)
                only_if((await show_documents(self._notes, org_id, [seen]))[0])
                revision = seen.revision
            now = self._clock.now()
            if await self._documents.mark_deleted(org_id, document_id, now, revision=revision):
                return
            if revision is None:
                raise NotFound(NO_DOCUMENT)
        raise Unavailable(BUSY)

    async def _text_of(self, org_id: OrgId, version: DocumentVersion) -> str:
        key = await self._notes.key(org_id) if version.content.is_sealed else None
        return await contents.open_content(key, org_id, version.document_id, version.content)
