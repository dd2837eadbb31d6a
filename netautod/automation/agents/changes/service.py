"""The tool that sends lines of configuration to a device, once exactly these lines are approved.

Before the approval the device is only read: its configuration is captured, and the effect of the lines is
computed. Afterwards it is captured again, the lines are sent, and it is captured once more: the comparison of
the two is the result.
"""

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from typing import Any

from marshmallow import ValidationError, fields, validate

from netautod.activity.audit.service import AuditLog
from netautod.automation.agents.approvals import CHANGED, UNKNOWN
from netautod.automation.agents.changes.prediction import predicted
from netautod.automation.agents.tools.configs import Configs
from netautod.automation.agents.tools.contract import Calling, DeviceArguments, DeviceFinder, Tool
from netautod.core.errors import InvalidInput, NetautodError
from netautod.core.schema.bases import Boolean, ShortList
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.models import Device
from netautod.network.devices.service import DeviceService
from netautod.network.devices.sessions.login_paths import Leg
from netautod.network.devices.sessions.service import DeviceSessions
from netautod.plugin_api import DeviceFailed, PermanentFailure, ToolOutcome, ToolPlan
from netautod.secrets.redaction.commands import shown_command
from netautod.transport.ssh.config_change import ChangeReport, change
from netautod.transport.ssh.platform.model import ConfigChange

READ = "devices.access"
MANAGE = "devices.manage"
MOST_LINES = 500
SECONDS = 240.0


def one_line(text: str) -> None:
    # Invisible characters and those that turn the direction of reading are refused, too: approvers see what
    # is sent.
    if not text.isprintable() or not text.strip():
        raise ValidationError("A line has printable characters, and at least one that is no blank.")


class ChangeArguments(DeviceArguments):
    lines = ShortList(
        fields.String(validate=[validate.Length(min=1, max=500), one_line]),
        most=MOST_LINES,
        required=True,
        metadata={"description": "The lines, as they are typed in the configuration mode, in their order."},
    )
    save = Boolean(
        load_default=False,
        metadata={"description": "Whether the configuration is also stored for the next start."},
    )
    reason = fields.String(
        load_default="", validate=validate.Length(max=2000), metadata={"description": "Shown to approvers."}
    )


