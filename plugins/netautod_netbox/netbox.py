"""The source `netbox`: walks the device list of NetBox 3.7 to 4.x by key.

A walk by offset loses a device when one of an earlier page is deleted in between. So each page asks for the
devices with a higher id than any before.
"""

from collections.abc import AsyncIterator

from netautod.plugin_api import (
    IncompleteWalk,
    InventoryAccess,
    InventoryFailed,
    InventoryPage,
    InventoryProbe,
)
from netautod_netbox.address import Query, base_of
from netautod_netbox.ahead import Ahead
from netautod_netbox.device_types import DeviceTypes
from netautod_netbox.errors import Refused
from netautod_netbox.far_end import FarEnd, System
from netautod_netbox.filters import NETBOX, Obedience, query_of
from netautod_netbox.listing import guessed_count, guessed_last_id, parse
from netautod_netbox.netbox_rows import QUERY, NetBoxRows, PlatformTree, Walked
from netautod_netbox.pace import LARGEST_PAGE, STANDARD, Pace, PageSize

SYSTEM = System(
    name="NetBox", version_key="netbox-version", oldest=(3, 7), below=(5, 0), versions="3.7 to 4.x"
)
DEVICES = "dcim/devices"
PLATFORMS = "dcim/platforms"
MOST_PLATFORMS = 20_000  # some hundred are usual
ORDER = ("ordering", "id")
V2_TOKEN = "nbt_"


class NetBoxSource:
    """See InventorySource. NetBox 4.5 and later have tokens of a second kind, which begin with `nbt_`."""

    def __init__(self, access: InventoryAccess, *, pace: Pace = STANDARD) -> None:
        self._access = access
        scheme = "Bearer" if access.token.startswith(V2_TOKEN) else "Token"
        self._far_end = FarEnd(access, SYSTEM, scheme=scheme, pace=pace)

    async def probe(self) -> InventoryProbe | None:
        version = await self._far_end.version()
        if version is None:
            return None
        rows = self._rows(PlatformTree())
        first = await self._far_end.first(DEVICES, self._query(), lambda body: rows.read(body, 0))
        return InventoryProbe(system=SYSTEM.name, version=version, device_count=first.count)

    async def devices(self) -> AsyncIterator[InventoryPage]:
        rows, size = self._rows(await self._platforms()), PageSize()
        async with Ahead() as ahead:
            after, body = 0, await self._body(size, 0)
            left, vanished = 0, 0
            while True:
                guess = _next_after(body)
                # NetBox makes the next page while we read this one.
                following = None if guess is None else ahead.start(self._body(size, guess))
                walked = await self._read(rows, body, after)
                vanished += max(0, left - walked.count)
                left = walked.count - walked.rows
                if left <= 0:
                    break
                if not walked.rows:
                    # A device that is deleted while the page is made, or a server that withholds the rest.
                    raise IncompleteWalk(f"NetBox counts {walked.count} more devices but does not list them")
                if following is None or guess != walked.last:
                    await ahead.forget()
                    following = ahead.start(self._body(size, walked.last))
                yield walked.page
                after, body = walked.last, await following
            if walked.rows:
                yield walked.page
        if vanished:
            # Deleted perhaps. But a token that loses its rights makes lists shorter too, and nothing says so.
            raise IncompleteWalk(f"{vanished} of NetBox's devices vanished during the walk")

    async def _body(self, size: PageSize, after: int) -> bytes:
        return await self._far_end.body(DEVICES, (*self._query(), ("id__gt", str(after))), size)

    async def _read(self, rows: NetBoxRows, body: bytes, after: int) -> Walked:
        return await self._far_end.read(body, lambda found: rows.read(found, after))

    def _query(self) -> Query:
        return (ORDER, *QUERY, *query_of(self._access.filters, NETBOX))

    def _rows(self, tree: PlatformTree) -> NetBoxRows:
        return NetBoxRows(
            base_of(self._access.url),
            types=DeviceTypes(self._access.device_types),
            tree=tree,
            obedience=Obedience(self._access.filters),
        )

    async def _platforms(self) -> PlatformTree:
        """Empty for a token that may not see platforms: then devices are known by their own one alone."""
        tree, size, listed = PlatformTree(), PageSize(), 0
        while True:
            after = tree.last
            try:
                listing = await self._far_end.page(
                    PLATFORMS, (ORDER, ("id__gt", str(after))), size, lambda body: parse(body, tree.add)
                )
            except Refused as error:
                if error.status == 403:
                    return tree
                raise
            if listing.rows >= listing.count:
                return tree
            if tree.last <= after:
                raise InventoryFailed("NetBox lists the same platforms again and again")
            listed += listing.rows
            if listed > MOST_PLATFORMS:
                raise InventoryFailed(f"NetBox lists more than {MOST_PLATFORMS} platforms")


def _next_after(body: bytes) -> int | None:
    """The id after which the next page begins, as far as the answer shows it at a glance; None where
    there may be none. Who parses the answer sees whether it is right."""
    count = guessed_count(body)
    return guessed_last_id(body) if count is not None and count > LARGEST_PAGE else None
