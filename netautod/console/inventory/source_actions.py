"""The actions on a saved source: test, synchronise, delete."""

from collections.abc import Mapping

from netautod.console.base.forms import FORM
from netautod.console.inventory.sources import PATH, OneSourcePage
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.network.inventory.models import SavedSource
from netautod.network.inventory.sync.background import BackgroundSyncs
from netautod.network.inventory.sync.models import SyncOptions, SyncResult

MANAGE = "devices.manage"


class DeleteSourcePage(OneSourcePage):
    @requires(MANAGE, consumes=FORM)
    async def post(self, source_id: str) -> None:
        """Delete a source; its devices stay."""
        source = await self.source(source_id)
        await self.submit(self._delete(source), again=lambda: self.source_page(source))

    async def _delete(self, source: SavedSource) -> str:
        await self.sources.delete(self.caller, source.id)
        self.set_notice(f"The source {source.name} was deleted; its devices stay.")
        return PATH


class SourceTestPage(OneSourcePage):
    @requires(MANAGE, consumes=FORM, grows=False)
    async def post(self, source_id: str) -> None:
        """Query a source for its version, and count its devices that match."""
        source = await self.source(source_id)
        await self.submit(self._test(source), again=lambda: self.source_page(source))

    async def _test(self, source: SavedSource) -> None:
        tested = await self.while_connected(self.sync.test_source(self.caller, source.id))
        await self.source_page(source, tested=tested)


class SyncSourcePage(OneSourcePage):
    syncs: BackgroundSyncs

    @requires(MANAGE, consumes=FORM)
    async def post(self, source_id: str) -> None:
        """Show what a synchronisation would do; with `run=sync` start it."""
        source = await self.source(source_id)
        work = self._sync(source) if self.form.text("run") == "sync" else self._preview(source)
        await self.submit(work, again=lambda: self.source_page(source))

    async def _preview(self, source: SavedSource) -> None:
        options = self._options(dry_run=True)
        preview = await self.while_connected(self.sync.sync_source(self.caller, source.id, options))
        await self.source_page(source, preview=preview)

    async def _sync(self, source: SavedSource) -> str:
        options = self._options(dry_run=False)
        result = await self.syncs.begin(self.caller, source.id, options)
        self.set_notice(
            "The synchronisation is running: see its result here." if result is None else _notice(result)
        )
        return f"{PATH}/sources/{source.id}"

    def _options(self, *, dry_run: bool) -> SyncOptions:
        return SyncOptions(dry_run=dry_run, confirm_removals=self.form.has("confirm_removals"))


def _notice(result: SyncResult) -> str:
    counts: Mapping[str, int] = {
        "added": result.added,
        "changed": result.updated,
        "unchanged": result.unchanged,
        "removed": result.removed,
        "failed": result.failed,
    }
    return "Synchronised: " + ", ".join(f"{count:,} {name}" for name, count in counts.items())


PAGES = (
    Route(path=f"{PATH}/sources/:source_id/delete", handler=DeleteSourcePage),
    Route(path=f"{PATH}/sources/:source_id/test", handler=SourceTestPage),
    Route(path=f"{PATH}/sources/:source_id/sync", handler=SyncSourcePage),
)
