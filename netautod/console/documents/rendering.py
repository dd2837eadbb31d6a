"""A template and what it makes of variables."""

from netautod.console.base.forms import FORM
from netautod.console.documents.pages import PATH, DocumentPage
from netautod.console.documents.views import shown_text
from netautod.core.errors import InvalidInput
from netautod.documents.access import READ
from netautod.documents.models import ShownDocument
from netautod.documents.rendering.pool import Rendered
from netautod.documents.schemas import RenderRequest
from netautod.http.access import requires
from netautod.http.routing.routes import Route

NO_TEMPLATE = "Nothing renders documents of this content type"


class RenderPage(DocumentPage):
    @requires(READ)
    async def get(self, document_id: str) -> None:
        """Show the form for the variables of a template."""
        self._form(await self._template(document_id))

    @requires(READ, consumes=FORM, changes=False, body_limit=4 * 1024 * 1024)
    async def post(self, document_id: str) -> None:
        """Render the template with the variables; an error of the template is a result."""
        shown = await self._template(document_id)

        async def again() -> None:
            self._form(shown)

        await self.submit(self._render(shown), again=again)

    async def _template(self, document_id: str) -> ShownDocument:
        shown = await self.document(document_id)
        if not self.documents.can_render(shown.document.content_type):
            raise InvalidInput(NO_TEMPLATE)
        return shown

    async def _render(self, shown: ShownDocument) -> None:
        options = self.form.values(RenderRequest())
        self._form(shown, await self.documents.render(self.caller, shown.document.id, **options))

    def _form(self, shown: ShownDocument, rendered: Rendered | None = None) -> None:
        self.show(
            "documents/render.html",
            title=f"Render {shown.document.name}",
            document=shown.document,
            source=shown_text(shown.text or ""),
            rendered=rendered,
            output=shown_text("" if rendered is None else rendered.output),
        )


PAGES = (Route(path=f"{PATH}/:id/render", handler=RenderPage),)