class ConfigChanges:
    def __init__(
        self,
        *,
        devices: DeviceService,
        credentials: CredentialService,
        sessions: DeviceSessions,
        configs: Configs,
        audit: AuditLog,
    ) -> None:
        self._devices = devices
        self._credentials = credentials
        self._sessions = sessions
        self._configs = configs
        self._audit = audit
        self._finder = DeviceFinder(devices)

    def tools(self) -> Sequence[Tool]:
        return (
            Tool(
                name="change_config",
                description="Sends lines of configuration to a device. A person has to approve exactly these "
                "lines first; the run waits for that. The result is what changed.",
                permission=MANAGE,
                kind="write",
                parameters=ChangeArguments,
                run=self._change,
                planned=self._plan,
                bound=self.bound,
            ),
        )

    async def _plan(self, arguments: Mapping[str, Any], calling: Calling) -> ToolPlan:
        device, how = await self._changeable(arguments, calling)
        kept = arguments["save"] or how.stores(arguments["lines"])
        calling.admit(device.id)
        taken = await calling.acting.capture_config(device.id)
        # Bound after the visit, because the first visit pins the device's key.
        bound = await self.bound(arguments, calling)
        stored = await self._configs.read(calling.work.caller, device.id, taken.version, secrets=False)
        after = predicted(stored.text, arguments["lines"], negation=how.negation)
        names = (f"version {taken.version}", "with these lines, as computed")
        found = unified_diff(stored.text.split("\n"), after.split("\n"), *names, lineterm="")
        return ToolPlan(
            request={
                "text": _sentence(device, len(arguments["lines"]), kept=kept),
                "reason": arguments["reason"],
                "lines": list(arguments["lines"]),
                "save": kept,
                "diff": "\n".join(found),
                "devices": [{"id": device.id, "name": device.name}],
                "targets": bound["targets"],
            },
            bound=bound,
        )

    async def bound(self, arguments: Mapping[str, Any], calling: Calling) -> Mapping[str, Any]:
        """Return the targets that the lines would be sent to now, without contacting the device."""
        device, _ = await self._changeable(arguments, calling)
        return await self._bound(device, arguments, calling)

    async def _changeable(
        self, arguments: Mapping[str, Any], calling: Calling
    ) -> tuple[Device, ConfigChange]:
        device = await self._finder.find(calling.work.org_id, arguments["device"])
        platform = self._sessions.platforms.get(device.device_type)
        how = platform.change
        if how is None:
            raise InvalidInput(f"changes are not supported on devices of the type {device.device_type}")
        if not arguments["lines"]:
            raise InvalidInput("lines: there are none")
        how.lines.check(arguments["lines"])
        if how.keeps and not arguments["save"]:
            raise InvalidInput(f"save: on {platform.name} a change is always kept: it must be true")
        if arguments["save"] and not how.keeps and not how.save:
            raise InvalidInput(f"save: storing the configuration is not supported on {platform.name}")
        return device, how

    async def _bound(
        self, device: Device, arguments: Mapping[str, Any], calling: Calling
    ) -> Mapping[str, Any]:
        way, jump = list[dict[str, Any]](), device
        credential = await self._credentials.usable(
            calling.work.org_id, override=None, device_default=device.default_credential_id
        )
        way.append(_target(device, credential.id))
        while jump.jump_device_id is not None and len(way) < 10:
            jump = await self._devices.get(calling.work.org_id, jump.jump_device_id)
            hop = await self._credentials.usable(
                calling.work.org_id, override=None, device_default=jump.default_credential_id
            )
            way.append(_target(jump, hop.id))
        return {"targets": way, "lines": list(arguments["lines"]), "save": arguments["save"]}

    async def _change(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        device, _ = await self._changeable(arguments, calling)
        calling.admit(device.id)
        before = await calling.acting.capture_config(device.id)
        await self._report_lines(device, arguments, calling)
        report = await self._sent(device, arguments, calling)
        text = [*_report_lines(report), *await self._compared(device, before.version, calling)]
        return ToolOutcome(text="\n".join(text), source=f"change of {device.name}", ok=report.refused is None)

    async def _report_lines(self, device: Device, arguments: Mapping[str, Any], calling: Calling) -> None:
        calling.work.guard()
        work = calling.work
        details = {
            "device_name": device.name,
            "lines": [shown_command(line) for line in arguments["lines"]],
            "save": arguments["save"],
            **work.audit_details,
        }
        await self._audit.record(work.caller, "device.change", "device", device.id, details)

    async def _sent(self, device: Device, arguments: Mapping[str, Any], calling: Calling) -> ChangeReport:
        scope = self._sessions.scope(calling.work, seconds=SECONDS, device_id=device.id)
        report: ChangeReport | None = None
        sending = False
        await calling.writing(True)
        try:
            async with scope.open(device.id) as opened:
                if targets_of(opened.legs) != calling.approved.get("targets"):
                    # The device was edited since the approval was compared: this session has looked up its
                    # login path anew.
                    report = ChangeReport(answers=(), refused=f"{CHANGED}.", in_force=False, saved=False)
                else:
                    sending = True
                    report = await change(opened.session, arguments["lines"], save=arguments["save"])
        except DeviceFailed as failure:
            await calling.writing(False)
            if report is not None:  # only the close of the session failed
                return report
            if not sending or failure.kind == "refused_command":  # before the first line
                return ChangeReport(answers=(), refused=failure.text, in_force=False, saved=False)
            raise PermanentFailure(f"{UNKNOWN}: {device.name}: {failure.text}") from failure
        except NetautodError:
            if not sending:
                await calling.writing(False)
            raise
        # Not when the run is ended in the middle of it: then the result is unknown.
        await calling.writing(False)
        return report

    async def _compared(self, device: Device, before: int, calling: Calling) -> list[str]:
        """Return the difference on the device; a configuration that cannot be read now does not undo the
        change.
        """
        try:
            after = await calling.acting.capture_config(device.id)
            if not after.changed:
                return ["The configuration reads as before."]
            # What a model and approvers read has no tokens, whatever the owner of the run may see.
            reader = calling.work.caller.within((READ,))
            found = await self._configs.diff(reader, device.id, before, after.version, secrets=False)
        except (DeviceFailed, NetautodError) as failure:
            return [f"The configuration could not be read afterwards: {failure.text}"]
        return [f"The configuration is now version {after.version}:", found.text]


def targets_of(legs: Sequence[Leg]) -> list[dict[str, Any]]:
    """Return the targets of a session as an approval is bound to them: the device first, then the jump
    devices.
    """
    return [_target(leg.device, leg.credential_id) for leg in reversed(legs)]


def _target(device: Device, credential_id: str) -> dict[str, Any]:
    return {
        "device_id": device.id,
        "host": device.host,
        "port": device.port,
        "protocol": device.protocol,
        "device_type": device.device_type,
        "jump_device_id": device.jump_device_id,
        "credential_id": credential_id,
        "host_key_fingerprint": device.host_key_fingerprint,
    }


def _sentence(device: Device, count: int, *, kept: bool) -> str:
    fate = "and store it for the next start" if kept else "without storing it"
    what = "one line" if count == 1 else f"{count} lines"
    return f"Send {what} of configuration to {device.name}, {fate}"


def _report_lines(report: ChangeReport) -> list[str]:
    output = [f"{one.line}: {one.output.strip()}" for one in report.answers if one.output.strip()]
    if report.refused is None:
        saved = " and stored for the next start" if report.saved else ""
        return [f"All lines were taken{saved}.", *output]
    state = "The lines before it are in force." if report.in_force else "Nothing is in force."
    return [f"{report.refused} {state}", *output]
