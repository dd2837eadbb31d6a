"""Reads an external inventory through the plugins: which of them knows it, and what devices it has.

All that a plugin says and raises is checked here; no text that leaves this module holds the token.
"""

import asyncio
import logging
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from netautod.core.errors import InvalidInput, NetautodError, UpstreamFailed
from netautod.core.json import values as json_values
from netautod.core.work.answers import ANSWER_SECONDS
from netautod.core.work.plugin_calls import no_exit
from netautod.network.inventory.models import RemoteInventory
from netautod.network.inventory.settings import InventorySettings, device_types
from netautod.network.inventory.sync import desired as rules
from netautod.network.inventory.sync.digests import BoundDevices
from netautod.network.inventory.sync.models import Progress, SyncError, Walk
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
from netautod.transport.outbound.client import GuardedClient
from netautod.transport.outbound.errors import AddressRefused

logger = logging.getLogger(__name__)
UNKNOWN = "no inventory system that netautod knows answers there"
LONGEST_NAME = 255
SLICE = 100  # devices that are checked in one go on the event loop


class InventoryReader:
    """A reader of inventories. `openers`: the plugins' sources by name, in the order in which they are tried.

    `platforms`: the device type of each slug that a platform is known by.
    """

    def __init__(
        self,
        openers: Mapping[str, OpenInventory],
        *,
        platforms: Mapping[str, str],
        http: GuardedClient,
        settings: InventorySettings,
    ) -> None:
        self._openers = openers
        self._platforms = platforms
        self._http = http
        self._settings = settings
        self._device_types = device_types(settings)

    async def probe(self, remote: RemoteInventory) -> InventoryProbe:
        """Probe an inventory. Raises AddressRefused (400) for a URL that the caller named, else
        UpstreamFailed (502).
        """
        async with _bounded(min(self._settings.test_seconds, ANSWER_SECONDS)), _translated(remote):
            return (await self._recognised(remote))[1]

    async def walk(self, remote: RemoteInventory, bound: BoundDevices, progress: Progress) -> Walk:
        """Read everything that the filters match. Raises as `probe` does."""
        walk = Walk()
        missing, nameless = None, 0
        async with _bounded(self._settings.test_seconds), _translated(remote):
            source, probe = await self._recognised(remote)
        async with _translated(remote):
            try:
                async with _closing(source.devices()) as pages:
                    async for page in pages:
                        nameless += await self._add(walk, page, bound, remote.token)
                        progress("read", len(walk.seen), probe.device_count)
            except IncompleteWalk as error:
                missing = _without(remote.token, error.text)
        if nameless and missing is None:
            missing = f"{nameless} devices of the inventory have no id that can be kept"
        return replace(walk, missing=missing)

    async def _recognised(self, remote: RemoteInventory) -> tuple[InventorySource, InventoryProbe]:
        await self._http.check(remote.url)
        access = InventoryAccess(
            org_id=remote.org_id,
            url=remote.url.rstrip("/"),
            token=remote.token,
            verify_ssl=remote.verify_ssl,
            filters=remote.filters,
            platforms=self._platforms,
            device_types=self._device_types,
            http=self._http,
        )
        for open_source in self._openers.values():
            source = open_source(access)
            found = await source.probe()
            if found is not None:
                return source, found
        raise UpstreamFailed(UNKNOWN)

    async def _add(self, walk: Walk, page: InventoryPage, bound: BoundDevices, token: str) -> int:
        """Add a page to the walk; return how many of its devices have no usable id.

        With any of those it is unknown which devices are gone.
        """
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
            digest = bound.digest(device)
            if bound.is_unchanged(device.external_id, digest):
                walk.unchanged.append(bound.by_id[device.external_id])
                continue
            try:
                walk.desired.append(rules.desired_device(device, digest))
            except InvalidInput as error:
                walk.problems.append(_problem(device, error.text))
        if len(walk.desired) + len(walk.unchanged) + len(walk.problems) > self._settings.max_devices:
            raise UpstreamFailed(
                f"the inventory has more than {self._settings.max_devices} devices for these filters"
                " (setting inventory.max_devices)"
            )
        return nameless


@asynccontextmanager
async def _closing(pages: AsyncIterator[InventoryPage]) -> AsyncIterator[AsyncIterator[InventoryPage]]:
    """Close a generator that is left in the middle; it would otherwise end whenever it is collected."""
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
    """Return the problem with a name and number that can be kept, whatever the inventory says."""
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
async def _translated(remote: RemoteInventory) -> AsyncIterator[None]:
    """Turn whatever a plugin raises into a NetautodError, without the token."""
    try:
        with no_exit():
            yield
    except AddressRefused as error:
        text = _without(remote.token, error.text)
        if remote.named_now:
            raise AddressRefused(f"inventory_url: {text}") from error
        raise UpstreamFailed(text) from error
    except InventoryFailed as error:
        raise UpstreamFailed(_without(remote.token, error.text)) from error
    except UpstreamFailed as error:
        raise UpstreamFailed(_without(remote.token, error.text)) from error
    except NetautodError:
        raise
    except Exception as error:  # a plugin may fail in any way
        trace = "".join(traceback.format_exception(error))
        logger.error("an inventory plugin failed:\n%s", _without(remote.token, trace))
        raise UpstreamFailed("the inventory could not be read: its plugin failed") from error


def _without(token: str, text: str) -> str:
    return text.replace(token, "***") if token else text
