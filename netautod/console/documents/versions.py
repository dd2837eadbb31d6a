"""The versions of a document: the list, one of them, what differs between two, the restore."""

from datetime import datetime

from netautod.console.base.forms import FORM
from netautod.console.documents.pages import PATH, DocumentPage, own_path
from netautod.console.documents.views import ShownDiff, diff_of, shown_text
from netautod.core.errors import InvalidInput, NotFound
from netautod.core.pages import Page, PageOf
from netautod.core.schema.bases import Id, PageQuery, Query
from netautod.documents.access import MANAGE, READ
from netautod.documents.models import ShownDocument, ShownVersion
from netautod.http.access import requires
from netautod.http.routing.routes import Route


class DiffQuery(Query):
    """The query of a diff: ids of versions.

    Without `new` the live content is compared, without `old` the newest version.
    """

    old = Id()
    new = Id()


class VersionsPage(DocumentPage):
    @requires(READ, query=PageQuery)
    async def get(self, document_id: str) -> None:
        """Show the versions, newest first."""
        page = Page(**self.query)
        shown = await self.document(document_id)
        found = await self.documents.versions(self.caller, shown.document.id)
        window = found[page.offset : page.offset + page.limit]
        # Of each: its id, when it was replaced, and the id of what replaced it (None: the live content).
        newer = [found[page.offset - 1]["id"] if page.offset else None, *(one["id"] for one in window)]
        items = [
            (one["id"], datetime.fromisoformat(one["created_at"]), after)
            for one, after in zip(window, newer, strict=False)
        ]
        self.show(
            "documents/versions.html",
            title=f"Versions of {shown.document.name}",
            document=shown.document,
            listed=PageOf(items=items, total=len(found), page=page),
        )


class OneVersionPage(DocumentPage):
    @requires(READ)
    async def get(self, document_id: str, version_id: str) -> None:
        """Show a version with its content."""
        await self.version_page(await self.document(document_id), version_id)

    async def version_page(self, shown: ShownDocument, version_id: str) -> None:
        found = await self.version(shown, version_id)
        self.show(
            "documents/version.html",
            title=f"Version of {shown.document.name}",
            document=shown.document,
            version_id=version_id,
            version=None if found is None else found.version,
            content=shown_text("" if found is None else found.text),
        )


class RestoreVersionPage(OneVersionPage):
    @requires(MANAGE, consumes=FORM)
    async def post(self, document_id: str, version_id: str) -> None:
        """Make the content of a version the live one; the present content becomes a version."""
        shown = await self.document(document_id)
        wanted = self.path_id(version_id, "Version")
        await self.submit(self._restore(shown, wanted), again=lambda: self.version_page(shown, wanted))

    async def _restore(self, shown: ShownDocument, version_id: str) -> str:
        await self.documents.restore(self.caller, shown.document.id, version_id)
        self.set_notice("Restored; the former content is a version now")
        return own_path(shown.document.id)


class DiffPage(DocumentPage):
    @requires(READ, query=DiffQuery)
    async def get(self, document_id: str) -> None:
        """Compare two versions, or a version and the live content."""
        shown = await self.document(document_id)
        versions = await self.documents.versions(self.caller, shown.document.id)
        if not versions:
            raise NotFound("The document has no version to compare with")
        old = await self.version(shown, self.query.get("old", versions[0]["id"]))
        new = await self.version(shown, self.query["new"]) if "new" in self.query else shown
        self.show(
            "documents/diff.html",
            title=f"Changes of {shown.document.name}",
            document=shown.document,
            locked=old is None or new is None or shown.locked,
            old=None if old is None else old.version,
            new=new.version if isinstance(new, ShownVersion) else None,
            diff=await self._diff(old, new),
        )

    async def _diff(
        self, old: ShownVersion | None, new: ShownVersion | ShownDocument | None
    ) -> ShownDiff | None:
        """Return the diff; None if there is nothing to compare, or too much."""
        if old is None or new is None:
            return None
        try:
            return await diff_of(old.text, new.text or "")
        except InvalidInput as error:
            self.error = error.text
            return None


PAGES = (
    Route(path=f"{PATH}/:id/versions", handler=VersionsPage),
    Route(path=f"{PATH}/:id/versions/:version_id", handler=OneVersionPage),
    Route(path=f"{PATH}/:id/versions/:version_id/restore", handler=RestoreVersionPage),
    Route(path=f"{PATH}/:id/diff", handler=DiffPage),
)
