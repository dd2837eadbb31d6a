"""The form of a document, new or not."""

from dataclasses import replace
from typing import Any

from marshmallow import fields, validate

from netautod.console.base.forms import FORM
from netautod.console.base.pages import TAG
from netautod.console.documents.pages import PATH, DocumentPage, own_path
from netautod.core.errors import Forbidden, PreconditionFailed
from netautod.core.schema.bases import Query
from netautod.documents.access import MANAGE, READ_NOTES
from netautod.documents.handlers import BODY_LIMIT, document_tag
from netautod.documents.models import CATEGORIES, Document, ShownDocument
from netautod.documents.notes.service import LOCKED
from netautod.documents.schemas import DocumentRequest
from netautod.http.access import requires
from netautod.http.errors import status_of
from netautod.http.routing.routes import Route

REPLACES = "Here is what you have typed; to save again replaces what is there now, which becomes a version"


class NewDocumentQuery(Query):
    category = fields.String(validate=validate.OneOf(CATEGORIES))


class DocumentFormPage(DocumentPage):
    def document_form(self, title: str, action: str, shown: ShownDocument | None, category: str) -> None:
        known = self.documents.content_types
        if shown is not None and shown.document.content_type not in known:  # its plugin is gone
            known = (*known, shown.document.content_type)
        self.show(
            "documents/edit.html",
            title=title,
            action=action,
            shown=shown,
            category=category,
            categories=CATEGORIES,
            content_types=known,
            tag="" if shown is None else document_tag(shown),
        )

    def path_after(self, document: Document) -> str:
        """Return where a save leads: to the document, or to the list from a note that the caller may not
        read."""
        return PATH if document.is_note and not self.caller.can(READ_NOTES) else own_path(document.id)


class NewDocumentPage(DocumentFormPage):
    @requires(MANAGE, query=NewDocumentQuery)
    async def get(self) -> None:
        """Show the form of a new document."""
        await self._form()

    @requires(MANAGE, consumes=FORM, query=NewDocumentQuery, body_limit=BODY_LIMIT)
    async def post(self) -> None:
        """Create a document."""
        await self.submit(self._save(), again=self._form)

    async def _save(self) -> str:
        made = await self.documents.create(self.caller, self.form.values(DocumentRequest()))
        return self.path_after(made.document)

    async def _form(self) -> None:
        self.document_form("New document", f"{PATH}/new", None, self.query.get("category", "outputs"))


class EditDocumentPage(DocumentFormPage):
    @requires(MANAGE)
    async def get(self, document_id: str) -> None:
        """Show the form; raise Forbidden for a note while the vault is locked."""
        shown = await self.document(document_id)
        if shown.locked:
            raise Forbidden(LOCKED)
        self._form(shown)

    @requires(MANAGE, consumes=FORM, body_limit=BODY_LIMIT)
    async def post(self, document_id: str) -> None:
        """Change a document; its old content becomes a version."""
        shown = await self.document(document_id)

        async def again() -> None:
            if self.page_status == status_of(PreconditionFailed("")):
                self._begin_anew()
            self._form(await self.document(document_id))

        await self.submit(self._save(shown), again=again)

    async def _save(self, shown: ShownDocument) -> str:
        sent = self.form.values(DocumentRequest(), partial=True)
        fields = {name: value for name, value in sent.items() if value != _now(shown, name)}
        only_if = self.if_unchanged(document_tag)
        if fields:
            shown = await self.documents.update(self.caller, shown.document.id, fields, only_if=only_if)
            self.set_notice("Saved")
        else:
            self.set_notice("Nothing was changed")
        return self.path_after(shown.document)

    def _begin_anew(self) -> None:
        """Keep what was typed, so that the next save replaces the change that another user saved
        meanwhile.
        """
        self.form = replace(
            self.form, given={name: sent for name, sent in self.form.given.items() if name != TAG}
        )
        self.error = f"{self.error}. {REPLACES}"

    def _form(self, shown: ShownDocument) -> None:
        own = own_path(shown.document.id)
        self.document_form(f"Edit {shown.document.name}", f"{own}/edit", shown, shown.document.category)


def _now(shown: ShownDocument, name: str) -> Any:
    """Return a field as the form has it.

    Browsers know one kind of line breaks; a save that changes no line keeps the stored kind.
    """
    if name == "content":
        return None if shown.locked else (shown.text or "").replace("\r\n", "\n").replace("\r", "\n")
    return getattr(shown.document, name)


PAGES = (
    Route(path=f"{PATH}/new", handler=NewDocumentPage),
    Route(path=f"{PATH}/:id/edit", handler=EditDocumentPage),
)
