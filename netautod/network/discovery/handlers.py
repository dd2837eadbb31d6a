"""The routes of discovered data."""

from netautod.http.access import Repeat, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.network.discovery.models import DiscoveredTable
from netautod.network.discovery.schemas import (
    ArpTableAnswer,
    FindAnswer,
    FindQuery,
    InterfacesAnswer,
    MacTableAnswer,
    NeighborsAnswer,
    PollHistoryAnswer,
    PollHistoryQuery,
    PollRequest,
    QueuedPollAnswer,
    StatusAnswer,
    TableQuery,
    TopologyAnswer,
    VlansAnswer,
)
from netautod.network.discovery.service import DiscoveryService


class DiscoveryHandler(JsonHandler):
    discovery: DiscoveryService

    async def table(self, device_id: str, name: str, *, limit: int | None = None) -> DiscoveredTable:
        found = self.path_id(device_id, "Device")
        return await self.discovery.table(self.caller.org_id, found, name, limit=limit)


class InterfacesHandler(DiscoveryHandler):
    @requires("devices.access", answer=InterfacesAnswer)
    async def get(self, device_id: str) -> None:
        """List the interfaces that the last poll found."""
        self.answer((await self.table(device_id, "interfaces")).to_json("interfaces"))


class NeighborsHandler(DiscoveryHandler):
    @requires("devices.access", answer=NeighborsAnswer)
    async def get(self, device_id: str) -> None:
        """List the LLDP and CDP neighbors."""
        found = await self.discovery.neighbors(self.caller.org_id, self.path_id(device_id, "Device"))
        self.answer(found.to_json("neighbors"))


class MacTableHandler(DiscoveryHandler):
    @requires("devices.access", query=TableQuery, answer=MacTableAnswer)
    async def get(self, device_id: str) -> None:
        """List the MAC address table."""
        found = await self.table(device_id, "mac", **self.query)
        self.answer({**found.to_json("entries"), **self.query})


class ArpTableHandler(DiscoveryHandler):
    @requires("devices.access", query=TableQuery, answer=ArpTableAnswer)
    async def get(self, device_id: str) -> None:
        """List the ARP table."""
        found = await self.table(device_id, "arp", **self.query)
        self.answer({**found.to_json("entries"), **self.query})


class VlansHandler(DiscoveryHandler):
    @requires("devices.access", answer=VlansAnswer)
    async def get(self, device_id: str) -> None:
        """List the VLANs."""
        self.answer((await self.table(device_id, "vlans")).to_json("vlans"))


class DeviceStatusHandler(DiscoveryHandler):
    @requires("devices.access", answer=StatusAnswer)
    async def get(self, device_id: str) -> None:
        """Read the latest status."""
        status = await self.discovery.status(self.caller.org_id, self.path_id(device_id, "Device"))
        self.answer(status.to_json())


class PollHistoryHandler(DiscoveryHandler):
    @requires("devices.access", query=PollHistoryQuery, answer=PollHistoryAnswer)
    async def get(self, device_id: str) -> None:
        """List the polls, newest first."""
        found = self.path_id(device_id, "Device")
        polls, total = await self.discovery.history(self.caller.org_id, found, **self.query)
        self.answer({"polls": [poll.to_json() for poll in polls], "total": total, **self.query})


class PollHandler(DiscoveryHandler):
    @requires("devices.access", body=PollRequest, answer=QueuedPollAnswer, status=202, repeat=Repeat.AGAIN)
    async def post(self, device_id: str) -> None:
        """Queue a poll out of turn; 503 if nothing polls, or too many polls wait.

        A repeated request while the poll waits gets the same one.
        """
        found = self.path_id(device_id, "Device")
        poll = await self.discovery.poll(self.caller, found, detect=self.body["detect"])
        self.answer({"poll_id": poll.id, "device_id": poll.device_id, "state": poll.state})


class TopologyHandler(DiscoveryHandler):
    @requires("devices.access", answer=TopologyAnswer, name="get_topology")
    async def get(self) -> None:
        """Draw the network from the neighbor tables."""
        self.answer((await self.discovery.topology(self.caller.org_id)).to_json())


class FindHandler(DiscoveryHandler):
    @requires("devices.access", query=FindQuery, answer=FindAnswer, name="find_address")
    async def get(self) -> None:
        """Find where a MAC or IP address was seen."""
        matches = await self.discovery.find(self.caller.org_id, **self.query)
        self.answer({"matches": list(matches)})


ROUTES = (
    Route(path="/api/devices/topology", handler=TopologyHandler),
    Route(path="/api/devices/find", handler=FindHandler),
    Route(path="/api/devices/:id/interfaces", handler=InterfacesHandler),
    Route(path="/api/devices/:id/neighbors", handler=NeighborsHandler),
    Route(path="/api/devices/:id/mac-table", handler=MacTableHandler),
    Route(path="/api/devices/:id/arp-table", handler=ArpTableHandler),
    Route(path="/api/devices/:id/vlans", handler=VlansHandler),
    Route(path="/api/devices/:id/status", handler=DeviceStatusHandler),
    Route(path="/api/devices/:id/poll-history", handler=PollHistoryHandler),
    Route(path="/api/devices/:id/poll", handler=PollHandler),
)
