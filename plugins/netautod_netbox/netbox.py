"""The source `netbox`: walks the device list of NetBox 3.7 to 4.x by key.

A walk by offset loses a device when one of an earlier page is deleted in between. So each page asks for the
devices with a higher id than any before.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from netautod.plugin_api import (
    IncompleteWalk,
    InventoryAccess,
    InventoryFailed,
    InventoryPage,
    InventoryProbe,
)
from netautod_netbox.api import Api, System
from netautod_netbox.device_types import DeviceTypes
from netautod_netbox.errors import ErrorStatus
from netautod_netbox.filters import NETBOX, Obedience, query_of
from netautod_netbox.limits import LARGEST_PAGE, STANDARD, Limits, PageSize
from netautod_netbox.listing import guessed_count, guessed_last_id, parse
from netautod_netbox.netbox_rows import QUERY, NetBoxPage, NetBoxRows, PlatformTree
from netautod_netbox.urls import Query, base_of

SYSTEM = System(
    name="NetBox", version_key="netbox-version", oldest=(3, 7), below=(5, 0), versions="3.7 to 4.x"
)
DEVICES = "dcim/devices"
PLATFORMS = "dcim/platforms"
MOST_PLATFORMS = 20_000  # some hundred are usual
ORDER = ("ordering", "id")
V2_TOKEN = "nbt_"

T = TypeVar("T")


class NetBoxSource:
    """An InventorySource that reads NetBox. NetBox 4.5 and later have tokens of a second kind, which begin
    with `nbt_`.
    """

    def __init__(self, access: InventoryAccess, *, limits: Limits = STANDARD) -> None:
        self._access = access
        scheme = "Bearer" if access.token.startswith(V2_TOKEN) else "Token"
        self._api = Api(access, SYSTEM, scheme=scheme, limits=limits)

    async def probe(self) -> InventoryProbe | None:
        version = await self._api.version()
        if version is None:
            return None
        rows = self._rows(PlatformTree())
        first = await self._api.first(DEVICES, self._query(), lambda body: rows.read(body, 0))
        return InventoryProbe(system=SYSTEM.name, version=version, device_count=first.count)

    async def devices(self) -> AsyncIterator[InventoryPage]:
        rows, size = self._rows(await self._platforms()), PageSize()
        async with _Prefetch() as prefetch:
            after, body = 0, await self._body(size, 0)
            left, vanished = 0, 0
            while True:
                guess = _next_after(body)
                # NetBox makes the next page while we read this one.
                following = None if guess is None else prefetch.start(self._body(size, guess))
                walked = await self._read(rows, body, after)
                vanished += max(0, left - walked.count)
                left = walked.count - walked.rows
                if left <= 0:
                    break
                if not walked.rows:
                    # A device that is deleted while the page is made, or a server that withholds the rest.
                    raise IncompleteWalk(f"NetBox counts {walked.count} more devices but does not list them")
                if following is None or guess != walked.last:
                    await prefetch.drop()
                    following = prefetch.start(self._body(size, walked.last))
                yield walked.page
                after, body = walked.last, await following
            if walked.rows:
                yield walked.page
        if vanished:
            # Perhaps deleted. But a token that loses its rights makes lists shorter too, without an error.
            raise IncompleteWalk(f"{vanished} of NetBox's devices vanished during the walk")

    async def _body(self, size: PageSize, after: int) -> bytes:
        return await self._api.body(DEVICES, (*self._query(), ("id__gt", str(after))), size)

    async def _read(self, rows: NetBoxRows, body: bytes, after: int) -> NetBoxPage:
        return await self._api.read(body, lambda found: rows.read(found, after))

    def _query(self) -> Query:
        return (ORDER, *QUERY, *query_of(self._access.filters, NETBOX))

    def _rows(self, tree: PlatformTree) -> NetBoxRows:
        return NetBoxRows(
            base_of(self._access.url),
            types=DeviceTypes(self._access.device_types, platforms=self._access.platforms),
            tree=tree,
            obedience=Obedience(self._access.filters),
        )

    async def _platforms(self) -> PlatformTree:
        """Empty for a token that may not see platforms: a platform then has no parents."""
        tree, size, listed = PlatformTree(), PageSize(), 0
        while True:
            after = tree.last
            try:
                listing = await self._api.page(
                    PLATFORMS, (ORDER, ("id__gt", str(after))), size, lambda body: parse(body, tree.add)
                )
            except ErrorStatus as error:
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
    """Guess the id after which the next page begins, without parsing the answer; None where there may be no
    next page.

    Parsing shows whether the guess was right.
    """
    count = guessed_count(body)
    return guessed_last_id(body) if count is not None and count > LARGEST_PAGE else None


class _Prefetch:
    """A request for the next page while the caller works on this one.

    However the block ends, no request is left running, and a failure that was not read is dropped.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.drop()

    async def drop(self) -> None:
        """Cancel the request that was started last, if it is not done, and drop its outcome."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a request; the one before must have been awaited or dropped."""
        task = asyncio.get_running_loop().create_task(work)
        self._task = task
        return task
