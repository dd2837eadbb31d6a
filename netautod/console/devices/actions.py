"""The actions on one device: pull, poll, test, run a command, decide about its key, vouch for it."""

from collections.abc import Awaitable

from netautod.console.base.forms import FORM
from netautod.console.devices.details import READ, OneDevicePage
from netautod.core.errors import Conflict
from netautod.core.work.context import Work
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.network.configs.capture.pulls import Pulls
from netautod.network.devices.operations.commands import CommandRunner
from netautod.network.devices.operations.credential_tests import CredentialTests
from netautod.network.devices.operations.models import CommandReport
from netautod.network.devices.operations.schemas import CommandRequest, LoginTestRequest
from netautod.network.devices.records.vouched import MANAGE_CREDENTIALS
from netautod.network.devices.vouching.service import Vouching
from netautod.network.discovery.schemas import PollRequest

MANAGE = "devices.manage"
NO_PROMPT = "This key does not wait for a decision any more"


class ActionPage(OneDevicePage):
    async def act(self, device_id: str, work: Awaitable[str], *, tab: str = "") -> None:
        """Do the work, show its notice and go back to the device; a failure is shown on the device's page."""

        async def done() -> str:
            self.set_notice(await work)
            return f"/devices/{device_id}{tab}"

        await self.submit(done(), again=lambda: self.show_device(device_id))

    async def decide_host_key(self, device_id: str, *, approve: bool) -> str:
        """Decide about the host key whose prompt the form names, so that it is the one that was shown."""
        waiting = await self.host_keys.of(self.caller.org_id, device_id)
        if waiting is None or waiting.id != self.form.text("prompt_id"):
            raise Conflict(NO_PROMPT)
        if approve:
            prompt = await self.host_keys.approve(self.caller, waiting.id)
            return f"The host key is {prompt.fingerprint} now"
        prompt = await self.host_keys.reject(self.caller, waiting.id)
        return f"The host key stays {prompt.previous_fingerprint}"


class PullPage(ActionPage):
    pulls: Pulls

    @requires(MANAGE, consumes=FORM)
    async def post(self, device_id: str) -> None:
        """Pull the configuration now."""
        wanted = self.device_id(device_id)
        await self.act(wanted, self._pull(wanted))

    async def _pull(self, device_id: str) -> str:
        captured = await self.pulls.one(self.caller, device_id)
        version = captured.config.version
        return f"Version {version} was stored" if captured.changed else f"Unchanged since version {version}"


class PollPage(ActionPage):
    @requires(READ, consumes=FORM)
    async def post(self, device_id: str) -> None:
        """Queue a poll ahead of the schedule."""
        wanted = self.device_id(device_id)
        await self.act(wanted, self._poll(wanted), tab="?tab=polls")

    async def _poll(self, device_id: str) -> str:
        options = self.form.values(PollRequest())
        await self.discovery.poll(self.caller, device_id, **options)
        return "A poll is queued"


class TestPage(ActionPage):
    tests: CredentialTests

    @requires(READ, consumes=FORM, grows=False)
    async def post(self, device_id: str) -> None:
        """Log in with the device's credential and show the result."""
        wanted, options = self.device_id(device_id), self.form.values(LoginTestRequest())
        testing = self.tests.one(
            Work(caller=self.caller), wanted, credential_id=None, seconds=options["timeout_seconds"]
        )
        await self.show_device(wanted, test=await self.while_connected(testing))


class CommandPage(OneDevicePage):
    commands: CommandRunner

    @requires(MANAGE)
    async def get(self, device_id: str) -> None:
        """Show the form of a command."""
        await self._form(self.device_id(device_id))

    @requires(MANAGE, consumes=FORM, grows=False)
    async def post(self, device_id: str) -> None:
        """Run one command and show its output."""
        wanted = self.device_id(device_id)
        await self.submit(self._run(wanted), again=lambda: self._form(wanted))

    async def _run(self, device_id: str) -> None:
        options = self.form.values(CommandRequest())
        work = Work(caller=self.caller)
        running = self.commands.run(work, device_id, options["command"], seconds=options["timeout_secs"])
        await self._form(device_id, await self.while_connected(running))

    async def _form(self, device_id: str, report: CommandReport | None = None) -> None:
        device = await self.devices.get(self.caller.org_id, device_id)
        title = f"Run a command on {device.name}"
        self.show("devices/command.html", title=title, device=device, report=report)


class VouchPage(ActionPage):
    vouching: Vouching

    @requires(MANAGE_CREDENTIALS, consumes=FORM)
    async def post(self, device_id: str) -> None:
        """Allow the device's secrets to be sent to its present address."""
        wanted = self.device_id(device_id)
        await self.act(wanted, self._vouch(wanted))

    async def _vouch(self, device_id: str) -> str:
        device = await self.vouching.one(self.caller, device_id)
        return f"The credentials of {device.name} may go to {device.host} port {device.port}"


class ApproveKeyPage(ActionPage):
    @requires(MANAGE_CREDENTIALS, consumes=FORM, grows=False)
    async def post(self, device_id: str) -> None:
        """Pin the key that the device shows now."""
        wanted = self.device_id(device_id)
        await self.act(wanted, self.decide_host_key(wanted, approve=True))


class RejectKeyPage(ActionPage):
    @requires(MANAGE_CREDENTIALS, consumes=FORM, grows=False)
    async def post(self, device_id: str) -> None:
        """Keep the pinned key."""
        wanted = self.device_id(device_id)
        await self.act(wanted, self.decide_host_key(wanted, approve=False))


class ResetKeyPage(ActionPage):
    @requires(MANAGE_CREDENTIALS, consumes=FORM, grows=False)
    async def post(self, device_id: str) -> None:
        """Forget the pinned key."""
        wanted = self.device_id(device_id)
        await self.act(wanted, self._reset(wanted))

    async def _reset(self, device_id: str) -> str:
        await self.devices.reset_host_key(self.caller, device_id)
        return "The host key is forgotten; the next login pins the one that the device shows then"


class ForgetNoisePage(ActionPage):
    @requires(MANAGE, consumes=FORM, grows=False)
    async def post(self, device_id: str) -> None:
        """Forget the lines that were learned to change by themselves."""
        wanted = self.device_id(device_id)
        await self.act(wanted, self._forget(wanted))

    async def _forget(self, device_id: str) -> str:
        await self.configs.forget_noise(self.caller, device_id)
        return "What was learned about lines that change by themselves is forgotten"


PAGES = (
    Route(path="/devices/:id/pull", handler=PullPage),
    Route(path="/devices/:id/poll", handler=PollPage),
    Route(path="/devices/:id/test", handler=TestPage),
    Route(path="/devices/:id/command", handler=CommandPage),
    Route(path="/devices/:id/vouch", handler=VouchPage),
    Route(path="/devices/:id/host-key/approve", handler=ApproveKeyPage),
    Route(path="/devices/:id/host-key/reject", handler=RejectKeyPage),
    Route(path="/devices/:id/host-key/reset", handler=ResetKeyPage),
    Route(path="/devices/:id/noise/forget", handler=ForgetNoisePage),
)
