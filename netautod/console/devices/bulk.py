"""What is done with the devices that are ticked in the list, or with all of the list."""

from netautod.console.base.forms import FORM
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
TICKED, ALL = "device_ids", "all"
MOST_AT_ONCE = 100  # devices of one page, which are polled or tested while somebody waits


class BulkPage(DeviceListPage):
    """A form of the list; the query of its address is that of the list."""

    async def chosen(self) -> list[str]:
        """The devices that are meant. Raises InvalidInput where none is, or more than the API takes."""
        if not self.form.has(ALL):
            return self._ticked(MOST_IDS)
        found: list[str] = []
        async for one in self.every():
            if len(found) == MOST_IDS:
                raise InvalidInput(f"{ALL}: more than {MOST_IDS:,} devices; narrow the list first")
            found.append(one.device.id)
        return found

    def _ticked(self, most: int) -> list[str]:
        found = self.form.all(TICKED)
        if not found:
            raise InvalidInput("Tick the devices that you mean first")
        if len(found) > most:
            raise InvalidInput(f"{TICKED}: at most {most:,} at once")
        return found

    def back(self) -> str:
        """The list as it was narrowed."""
        query = self.request.query
        return f"{LIST}?{query}" if query else LIST


class PullPage(BulkPage):
    background: BackgroundPulls

    @requires(MANAGE, query=BackedUpDevicesQuery, consumes=FORM)
    async def post(self) -> None:
        """Pulls configs in the background, as an execution."""
        await self.submit(self._pull(), again=self.show_list)

    async def _pull(self) -> str:
        ids = load(BulkPullRequest(), {TICKED: await self.chosen()})[TICKED]
        started = await self.background.begin(self.caller, ids, None)
        self.tell(f"The configs of {len(ids):,} devices are being pulled")
        return f"/executions/{started['id']}" if self.caller.can(RUNS) else self.back()


class PollsPage(BulkPage):
    discovery: DiscoveryService

    @requires(READ, query=BackedUpDevicesQuery, consumes=FORM)
    async def post(self) -> None:
        """Queues a poll of each."""
        await self.submit(self._poll(), again=self.show_list)

    async def _poll(self) -> str:
        ids = [self.path_id(one, "Device") for one in self._ticked(MOST_AT_ONCE)]
        for queued, device_id in enumerate(ids):
            try:
                await self.discovery.poll(self.caller, device_id, detect=False)
            except Unavailable as error:
                if not queued:
                    raise
                self.tell(f"{queued} of {len(ids)} polls are queued. {error.text}")
                return self.back()
        self.tell(f"{len(ids)} polls are queued")
        return self.back()


class TestsPage(BulkPage):
    tests: CredentialTests

    @requires(READ, query=BackedUpDevicesQuery, consumes=FORM, grows=False)
    async def post(self) -> None:
        """Logs in to each and shows how that went."""
        await self.submit(self._test(), again=self.show_list)

    async def _test(self) -> None:
        wanted = load(LoginTestsRequest(), {TICKED: self._ticked(MOST_AT_ONCE)})
        testing = self.tests.many(self.caller, wanted[TICKED], seconds=wanted["timeout_seconds"])
        done = await self.while_connected(testing)
        self.show("devices/tests.html", title="Credential tests", tests=done, back=self.back())


class VouchPage(BulkPage):
    vouching: Vouching

    @requires(MANAGE_CREDENTIALS, query=BackedUpDevicesQuery, consumes=FORM)
    async def post(self) -> None:
        """Vouches for the addresses that they have."""
        await self.submit(self._vouch(), again=self.show_list)

    async def _vouch(self) -> str:
        ids = [self.path_id(one, "Device") for one in await self.chosen()]
        result = await self.vouching.many(self.caller, ids)
        self.tell(f"{result.count:,} devices are vouched for" + _missing(len(result.errors)))
        return self.back()


def _missing(count: int) -> str:
    return f"; {count:,} are gone" if count else ""


PAGES = (
    Route(path="/devices/pull", handler=PullPage),
    Route(path="/devices/poll", handler=PollsPage),
    Route(path="/devices/test", handler=TestsPage),
    Route(path="/devices/vouch", handler=VouchPage),
)
