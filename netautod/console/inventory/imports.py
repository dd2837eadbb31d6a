"""The import of devices from a file or a pasted text: first a check, then the import."""

from dataclasses import replace

from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.console.base.words import counted
from netautod.console.inventory.content import TEXT, Content, content_of, in_format
from netautod.console.inventory.report import ImportReport, report_of
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.network.inventory.imports.models import MOST_BYTES
from netautod.network.inventory.imports.service import ImportService

MANAGE = "devices.manage"
PATH = "/inventory/import"
IMPORT = "import"
CHANGED = "This is not what was checked before: it was checked now, and nothing is imported yet"
# A form may hold a line break as two characters, and has fields and boundaries beside the file.
BODY_LIMIT = MOST_BYTES + 1024 * 1024


class ImportPage(PageHandler):
    imports: ImportService
    _sent: Content | None = None

    @requires(MANAGE)
    async def get(self) -> None:
        """Show the form of an import."""
        await self._form()

    @requires(MANAGE, consumes=FORM, body_limit=BODY_LIMIT)
    async def post(self) -> None:
        """Check what an import would do; with `run=import`, import exactly the content that was checked."""
        await self.submit(self._run(), again=self._form)

    async def _run(self) -> str | None:
        content = self._sent = content_of(self.form)
        wanted = self.form.text("run") == IMPORT
        for_real = wanted and content.digest == self.form.text("checked")
        file = in_format(content, self.form.text("format"))
        work = self.imports.run(self.caller, file, dry_run=not for_real)
        result = await (work if for_real else self.while_connected(work))
        if for_real and not result.failed:
            self.set_notice(f"{counted(result.imported, 'device')} imported")
            return "/devices"
        if wanted and not for_real:
            self.notice = CHANGED
        await self._form(await report_of(result, dry_run=not for_real))
        return None

    async def _form(self, report: ImportReport | None = None) -> None:
        content = self._sent
        if content is not None:  # a file comes back as a text
            self.form = replace(self.form, given={**self.form.given, TEXT: [content.text or ""]})
        self.show("inventory/import.html", title="Import devices", content=content, report=report)


PAGES = (Route(path=PATH, handler=ImportPage),)
