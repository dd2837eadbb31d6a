"""Tools that visit devices: read-only commands behind the platform's grammar, tests of logins."""

from collections.abc import Mapping, Sequence
from typing import Any

from marshmallow import fields, validate

from netautod.automation.agents.tools.contract import Calling, DeviceArguments, DeviceFinder, Tool
from netautod.core.errors import InvalidInput
from netautod.core.schema.bases import Integer
from netautod.network.devices.operations.commands import CommandRunner
from netautod.network.devices.operations.credential_tests import CredentialTests
from netautod.network.devices.service import DeviceService
from netautod.plugin_api import ToolOutcome
from netautod.transport.ssh.platform.registry import PlatformRegistry

READ = "devices.access"


class CommandArguments(DeviceArguments):
    command = fields.String(required=True, validate=validate.Length(min=1, max=1000))
    timeout_seconds = Integer(load_default=30, validate=validate.Range(1, 120))


class VisitTools:
    def __init__(
        self,
        *,
        devices: DeviceService,
        commands: CommandRunner,
        tests: CredentialTests,
        platforms: PlatformRegistry,
    ) -> None:
        self._finder = DeviceFinder(devices)
        self._commands = commands
        self._tests = tests
        self._platforms = platforms

    def tools(self) -> Sequence[Tool]:
        return (
            Tool(
                name="run_command",
                description="Runs one command that only reads on a device, and returns what it printed. "
                "Commands that change anything, and most arguments out of the ordinary, are refused.",
                permission=READ,
                parameters=CommandArguments,
                run=self._run,
            ),
            Tool(
                name="test_credential",
                description="Logs in to a device with its own credential, and says how that went.",
                permission=READ,
                parameters=DeviceArguments,
                run=self._test,
            ),
        )

    async def _run(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        device = await self._finder.find(calling.work.org_id, arguments["device"])
        verdict = self._platforms.get(device.device_type).read_only.check(arguments["command"])
        if verdict.command is None:
            raise InvalidInput(f"the command is not allowed: {verdict.reason}")
        calling.admit(device.id)
        ran = await self._commands.run(
            calling.work, device.id, verdict.command, seconds=float(arguments["timeout_seconds"])
        )
        output = [ran.output] if ran.output else []
        if ran.error is not None:
            output.append(f"[failed: {ran.error}]")
        source = f"{verdict.command} on {device.name}"
        return ToolOutcome(text="\n".join(output) or "[no output]", source=source, ok=ran.error is None)

    async def _test(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        device = await self._finder.find(calling.work.org_id, arguments["device"])
        calling.admit(device.id)
        tested = await self._tests.one(calling.work, device.id, credential_id=None, seconds=30.0)
        return ToolOutcome(text=tested.message, source=f"login on {device.name}", ok=tested.success)
