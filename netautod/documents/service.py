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
from netautod.documents.access import READ_NOTES, require_readable, visible, written
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
        caller: Caller,
        filters: DocumentFilter,
        *,
        limit: int | None = None,
        offset: int = 0,
        content: bool = True,
    ) -> Listing:
        """Find the documents of a list, sorted by category and name; those of a short list are read
        already.

        For a caller who may not read notes there are none.
        """
        org_id, filters = caller.org_id, visible(caller, filters)
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
        caller: Caller,
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
        org_id, filters = caller.org_id, visible(caller, filters)
        if listing is None:
            listing = await self.listing(caller, filters, limit=limit, offset=offset, content=content)
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

    async def page(self, caller: Caller, filters: DocumentFilter, page: Page) -> PageOf[ShownDocument]:
        """Return one page, sorted by category and name, without contents."""
        listed = self.listed(caller, filters, limit=page.limit, offset=page.offset, content=False)
        found = [one async for one in listed]
        total = await self._documents.count(caller.org_id, visible(caller, filters))
        return PageOf(items=found, total=total, page=page)

    async def _whole(self, org_id: OrgId, group: Sequence[Document], *, content: bool) -> list[Document]:
        """Add the contents that were not read yet; leaves out documents that are gone by now."""
        missing = [one.id for one in group if content and one.content is None]
        if not missing:
            return list(group)
        found = {one.id: one for one in await self._documents.with_contents(org_id, missing)}
        return [found.get(one.id, one) for one in group if one.content is not None or one.id in found]

    async def get(self, caller: Caller, document_id: str) -> ShownDocument:
        """Return the document; a note is empty and locked while the vault is locked. Raises NotFound,
        Forbidden."""
        found = await self._readable(caller, document_id)
        return (await show_documents(self._notes, caller.org_id, [found]))[0]

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
            found = await self._existing(caller.org_id, document_id)
            (before,) = await show_documents(self._notes, caller.org_id, [found])
            document, text = before.document, before.text or ""
        details = {**_named(document), "category": document.category}
        await self._audit.record(caller, "document.create", "document", document.id, details)
        return written(caller, ShownDocument(document=document, text=text))

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
        document, shown = await self._writer.write(caller, document_id, edit, only_if=only_if)
        details = {**_named(document), "fields": sorted(fields)}
        await self._audit.record(caller, "document.update", "document", document_id, details)
        return written(caller, ShownDocument(document=document, text=shown))

    async def restore(self, caller: Caller, document_id: str, version_id: str) -> ShownDocument:
        """Store the current content as a version, then write that of the given one. Raises NotFound,
        Forbidden.
        """
        await self._existing(caller.org_id, document_id, content=False)
        version = await self._versions.get(caller.org_id, version_id)
        if version is None or version.document_id != document_id:
            raise NotFound(NO_VERSION)
        text = await self._text_of(caller.org_id, version)
        document, shown = await self._writer.write(caller, document_id, Edit(text=text, restored=True))
        details = {**_named(document), "version_id": version_id}
        await self._audit.record(caller, "document.restore", "document", document_id, details)
        return written(caller, ShownDocument(document=document, text=shown))

    async def delete(self, caller: Caller, document_id: str, *, only_if: OnlyIf | None = None) -> None:
        """Delete the document and its versions, whether the vault is locked or not. Raises NotFound."""
        await self._mark_deleted(caller.org_id, document_id, only_if)
        # If we die here the versions are out of reach already, and the upkeep removes them.
        await self._versions.remove_all(caller.org_id, document_id)
        await self._audit.record(caller, "document.delete", "document", document_id)

    async def versions(self, caller: Caller, document_id: str) -> list[dict[str, Any]]:
        """List the versions without contents, newest first: id, document_id and created_at (text) of each.

        Raises NotFound, Forbidden.
        """
        await self._readable(caller, document_id, content=False)
        return await self._versions.listed(caller.org_id, document_id)

    async def version(self, caller: Caller, version_id: str) -> ShownVersion:
        """Return a version with its content. Raises NotFound, Forbidden."""
        org_id = caller.org_id
        version = await self._versions.get(org_id, version_id)
        if version is None:
            raise NotFound(NO_VERSION)
        # Read after the version: a document that became a note in between is refused.
        document = await self._documents.get(org_id, version.document_id, content=False)
        if document is None:  # a deletion has not reached the version yet
            raise NotFound(NO_VERSION)
        require_readable(caller, document)
        if version.content.is_sealed:
            caller.require(READ_NOTES)
        return ShownVersion(version=version, text=await self._text_of(org_id, version))

    async def render(
        self, caller: Caller, document_id: str, variables: Mapping[str, Any], *, strict: bool = False
    ) -> Rendered:
        """Render the template with the variables; its errors are part of the result.

        `strict`: an undefined name is an error, too. Raises NotFound, InvalidInput, Forbidden.
        """
        document = await self._readable(caller, document_id)
        kind = document.content_type
        if not self.can_render(kind):
            raise InvalidInput(f"Only a document of content_type {self._types.rendered} can be rendered")
        if strict and kind != JINJA:
            raise InvalidInput(f"strict: Only a document of content_type {JINJA} can be rendered strictly")
        text = await self._opened(caller.org_id, document)
        if kind != JINJA:
            return await self._types.render(kind, text, variables)
        return await self._renderer.render(text, variables, strict=strict)

    async def variables(self, caller: Caller, document_id: str) -> list[str]:
        """List the names that the template takes from its variables, sorted.

        Raises NotFound, InvalidInput for what is no template or cannot be read as one, Forbidden.
        """
        document = await self._readable(caller, document_id)
        if document.content_type != JINJA:
            raise InvalidInput(f"Only a document of content_type {JINJA} has variables")
        return await self._renderer.names(await self._opened(caller.org_id, document))

    @property
    def content_types(self) -> tuple[str, ...]:
        """Return the types that a document may have."""
        return self._types.names

    def can_render(self, content_type: str) -> bool:
        """Return whether contents of this type can be rendered."""
        return content_type == JINJA or self._types.is_rendered(content_type)

    async def _readable(self, caller: Caller, document_id: str, *, content: bool = True) -> Document:
        found = await self._existing(caller.org_id, document_id, content=content)
        require_readable(caller, found)
        return found

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

    async def _opened(self, org_id: OrgId, document: Document) -> str:
        assert document.content is not None
        key = await self._notes.key(org_id) if document.content.is_sealed else None
        return await contents.open_content(key, org_id, document.id, document.content)

    async def _text_of(self, org_id: OrgId, version: DocumentVersion) -> str:
        key = await self._notes.key(org_id) if version.content.is_sealed else None
        return await contents.open_content(key, org_id, version.document_id, version.content)


def _named(document: Document) -> dict[str, Any]:
    """Return the name for an audit event; that of a note is not for everybody who reads the audit."""
    return {} if document.is_note else {"name": document.name}
