"""The routes of documents, their versions, and the rendering of templates."""

import asyncio
from hashlib import sha256

from netautod.core.json.values import to_text
from netautod.core.loop.each import in_batches
from netautod.documents.access import MANAGE, READ
from netautod.documents.models import MAX_CONTENT_BYTES, DocumentFilter, Listing, ShownDocument
from netautod.documents.schemas import (
    DocumentAnswer,
    DocumentItem,
    DocumentRequest,
    DocumentsQuery,
    RenderAnswer,
    RenderRequest,
    VariablesAnswer,
    VersionAnswer,
    VersionItem,
)
from netautod.documents.service import DocumentService
from netautod.http.access import Repeat, requires
from netautod.http.conditions.tags import WEAK, tag_of, tag_with
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route

# Contents are limited to 8 MiB by their own size; JSON may take two bytes for one (line breaks, quotes).
BODY_LIMIT = 2 * MAX_CONTENT_BYTES
NARROWING = ("category", "parent_folder", "content_type", "q")
LIGHT = 100  # documents that were read with their contents, which are small
SLICE = 500  # documents of a list that are looked at in one turn of the loop


class DocumentHandler(JsonHandler):
    documents: DocumentService

    def document_id(self, text: str) -> str:
        return self.path_id(text, "Document")

    def answer_document(self, shown: ShownDocument) -> None:
        self.tag = document_tag(shown)
        self.answer(shown.to_json())

    def version_id(self, text: str) -> str:
        return self.path_id(text, "Version")


class DocumentsHandler(DocumentHandler):
    @requires(READ, query=DocumentsQuery, answer=DocumentItem, etag=True)
    async def get(self) -> None:
        """List the documents by category and name: all of them, unless `limit` says otherwise.

        Notes are left out without the permission `notes.read`.
        """
        query = self.query
        filters = DocumentFilter(**{name: query[name] for name in NARROWING})
        window = {name: query[name] for name in ("limit", "offset", "content")}
        listing = await self.documents.listing(self.caller, filters, **window)
        if listing.is_read:
            shown = await self.documents.read(self.caller.org_id, listing)
            self.answer([one.to_json() for one in shown], light=len(shown) <= LIGHT)
        else:
            found = self.documents.listed(self.caller, filters, listing=listing, content=query["content"])
            self.tag = await list_tag(listing)
            self.answer_each(found, ShownDocument.to_json)

    @requires(
        MANAGE,
        body=DocumentRequest,
        answer=DocumentAnswer,
        status=201,
        body_limit=BODY_LIMIT,
        repeat=Repeat.FINDS,
        etag=True,
    )
    async def post(self) -> None:
        """Create a document; the answer about a note has no `content` for callers without `notes.read`."""
        made = await self.documents.create(self.caller, self.body, document_id=self.record_id)
        self.answer_document(made)


class OneDocumentHandler(DocumentHandler):
    @requires(READ, answer=DocumentAnswer, etag=True)
    async def get(self, document_id: str) -> None:
        """Read a document; a note needs `notes.read` too, and is empty while the vault is locked."""
        shown = await self.documents.get(self.caller, self.document_id(document_id))
        self.answer_document(shown)

    @requires(
        MANAGE, body=DocumentRequest, partial=True, answer=DocumentAnswer, body_limit=BODY_LIMIT, etag=True
    )
    async def put(self, document_id: str) -> None:
        """Change a document; the content before becomes a version.

        Without `notes.read` the answer about a note has an empty `content` (do not send that back), and a
        document cannot leave the category `notes`.
        """
        shown = await self.documents.update(
            self.caller, self.document_id(document_id), self.body, only_if=self.only_if(document_tag)
        )
        self.answer_document(shown)

    @requires(MANAGE, status=204, etag=True)
    async def delete(self, document_id: str) -> None:
        """Delete a document with all of its versions."""
        wanted = self.document_id(document_id)
        await self.documents.delete(self.caller, wanted, only_if=self.only_if(document_tag))
        self.answer_nothing()


class VersionsHandler(DocumentHandler):
    @requires(READ, answer=VersionItem)
    async def get(self, document_id: str) -> None:
        """List the versions of a document without their contents, newest first."""
        self.answer(await self.documents.versions(self.caller, self.document_id(document_id)))


class OneVersionHandler(DocumentHandler):
    @requires(READ, answer=VersionAnswer, name="get_doc_version")
    async def get(self, version_id: str) -> None:
        """Read one version with its content."""
        shown = await self.documents.version(self.caller, self.version_id(version_id))
        self.answer(shown.to_json())


class RestoreVersionHandler(DocumentHandler):
    @requires(MANAGE, answer=DocumentAnswer, repeat=Repeat.AGAIN)
    async def post(self, document_id: str, version_id: str) -> None:
        """Make the content of a version the live one; the content before becomes a version."""
        wanted = self.document_id(document_id), self.version_id(version_id)
        self.answer((await self.documents.restore(self.caller, *wanted)).to_json())


class RenderDocumentHandler(DocumentHandler):
    @requires(READ, body=RenderRequest, answer=RenderAnswer, changes=False)
    async def post(self, document_id: str) -> None:
        """Render a Jinja template; an error of the template is part of the answer.

        An undefined name renders as nothing, with `strict` it is an error; what is below one always is.
        """
        rendered = await self.documents.render(self.caller, self.document_id(document_id), **self.body)
        self.answer(rendered.to_json())


class VariablesHandler(DocumentHandler):
    @requires(READ, answer=VariablesAnswer)
    async def get(self, document_id: str) -> None:
        """List the names that a Jinja template takes from its variables."""
        names = await self.documents.variables(self.caller, self.document_id(document_id))
        self.answer({"variables": names})


def document_tag(shown: ShownDocument) -> str:
    """Return a strong tag: each write gives another revision, and a locked note reads differently.

    It includes the time of the write: after a restore revisions are counted anew.
    """
    document = shown.document
    written = f"{document.id} {document.revision} {to_text(document.updated_at)} {shown.locked}"
    return tag_of([written.encode()])


async def list_tag(listing: Listing) -> str:
    """Return a weak tag: documents are read while the list is written, and may be newer than the tag, never
    older.
    """
    digest = sha256(b"locked" if listing.locked else b"")
    for some in in_batches(listing.documents, SLICE):
        rows = [f"{one.id} {one.revision} {one.updated_at.timestamp()}\n" for one in some]
        digest.update("".join(rows).encode())
        await asyncio.sleep(0)
    return WEAK + tag_with(digest.digest())


ROUTES = (
    Route(path="/api/docs", handler=DocumentsHandler),
    Route(path="/api/docs/:id", handler=OneDocumentHandler),
    Route(path="/api/docs/:id/versions", handler=VersionsHandler),
    Route(path="/api/docs/versions/:version_id", handler=OneVersionHandler),
    Route(path="/api/docs/:id/restore/:version_id", handler=RestoreVersionHandler),
    Route(path="/api/docs/:id/render", handler=RenderDocumentHandler),
    Route(path="/api/docs/:id/variables", handler=VariablesHandler),
)
