"""What users do with documents: create, read, change, restore, render and delete them.

A list is sorted by category, then name, and its documents are read while it is written. `parent_folder=`
lists the documents without a folder. A PUT without fields is a write like any other and adds a version. When
a document leaves the notes its versions are decrypted, when it becomes a note they are encrypted.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from netautod.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import InvalidInput, NotFound
from netautod.core.identity import Caller, OrgId
from netautod.docs import contents
from netautod.docs.content_types import ContentTypes
from netautod.docs.editing import DocumentWriter
from netautod.docs.models import (
    JINJA,
    NO_DOCUMENT,
    NO_VERSION,
    NOTES,
    Document,
    DocumentFilter,
    DocumentVersion,
    Edit,
    ShownDocument,
    ShownVersion,
)
from netautod.docs.notes.service import NotesVault
from netautod.docs.rendering.pool import Rendered, RenderPool
from netautod.docs.store import DocumentStore, VersionStore

READ_AT_ONCE = 200
# Contents are held up to this many bytes together, and one more document.
CONTENTS_AT_ONCE = 1024 * 1024


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

    async def listed(
        self,
        org_id: OrgId,
        filters: DocumentFilter,
        *,
        limit: int | None = None,
        offset: int = 0,
        content: bool = True,
    ) -> AsyncGenerator[ShownDocument, None]:
        """Sorted by category and name; each read when it is asked for, so that many fit in little memory.

        The order is that of the beginning: what is renamed meanwhile comes once, what is deleted does not.
        """
        ids = await self._documents.listed(org_id, filters, limit=limit, offset=offset)
        for start in range(0, len(ids), READ_AT_ONCE):
            some = ids[start : start + READ_AT_ONCE]
            if not content:
                for shown in await self._shown(
                    org_id, await self._documents.without_contents(org_id, filters, some)
                ):
                    yield shown
                continue
            for group in _groups(await self._documents.sizes(org_id, filters, some)):
                for shown in await self._shown(org_id, await self._documents.with_contents(org_id, group)):
                    yield shown

    async def get(self, org_id: OrgId, document_id: str) -> ShownDocument:
        """A note reads as empty and locked while the vault is locked; NotFound."""
        return (await self._shown(org_id, [await self._existing(org_id, document_id)]))[0]

    async def create(self, caller: Caller, fields: Mapping[str, Any]) -> ShownDocument:
        """`fields` as DocumentRequest loads them; Forbidden for a note while the vault is locked."""
        now, text, document_id = self._clock.now(), fields["content"], str(uuid4())
        await self._types.check(fields["content_type"], text)
        if fields["category"] == NOTES:
            contents.measured(text)
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
        await self._documents.insert(caller.org_id, document)
        details = {"name": document.name, "category": document.category}
        await self._audit.record(caller, "document.create", "document", document.id, details)
        return ShownDocument(document=document, text=text)

    async def update(self, caller: Caller, document_id: str, fields: Mapping[str, Any]) -> ShownDocument:
        """Stores what was there, then writes the given fields; NotFound, Forbidden, TooLarge."""
        text = fields.get("content")
        if text is not None:
            contents.measured(text)
        metadata = {name: value for name, value in fields.items() if name != "content"}
        edit = Edit(fields=metadata, text=text)
        document, shown = await self._writer.write(caller.org_id, document_id, edit)
        details = {"name": document.name, "fields": sorted(fields)}
        await self._audit.record(caller, "document.update", "document", document_id, details)
        return ShownDocument(document=document, text=shown)

    async def restore(self, caller: Caller, document_id: str, version_id: str) -> ShownDocument:
        """Stores what is there, then writes the content of the version; NotFound, Forbidden."""
        await self._existing(caller.org_id, document_id, content=False)
        version = await self._versions.get(caller.org_id, version_id)
        if version is None or version.document_id != document_id:
            raise NotFound(NO_VERSION)
        text = await self._text_of(caller.org_id, version)
        document, shown = await self._writer.write(caller.org_id, document_id, Edit(text=text, restored=True))
        details = {"name": document.name, "version_id": version_id}
        await self._audit.record(caller, "document.restore", "document", document_id, details)
        return ShownDocument(document=document, text=shown)

    async def delete(self, caller: Caller, document_id: str) -> None:
        """Removes the document and its versions, whether the vault is locked or not; NotFound."""
        if not await self._documents.mark_deleted(caller.org_id, document_id, self._clock.now()):
            raise NotFound(NO_DOCUMENT)
        # If we die here the versions are out of reach already, and the upkeep removes them.
        await self._versions.remove_all(caller.org_id, document_id)
        await self._audit.record(caller, "document.delete", "document", document_id)

    async def versions(self, org_id: OrgId, document_id: str) -> list[dict[str, Any]]:
        """The versions without contents, newest first: id, document_id and created_at (text) of each."""
        await self._existing(org_id, document_id, content=False)
        return await self._versions.listed(org_id, document_id)

    async def version(self, org_id: OrgId, version_id: str) -> ShownVersion:
        """Raises NotFound."""
        version = await self._versions.get(org_id, version_id)
        # A version without a document is one that a deletion has not reached yet.
        if version is None or await self._documents.get(org_id, version.document_id, content=False) is None:
            raise NotFound(NO_VERSION)
        return ShownVersion(version=version, text=await self._text_of(org_id, version))

    async def render(self, org_id: OrgId, document_id: str, variables: Mapping[str, Any]) -> Rendered:
        """Renders the template with the variables; its errors are part of the result. NotFound, InvalidInput,
        Forbidden."""
        document = await self._existing(org_id, document_id)
        if document.content_type != JINJA and not self._types.is_rendered(document.content_type):
            raise InvalidInput(f"Only a document of content_type {self._types.rendered} can be rendered")
        assert document.content is not None
        key = await self._notes.key(org_id) if document.content.is_sealed else None
        text = await contents.opened(key, org_id, document_id, document.content)
        if document.content_type != JINJA:
            return await self._types.render(document.content_type, text, variables)
        return await self._renderer.render(text, variables)

    async def _existing(self, org_id: OrgId, document_id: str, *, content: bool = True) -> Document:
        found = await self._documents.get(org_id, document_id, content=content)
        if found is None:
            raise NotFound(NO_DOCUMENT)
        return found

    async def _text_of(self, org_id: OrgId, version: DocumentVersion) -> str:
        key = await self._notes.key(org_id) if version.content.is_sealed else None
        return await contents.opened(key, org_id, version.document_id, version.content)

    async def _shown(self, org_id: OrgId, documents: Sequence[Document]) -> list[ShownDocument]:
        notes = any(document.is_note for document in documents)
        key = await self._notes.key_if_unlocked(org_id) if notes else None
        return [await _shown_with(key, org_id, document) for document in documents]


async def _shown_with(key: bytes | None, org_id: OrgId, document: Document) -> ShownDocument:
    locked = document.is_note and key is None
    if document.content is None:
        return ShownDocument(document=document, text=None, locked=locked)
    text = "" if locked else await contents.opened(key, org_id, document.id, document.content)
    return ShownDocument(document=document, text=text, locked=locked)


def _groups(sized: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    """In the same order, each as large as may be held at once."""
    group: list[str] = []
    held = 0
    for one, size in sized:
        if group and held + size > CONTENTS_AT_ONCE:
            yield group
            group, held = [], 0
        group.append(one)
        held += size
    if group:
        yield group
