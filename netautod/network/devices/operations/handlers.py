"""The routes of what is done on a device now: commands, tests of logins, the reset of a host key.

The work ends with the connection of the client: a session whose client is gone is closed.
"""

from netautod.core.work.context import Work
from netautod.http.access import Repeat, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.network.devices.operations.commands import CommandRunner
from netautod.network.devices.operations.credential_tests import CredentialTests
from netautod.network.devices.operations.schemas import (
    CommandAnswer,
    CommandRequest,
    LoginTestAnswer,
    LoginTestRequest,
    LoginTestsAnswer,
    LoginTestsRequest,
)
from netautod.network.devices.service import DeviceService

PIECE = 500  # results that are encoded at a time; ten thousand at once would stop everybody else


class ExecCommandHandler(JsonHandler):
    commands: CommandRunner

    @requires(
        "devices.manage",
        body=CommandRequest,
        answer=CommandAnswer,
        grows=False,
        name="run_device_command",
        repeat=Repeat.NEVER,
    )
    async def post(self, device_id: str) -> None:
        """Run one command on a device and answer what it printed."""
        running = self.commands.run(
            Work(caller=self.caller),
            self.path_id(device_id, "Device"),
            self.body["command"],
            seconds=self.body["timeout_secs"],
        )
        self.answer((await self.while_connected(running)).to_json())


class TestCredentialHandler(JsonHandler):
    tests: CredentialTests

    @requires(
        "devices.access",
        body=LoginTestRequest,
        answer=LoginTestAnswer,
        grows=False,
        name="test_device_credential",
        repeat=Repeat.AGAIN,
    )
    async def post(self, device_id: str) -> None:
        """Log in to a device and report the result."""
        testing = self.tests.one(
            Work(caller=self.caller),
            self.path_id(device_id, "Device"),
            credential_id=self.body.get("credential_id"),
            seconds=self.body["timeout_seconds"],
        )
        self.answer((await self.while_connected(testing)).to_json())


class TestCredentialsHandler(JsonHandler):
    tests: CredentialTests

    @requires(
        "devices.access",
        body=LoginTestsRequest,
        answer=LoginTestsAnswer,
        grows=False,
        name="test_device_credentials",
        repeat=Repeat.AGAIN,
    )
    async def post(self) -> None:
        """Log in to many devices; without device_ids to every device."""
        seconds = self.body["timeout_seconds"]
        testing = self.tests.many(self.caller, self.body["device_ids"], seconds=seconds)
        tests = await self.while_connected(testing)
        self.answer({**tests.totals(), "results": [test.to_json() for test in tests.results]})


class ResetHostKeyHandler(JsonHandler):
    devices: DeviceService

    @requires("credentials.manage", status=204, grows=False)
    async def post(self, device_id: str) -> None:
        """Forget the pinned host key; the next login pins the one that the device shows then."""
        await self.devices.reset_host_key(self.caller, self.path_id(device_id, "Device"))
        self.answer_nothing()


ROUTES = (
    Route(path="/api/devices/bulk/test-credentials", handler=TestCredentialsHandler),
    Route(path="/api/devices/:id/exec-command", handler=ExecCommandHandler),
    Route(path="/api/devices/:id/host-key/reset", handler=ResetHostKeyHandler),
    Route(path="/api/devices/:id/test-credential", handler=TestCredentialHandler),
)
