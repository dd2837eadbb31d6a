"""Bulk actions on the devices that are selected in the list, or on the whole list."""

from netautod.console.base.forms import FORM
from netautod.console.base.words import counted
from netautod.console.devices.listing import LIST, DeviceListPage
from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.schema.bases import load
from netautod.core.schema.bounds import MOST_IDS
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.network.configs.capture.pulls import BackgroundPulls
from netautod.network.configs.schemas import BackedUpDevicesQuery, BulkPullRequest
from netautod.network.devices.operations.credential_tests import CredentialTests
from netautod.network.devices.operations.schemas import LoginTestsRequest
from netautod.network.devices.records.vouched import MANAGE_CREDENTIALS
from netautod.network.devices.vouching.service import Vouching
from netautod.network.discovery.service import DiscoveryService

READ, MANAGE, RUNS = "devices.access", "devices.manage", "tasks.operate"
SELECTED, ALL = "device_ids", "all"
MOST_AT_ONCE = 100  # devices of one page, which are polled or tested while the user waits


class BulkPage(DeviceListPage):
    """A form of the list; the query of its address is that of the list."""

    async def selected_ids(self) -> list[str]:
        """Return the ids of the selected devices.

        Raises InvalidInput if there is none, or more than the API takes.
        """
        if not self.form.has(ALL):
            return self._selected(MOST_IDS)
        found: list[str] = []
        async for one in self.every():
            if len(found) == MOST_IDS:
                raise InvalidInput(f"{ALL}: more than {MOST_IDS:,} devices; narrow the list first")
            found.append(one.device.id)
        return found

    def _selected(self, most: int) -> list[str]:
        found = self.form.all(SELECTED)
        if not found:
            raise InvalidInput("Select at least one device first")
        if len(found) > most:
            raise InvalidInput(f"{SELECTED}: at most {most:,} at once")
        return found

    def back(self) -> str:
        """Return the address of the list with its filters."""
        query = self.request.query
        return f"{LIST}?{query}" if query else LIST


class PullPage(BulkPage):
    background: BackgroundPulls

    @requires(MANAGE, query=BackedUpDevicesQuery, consumes=FORM)
    async def post(self) -> None:
        """Pull the configs in the background, as an execution."""
        await self.submit(self._pull(), again=self.show_list)

    async def _pull(self) -> str:
        ids = load(BulkPullRequest(), {SELECTED: await self.selected_ids()})[SELECTED]
        started = await self.background.begin(self.caller, ids, None)
        self.set_notice(f"Pulling the configs of {counted(len(ids), 'device')}")
        return f"/executions/{started['id']}" if self.caller.can(RUNS) else self.back()


class PollsPage(BulkPage):
    discovery: DiscoveryService

    @requires(READ, query=BackedUpDevicesQuery, consumes=FORM)
    async def post(self) -> None:
        """Queue a poll of each selected device."""
        await self.submit(self._poll(), again=self.show_list)

    async def _poll(self) -> str:
        ids = [self.path_id(one, "Device") for one in self._selected(MOST_AT_ONCE)]
        for queued, device_id in enumerate(ids):
            try:
                await self.discovery.poll(self.caller, device_id, detect=False)
            except Unavailable as error:
                if not queued:
                    raise
                self.set_notice(f"{queued} of {counted(len(ids), 'poll')} queued. {error.text}")
                return self.back()
        self.set_notice(f"{counted(len(ids), 'poll')} queued")
        return self.back()


class TestsPage(BulkPage):
    tests: CredentialTests

    @requires(READ, query=BackedUpDevicesQuery, consumes=FORM, grows=False)
    async def post(self) -> None:
        """Log in to each selected device and show the results."""
        await self.submit(self._test(), again=self.show_list)

    async def _test(self) -> None:
        wanted = load(LoginTestsRequest(), {SELECTED: self._selected(MOST_AT_ONCE)})
        testing = self.tests.many(self.caller, wanted[SELECTED], seconds=wanted["timeout_seconds"])
        done = await self.while_connected(testing)
        self.show("devices/tests.html", title="Credential tests", tests=done, back=self.back())


class VouchPage(BulkPage):
    vouching: Vouching

    @requires(MANAGE_CREDENTIALS, query=BackedUpDevicesQuery, consumes=FORM)
    async def post(self) -> None:
        """Vouch for the present addresses of the selected devices."""
        await self.submit(self._vouch(), again=self.show_list)

    async def _vouch(self) -> str:
        ids = [self.path_id(one, "Device") for one in await self.selected_ids()]
        result = await self.vouching.many(self.caller, ids)
        self.set_notice(f"Vouched for {counted(result.count, 'device')}" + _missing(len(result.errors)))
        return self.back()


def _missing(count: int) -> str:
    return f"; {counted(count, 'device')} no longer found" if count else ""


PAGES = (
    Route(path="/devices/pull", handler=PullPage),
    Route(path="/devices/poll", handler=PollsPage),
    Route(path="/devices/test", handler=TestsPage),
    Route(path="/devices/vouch", handler=VouchPage),
)
