"""The base of all pages of documents."""

from netautod.console.base.pages import PageHandler
from netautod.core.errors import NotFound
from netautod.documents.models import NO_VERSION, ShownDocument, ShownVersion
from netautod.documents.notes.service import VaultLocked
from netautod.documents.service import DocumentService

PATH = "/documents"


class DocumentPage(PageHandler):
    documents: DocumentService

    def document_id(self, text: str) -> str:
        return self.path_id(text, "Document")

    async def document(self, document_id: str) -> ShownDocument:
        """Return the document; a note is empty and locked while the vault is locked."""
        return await self.documents.get(self.caller, self.document_id(document_id))

    async def version(self, document: ShownDocument, version_id: str) -> ShownVersion | None:
        """Return a version of the document; None while the vault is locked. Raises NotFound."""
        try:
            found = await self.documents.version(self.caller, self.path_id(version_id, "Version"))
        except VaultLocked:
            return None
        if found.version.document_id != document.document.id:
            raise NotFound(NO_VERSION)
        return found


def own_path(document_id: str) -> str:
    return f"{PATH}/{document_id}"
