"""One inventory at the other end of the network, read through the plugins: who knows it, what it has.

All that a plugin says and raises is checked here; no text that leaves this module holds the token.
"""

import asyncio
import logging
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from netautod.core import json_values
from netautod.core.errors import InvalidInput, NetautodError, UpstreamFailed
from netautod.devices.bindings.models import BoundDevice
from netautod.inventory.models import SyncError
from netautod.inventory.settings import InventorySettings, device_types
from netautod.inventory.sync import target as rules
from netautod.inventory.sync.target import Wanted
from netautod.inventory.sync.unchanged import Settled
from netautod.outbound.client import GuardedClient
from netautod.outbound.errors import AddressRefused
from netautod.plugin_api.inventory import (
    IncompleteWalk,
    InventoryAccess,
    InventoryFailed,
    InventoryPage,
    InventoryProbe,
    InventorySource,
    OpenInventory,
    RemoteDevice,
    RemoteProblem,
)

logger = logging.getLogger(__name__)
UNKNOWN = "no inventory system that netautod knows answers there"
LONGEST_NAME = 255
SLICE = 100  # devices that are checked in one go on the event loop

Progress = Callable[[str, int, int | None], None]
"""Called with a phase (`read` or `apply`), how many devices are done, and how many there are if known."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A far end and what of it is wanted. `named_now`: the caller of the request named the URL himself."""

    url: str
    token: str = field(repr=False)
    verify_ssl: bool
    filters: Mapping[str, Any]
    named_now: bool


@dataclass(frozen=True, kw_only=True)
class Walk:
    """What was read. `seen`: every external id, importable or not. `missing`: why devices may be missing.

    `settled` are the devices here that are described as they are; they are not `wanted`.
    """

    wanted: list[Wanted] = field(default_factory=list)
    problems: list[SyncError] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    settled: list[BoundDevice] = field(default_factory=list)
    missing: str | None = None


class FarEnds:
    """`openers`: the plugins' sources by name, in the order in which a far end is shown to them."""

    def __init__(
        self, openers: Mapping[str, OpenInventory], *, http: GuardedClient, settings: InventorySettings
    ) -> None:
        self._openers = openers
        self._http = http
        self._settings = settings
        self._device_types = device_types(settings)

    async def probe(self, place: Place) -> InventoryProbe:
        """Raises AddressRefused (400) for a URL that the caller named, else UpstreamFailed (502)."""
        async with _bounded(self._settings.test_seconds), _translated(place):
            return (await self._known(place))[1]

    async def walk(self, place: Place, settled: Settled, progress: Progress) -> Walk:
        """Everything that the filters match. Raises as `probe` does."""
        walk = Walk()
        missing, nameless = None, 0
        async with _bounded(self._settings.test_seconds), _translated(place):
            source, probe = await self._known(place)
        async with _translated(place):
            try:
                async with _closing(source.devices()) as pages:
                    async for page in pages:
                        nameless += await self._add(walk, page, settled, place.token)
                        progress("read", len(walk.seen), probe.device_count)
            except IncompleteWalk as error:
                missing = _without(place.token, error.text)
        if nameless and missing is None:
            missing = f"{nameless} devices of the inventory have no id that can be kept"
        return replace(walk, missing=missing)

    async def _known(self, place: Place) -> tuple[InventorySource, InventoryProbe]:
        await self._http.check(place.url)
        access = InventoryAccess(
            url=place.url.rstrip("/"),
            token=place.token,
            verify_ssl=place.verify_ssl,
            filters=place.filters,
            device_types=self._device_types,
            http=self._http,
        )
        for open_source in self._openers.values():
            source = open_source(access)
            found = await source.probe()
            if found is not None:
                return source, found
        raise UpstreamFailed(UNKNOWN)

    async def _add(self, walk: Walk, page: InventoryPage, settled: Settled, token: str) -> int:
        """Answers how many devices have no id that can be compared with those here: who knows which are
        gone then?"""
        nameless = 0
        for problem in page.problems:
            if _has_id(problem):
                walk.seen.add(problem.external_id)
            else:
                nameless += 1
            walk.problems.append(_problem(problem, _without(token, problem.error)))
        for position, device in enumerate(page.devices):
            if position % SLICE == SLICE - 1:
                await asyncio.sleep(0)
            if not _has_id(device):
                nameless += 1
                walk.problems.append(_problem(device, "external_id: no text that can be kept"))
                continue
            if device.external_id in walk.seen:
                continue
            walk.seen.add(device.external_id)
            digest = settled.digest(device)
            if settled.has(device.external_id, digest):
                walk.settled.append(settled.bound[device.external_id])
                continue
            try:
                walk.wanted.append(rules.wanted(device, digest))
            except InvalidInput as error:
                walk.problems.append(_problem(device, error.text))
        if len(walk.wanted) + len(walk.settled) + len(walk.problems) > self._settings.max_devices:
            raise UpstreamFailed(
                f"the inventory has more than {self._settings.max_devices} devices for these filters"
                " (setting inventory.max_devices)"
            )
        return nameless


@asynccontextmanager
async def _closing(pages: AsyncIterator[InventoryPage]) -> AsyncIterator[AsyncIterator[InventoryPage]]:
    """A generator that is left in the middle would otherwise end whenever it is collected."""
    try:
        yield pages
    finally:
        if isinstance(pages, AsyncGenerator):
            await pages.aclose()


def _has_id(device: RemoteDevice | RemoteProblem) -> bool:
    try:
        return isinstance(device.external_id, str) and bool(rules.external_id(device.external_id))
    except InvalidInput:
        return False


def _problem(device: RemoteDevice | RemoteProblem, error: str) -> SyncError:
    """With a name and number that can be kept, whatever the far end says."""
    number, name = device.inventory_id, device.name
    kept = type(number) is int and 0 <= number <= json_values.INT64_MAX
    shown = name.encode(errors="replace").decode()[:LONGEST_NAME] if isinstance(name, str) else None
    return SyncError(
        inventory_id=number if kept else None, name=shown, error=error.encode(errors="replace").decode()[:500]
    )


@asynccontextmanager
async def _bounded(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise UpstreamFailed(f"no complete answer within {seconds:g} seconds") from error


@asynccontextmanager
async def _translated(place: Place) -> AsyncIterator[None]:
    """Whatever a plugin raises becomes an error of ours, without the token."""
    try:
        yield
    except AddressRefused as error:
        text = _without(place.token, error.text)
        if place.named_now:
            raise AddressRefused(f"inventory_url: {text}") from error
        raise UpstreamFailed(text) from error
    except InventoryFailed as error:
        raise UpstreamFailed(_without(place.token, error.text)) from error
    except UpstreamFailed as error:
        raise UpstreamFailed(_without(place.token, error.text)) from error
    except NetautodError:
        raise
    except Exception as error:  # a plugin may fail in any way
        trace = "".join(traceback.format_exception(error))
        logger.error("an inventory plugin failed:\n%s", _without(place.token, trace))
        raise UpstreamFailed("the inventory could not be read: its plugin failed") from error


def _without(token: str, text: str) -> str:
    return text.replace(token, "***") if token else text
