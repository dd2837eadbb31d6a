"""The form of a saved source, new or not."""

import json
from dataclasses import replace
from typing import Any

from netautod.console.base.forms import FORM
from netautod.console.inventory.sources import PATH, SourcePage
from netautod.console.inventory.views import filter_texts, filters_of
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.network.inventory.filters import LISTS
from netautod.network.inventory.models import SavedSource
from netautod.network.inventory.schemas import SourceRequest

MANAGE = "devices.manage"
FILTER = "filter_"


class SourceFormPage(SourcePage):
    """The form of a source, new or not."""

    async def source_form(self, title: str, action: str, source: SavedSource | None) -> None:
        self.show(
            "inventory/edit.html",
            title=title,
            action=action,
            source=source,
            filters=filter_texts({} if source is None else source.device_filters),
        )

    def sent(self, *, partial: bool) -> dict[str, Any]:
        """Return the fields as the API takes them; the filters are one object there."""
        texts = {name: self.form.secret(f"{FILTER}{name}") for name in (*LISTS, "name")}
        filters = json.dumps(filters_of(texts))
        form = replace(self.form, given={**self.form.given, "device_filters": [filters]})
        return form.values(SourceRequest(), partial=partial)


class NewSourcePage(SourceFormPage):
    @requires(MANAGE)
    async def get(self) -> None:
        """Show the form of a new source."""
        await self._form()

    @requires(MANAGE, consumes=FORM)
    async def post(self) -> None:
        """Create a source."""
        await self.submit(self._save(), again=self._form)

    async def _save(self) -> str:
        source = await self.sources.create(self.caller, self.sent(partial=False))
        following = (
            "It is synchronised now"
            if source.auto_sync_enabled
            else "Test it, then preview a synchronisation"
        )
        self.set_notice(f"The source was saved. {following}.")
        return f"{PATH}/sources/{source.id}"

    async def _form(self) -> None:
        await self.source_form("New source", f"{PATH}/sources/new", None)


class EditSourcePage(SourceFormPage):
    @requires(MANAGE)
    async def get(self, source_id: str) -> None:
        """Show the form of a source."""
        await self._form(source_id)

    @requires(MANAGE, consumes=FORM)
    async def post(self, source_id: str) -> None:
        """Change a source; a URL on another server needs the token again."""
        await self.submit(self._save(source_id), again=lambda: self._form(source_id))

    async def _save(self, source_id: str) -> str:
        source = await self.source(source_id)
        self.require_unchanged(str(source.revision))
        await self.sources.update(self.caller, source.id, self.sent(partial=True))
        self.set_notice("The source was saved.")
        return f"{PATH}/sources/{source.id}"

    async def _form(self, source_id: str) -> None:
        source = await self.source(source_id)
        await self.source_form(f"Edit {source.name}", f"{PATH}/sources/{source.id}/edit", source)


PAGES = (
    Route(path=f"{PATH}/sources/new", handler=NewSourcePage),
    Route(path=f"{PATH}/sources/:source_id/edit", handler=EditSourcePage),
)
