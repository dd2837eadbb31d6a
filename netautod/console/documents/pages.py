"""What all pages of documents share."""

from netautod.console.base.pages import PageHandler
from netautod.documents.models import ShownDocument
from netautod.documents.service import DocumentService

MANAGE = "docs.manage"
PATH = "/documents"


class DocumentPage(PageHandler):
    documents: DocumentService

    def document_id(self, text: str) -> str:
        return self.path_id(text, "Document")

    async def document(self, document_id: str) -> ShownDocument:
        """A note is empty and locked while the vault is."""
        return await self.documents.get(self.caller.org_id, self.document_id(document_id))


def own_path(document_id: str) -> str:
    return f"{PATH}/{document_id}"
