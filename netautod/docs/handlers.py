"""The routes of documents, their versions, and the rendering of templates."""

from netautod.docs.models import MAX_CONTENT_BYTES, DocumentFilter, ShownDocument
from netautod.docs.schemas import (
    DocumentAnswer,
    DocumentItem,
    DocumentRequest,
    DocumentsQuery,
    RenderAnswer,
    RenderRequest,
    VersionAnswer,
    VersionItem,
)
from netautod.docs.service import DocumentService
from netautod.http.access import any_token, requires
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route

MANAGE = "docs.manage"
# Contents are limited to 8 MiB by their own size; JSON may take two bytes for one (line breaks, quotes).
BODY_LIMIT = 2 * MAX_CONTENT_BYTES


class DocumentHandler(JsonHandler):
    documents: DocumentService

    def document_id(self, text: str) -> str:
        return self.path_id(text, "Document")

    def version_id(self, text: str) -> str:
        return self.path_id(text, "Version")


class DocumentsHandler(DocumentHandler):
    @any_token(query=DocumentsQuery, answer=DocumentItem)
    async def get(self) -> None:
        """Lists the documents by category and name: all of them, unless `limit` says otherwise."""
        query = self.query
        found = self.documents.listed(
            self.caller.org_id,
            DocumentFilter(category=query["category"], parent_folder=query["parent_folder"]),
            limit=query["limit"],
            offset=query["offset"],
            content=query["content"],
        )
        self.answer_each(found, ShownDocument.to_json)

    @requires(MANAGE, body=DocumentRequest, answer=DocumentAnswer, status=201, body_limit=BODY_LIMIT)
    async def post(self) -> None:
        """Creates a document."""
        self.answer((await self.documents.create(self.caller, self.body)).to_json())


class OneDocumentHandler(DocumentHandler):
    @any_token(answer=DocumentAnswer)
    async def get(self, document_id: str) -> None:
        """Reads a document; a note is empty while the vault is locked."""
        shown = await self.documents.get(self.caller.org_id, self.document_id(document_id))
        self.answer(shown.to_json())

    @requires(MANAGE, body=DocumentRequest, partial=True, answer=DocumentAnswer, body_limit=BODY_LIMIT)
    async def put(self, document_id: str) -> None:
        """Changes a document; what was there becomes a version."""
        shown = await self.documents.update(self.caller, self.document_id(document_id), self.body)
        self.answer(shown.to_json())

    @requires(MANAGE, status=204)
    async def delete(self, document_id: str) -> None:
        """Deletes a document with all of its versions."""
        await self.documents.delete(self.caller, self.document_id(document_id))
        self.answer_nothing()


class VersionsHandler(DocumentHandler):
    @any_token(answer=VersionItem)
    async def get(self, document_id: str) -> None:
        """Lists the versions of a document without their contents, newest first."""
        self.answer(await self.documents.versions(self.caller.org_id, self.document_id(document_id)))


class OneVersionHandler(DocumentHandler):
    @any_token(answer=VersionAnswer)
    async def get(self, version_id: str) -> None:
        """Reads one version with its content."""
        shown = await self.documents.version(self.caller.org_id, self.version_id(version_id))
        self.answer(shown.to_json())


class RestoreVersionHandler(DocumentHandler):
    @requires(MANAGE, answer=DocumentAnswer)
    async def post(self, document_id: str, version_id: str) -> None:
        """Makes the content of a version the live one; what was there becomes a version."""
        wanted = self.document_id(document_id), self.version_id(version_id)
        self.answer((await self.documents.restore(self.caller, *wanted)).to_json())


class RenderDocumentHandler(DocumentHandler):
    @any_token(body=RenderRequest, answer=RenderAnswer, changes=False)
    async def post(self, document_id: str) -> None:
        """Renders a Jinja template; an error of the template is part of the answer."""
        wanted, variables = self.document_id(document_id), self.body["variables"]
        self.answer((await self.documents.render(self.caller.org_id, wanted, variables)).to_json())


ROUTES = (
    Route(path="/api/docs", handler=DocumentsHandler),
    Route(path="/api/docs/:id", handler=OneDocumentHandler),
    Route(path="/api/docs/:id/versions", handler=VersionsHandler),
    Route(path="/api/docs/versions/:version_id", handler=OneVersionHandler),
    Route(path="/api/docs/:id/restore/:version_id", handler=RestoreVersionHandler),
    Route(path="/api/docs/:id/render", handler=RenderDocumentHandler),
)
