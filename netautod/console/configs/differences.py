"""The diff of two versions of one device's configuration, or of two devices."""

from collections.abc import Sequence
from dataclasses import dataclass

from netautod.console.base.rendering import with_query
from netautod.console.configs.base import READ, ConfigPage
from netautod.console.configs.changes import DiffPiece, piece_of
from netautod.console.configs.queries import DiffPageQuery
from netautod.core.errors import NotFound
from netautod.core.loop.pace import in_thread_if_large
from netautod.core.pages import Page
from netautod.http.access import requires
from netautod.network.configs.models import Config
from netautod.network.configs.texts.side_by_side import SideBySide
from netautod.network.configs.texts.version_diff import DiffForm, VersionDiff
from netautod.network.devices.models import Device, DeviceFilter, DeviceItem

ROW_CHARACTERS = 60  # as much as a row costs, for the choice of a thread
CANDIDATES = 20


@dataclass(frozen=True, kw_only=True)
class ShownDiff:
    """A diff as a page shows it.

    `earlier` and `later` lead to the pairs of versions before and after this one; None if there is none.
    """

    diff: VersionDiff
    piece: DiffPiece
    permalink: str
    earlier: str | None
    later: str | None


class DiffPage(ConfigPage):
    large = True

    @requires(READ, query=DiffPageQuery)
    async def get(self, device_id: str) -> None:
        """Compare two versions, by default the two newest."""
        device = await self.device_of(device_id)
        if self.query["other"]:
            await self._choose_other(device)
            return
        other = device
        if self.query["new_device_id"] is not None:
            other = await self.device_of(self.query["new_device_id"])
        shown, stored = None, await self.configs.page(self.caller.org_id, device.id, Page(limit=1))
        if other.id != device.id or self._names_versions or stored.total > 1:
            shown = await self._compared(device, other)
        old, new = self._versions(shown)
        self.show(
            "configs/diff.html",
            title=f"Diff of {device.name}" + ("" if other.id == device.id else f" and {other.name}"),
            device=device,
            other=other,
            columns=self.query["format"] == "side_by_side",
            context=self.query["context"],
            shown=shown,
            stored=stored,
            old_version=old,
            new_version=new,
        )

    @property
    def _names_versions(self) -> bool:
        return self.query["old_version"] is not None or self.query["new_version"] is not None

    def _versions(self, shown: ShownDiff | None) -> tuple[int | None, int | None]:
        if shown is None:
            return self.query["old_version"], self.query["new_version"]
        return shown.diff.old.version, shown.diff.new.version

    async def _compared(self, device: Device, other: Device) -> ShownDiff | None:
        """Return the diff; None, with an error above the form, if a version does not exist."""
        try:
            diff = await self._diff(device, other)
        except NotFound as error:
            self.error, self.page_status = error.text, 404
            return None
        assert isinstance(diff.found, SideBySide)  # as the form requested
        columns = self.query["format"] == "side_by_side"
        size = ROW_CHARACTERS * sum(len(hunk.rows) for hunk in diff.found.hunks)
        piece = await in_thread_if_large(
            size, piece_of, diff.found, columns=columns, offset=self.query["offset"]
        )
        earlier, later = (None, None) if other.id != device.id else await self._beside(diff)
        permalink = self._path(diff.old, diff.new)
        return ShownDiff(diff=diff, piece=piece, permalink=permalink, earlier=earlier, later=later)

    async def _diff(self, device: Device, other: Device) -> VersionDiff:
        old, new = self.query["old_version"], self.query["new_version"]
        form = DiffForm(context=self.query["context"], columns=True)
        if other.id == device.id:
            return await self.configs.diff(self.caller, device.id, old, new, secrets=False, form=form)
        pair = (device.id, old), (other.id, new)
        return await self.configs.diff_of_devices(self.caller, *pair, secrets=False, form=form)

    async def _beside(self, diff: VersionDiff) -> Sequence[str | None]:
        before, _ = await self.configs.beside(self.caller.org_id, diff.old.device_id, diff.old.version)
        _, after = await self.configs.beside(self.caller.org_id, diff.new.device_id, diff.new.version)
        return (
            None if before is None else self._path(before, diff.old),
            None if after is None else self._path(diff.new, after),
        )

    def _path(self, old: Config, new: Config) -> str:
        """Return an address that names all that the page depends on."""
        wanted = {
            "old_version": old.version,
            "new_version": new.version,
            "new_device_id": None if old.device_id == new.device_id else new.device_id,
            "format": self.query["format"],
            "context": self.query["context"],
        }
        return with_query(f"/configs/{old.device_id}/diff", {}, **wanted)

    async def _choose_other(self, device: Device) -> None:
        """Redirect to the diff with the device of exactly that name, or show the devices that match."""
        text = self.query["other"]
        found = await self.devices.page(self.caller.org_id, DeviceFilter(q=text), Page(limit=CANDIDATES))
        exact = [one for one in found.items if one.name == text]
        if exact:
            self.redirect_to(self._with_other(exact[0]))
            return
        links = [(one.name, self._with_other(one)) for one in found.items if one.id != device.id]
        title = f"Compare {device.name} with another device"
        self.show("configs/other.html", title=title, device=device, text=text, candidates=links, found=found)

    def _with_other(self, other: DeviceItem) -> str:
        kept = {name: value for name, value in self.query_texts().items() if name in ("format", "context")}
        return with_query(self.request.path, kept, new_device_id=other.id)
