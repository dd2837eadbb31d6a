"""The list of documents, and one of them: its content, the download, the deletion."""

from typing import Any

from marshmallow import fields, validate

from netautod.console.base.forms import FORM
from netautod.console.documents.pages import PATH, DocumentPage
from netautod.console.documents.views import shown_text
from netautod.core.errors import Forbidden
from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.documents.access import MANAGE, READ
from netautod.documents.handlers import document_tag
from netautod.documents.models import CATEGORIES, DocumentFilter, ShownDocument
from netautod.documents.notes.service import LOCKED
from netautod.http.access import requires
from netautod.http.routing.routes import Route

RECENT = 10
BYTES = "application/octet-stream"


class DocumentListQuery(PageQuery):
    q = fields.String()
    category = fields.String(validate=validate.OneOf(CATEGORIES))
    content_type = fields.String()
    parent_folder = fields.String()


class DocumentsPage(DocumentPage):
    @requires(READ, query=DocumentListQuery)
    async def get(self) -> None:
        """Show the documents by category and name."""
        narrowed: dict[str, Any] = dict(self.query)
        page = Page(limit=narrowed.pop("limit"), offset=narrowed.pop("offset"))
        self.show(
            "documents/list.html",
            title="Documents",
            listed=await self.documents.page(self.caller, DocumentFilter(**narrowed), page),
            categories=CATEGORIES,
            content_types=self.documents.content_types,
        )


class OneDocumentPage(DocumentPage):
    @requires(READ)
    async def get(self, document_id: str) -> None:
        """Show a document with its content and its newest versions."""
        await self.document_page(await self.document(document_id))

    async def document_page(self, shown: ShownDocument) -> None:
        document = shown.document
        versions = await self.documents.versions(self.caller, document.id)
        self.show(
            "documents/document.html",
            title=document.name,
            document=document,
            locked=shown.locked,
            content=shown_text(shown.text or ""),
            can_render=self.documents.can_render(document.content_type),
            versions=len(versions),
            tag=document_tag(shown),
        )


class DownloadPage(DocumentPage):
    @requires(READ, produces=BYTES)
    async def get(self, document_id: str) -> None:
        """Send the content as a file, byte by byte as it is stored."""
        shown = await self.document(document_id)
        if shown.locked:
            raise Forbidden(LOCKED)
        self.set_header("Content-Type", BYTES)
        self.set_header("Content-Disposition", f'attachment; filename="{shown.document.id}.txt"')
        self.finish((shown.text or "").encode())


class DeleteDocumentPage(OneDocumentPage):
    @requires(MANAGE, consumes=FORM)
    async def post(self, document_id: str) -> None:
        """Delete a document with all of its versions."""
        shown = await self.document(document_id)
        await self.submit(self._delete(shown), again=lambda: self.document_page(shown))

    async def _delete(self, shown: ShownDocument) -> str:
        await self.documents.delete(self.caller, shown.document.id, only_if=self.if_unchanged(document_tag))
        self.set_notice(f"The document {shown.document.name} was deleted")
        return PATH


PAGES = (
    Route(path=PATH, handler=DocumentsPage),
    Route(path=f"{PATH}/:id", handler=OneDocumentPage),
    Route(path=f"{PATH}/:id/content", handler=DownloadPage),
    Route(path=f"{PATH}/:id/delete", handler=DeleteDocumentPage),
)
