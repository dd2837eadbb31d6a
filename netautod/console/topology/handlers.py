"""The network as a drawing and as a table."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from marshmallow import fields, validate

from netautod.console.base.pages import PageHandler
from netautod.console.topology.layout import Drawing, drawing_of
from netautod.console.topology.network import MOST_NODES, Cable, Part, Shown, part_of
from netautod.core.errors import InvalidInput, NetautodError, NotFound
from netautod.core.pages import Page, PageOf
from netautod.core.schema.bases import PageQuery, QueryInteger, Text, uuid_or_none
from netautod.http.access import requires
from netautod.http.errors import status_of
from netautod.http.routing.routes import Route
from netautod.network.devices.models import Device, DeviceFilter, DeviceItem
from netautod.network.devices.schemas import Label
from netautod.network.devices.service import DeviceService
from netautod.network.discovery.models import Topology
from netautod.network.discovery.service import DiscoveryService

CANDIDATES = 20


class TopologyQuery(PageQuery):
    """The query of the topology.

    `device` is an id or a name. `neighbors=devices` leaves out neighbors that the inventory does not know.
    """

    device = Text(max_length=255, load_default=None)
    hops = QueryInteger(low=1, high=3, load_default=2)
    site = Label(load_default=None)
    neighbors = fields.String(load_default=None, validate=validate.OneOf(("devices",)))


@dataclass(frozen=True, kw_only=True)
class ShownTopology:
    """A topology as its page shows it; `drawing` is None if there is nothing to draw, or too much."""

    drawing: Drawing | None
    found: int
    nodes: int
    listed: PageOf[Cable]
    generated_at: datetime


class TopologyPage(PageHandler):
    devices: DeviceService
    discovery: DiscoveryService
    large = True

    @requires("devices.access", query=TopologyQuery)
    async def get(self) -> None:
        """Show a device and its surroundings, a site, or all of a small network."""
        device: DeviceItem | None = None
        candidates: Sequence[DeviceItem] = ()
        shown: ShownTopology | None = None
        try:
            if self.query["device"] and self.query["site"]:
                raise InvalidInput("device, site: give only one of the two")
            if self.query["device"]:
                device, candidates = await self._device(self.query["device"])
            if device is not None or not self.query["device"]:
                shown = await self._network_of(device)
        except (InvalidInput, NotFound) as error:
            self._refuse(error)
        self.show(
            "topology/topology.html",
            title="Topology",
            device=device,
            candidates=candidates,
            shown=shown,
            hops=self.query["hops"],
            site=self.query["site"],
            most=MOST_NODES,
        )

    def _refuse(self, error: NetautodError) -> None:
        self.error, self.page_status = error.text, status_of(error)

    async def _device(self, text: str) -> tuple[DeviceItem | None, Sequence[DeviceItem]]:
        """Return the device of that id or exact name; else the devices that match.

        Raises NotFound if there is none.
        """
        org_id, wanted = self.caller.org_id, uuid_or_none(text)
        if wanted is not None:
            found: Device = await self.devices.get(org_id, wanted)
            return found, ()
        listed = await self.devices.page(org_id, DeviceFilter(q=text), Page(limit=CANDIDATES))
        exact = [one for one in listed.items if one.name == text]
        if not listed.items:
            raise NotFound("device: no device has this in its name or address")
        if exact or listed.total == 1:
            return (exact or listed.items)[0], ()
        return None, listed.items

    async def _network_of(self, device: DeviceItem | None) -> ShownTopology:
        org_id, site = self.caller.org_id, self.query["site"]
        within = None
        if site:
            batches = self.devices.names_in_order(org_id, DeviceFilter(site=site), batch=1000)
            within = {one.id async for batch in batches for one in batch}
        part = Part(
            around=None if device is None else device.id,
            hops=self.query["hops"],
            within=within,
            known_only=self.query["neighbors"] == "devices",
        )
        topology = await self.discovery.topology(org_id)
        page = Page(limit=self.query["limit"], offset=self.query["offset"])
        return await asyncio.to_thread(_made, topology, part, page)


def _made(topology: Topology, part: Part, page: Page) -> ShownTopology:
    """Select and draw the part that is shown.

    Run it in a thread: a large network takes far longer than the event loop can wait.
    """
    shown: Shown = part_of(topology, part)
    listed = shown.cables[page.offset : page.offset + page.limit]
    return ShownTopology(
        drawing=drawing_of(shown.nodes, shown.cables, part.around) if shown.nodes else None,
        found=shown.found,
        nodes=len(shown.nodes),
        listed=PageOf(items=listed, total=len(shown.cables), page=page),
        generated_at=topology.generated_at,
    )


PAGES = (Route(path="/topology", handler=TopologyPage),)
