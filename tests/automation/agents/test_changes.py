"""The tool that changes configurations, on real sessions with simulated devices."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from marshmallow import ValidationError

from netautod.automation.agents.changes.service import ChangeArguments, ConfigChanges
from netautod.automation.agents.tools.contract import Calling
from netautod.core.errors import InvalidInput
from netautod.plugin_api import PermanentFailure
from netautod.testing import SimulatedDevice, ios_script
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from tests.network.configs.fleet import Fleet

LINES = ["ntp server 192.0.2.99"]
FIRST = {
    **dict.fromkeys(("cisco_ios", "cisco_nxos", "arista_eos", "cisco_asa"), "hostname sw1"),
    **dict.fromkeys(("vyos", "juniper_junos"), "set system host-name sw1"),
}
STORING_PLATFORM = """
name = "acme_os"
channel = "shell"
sources = ["a made-up vendor"]
[prompts]
privileged = '(?P<host>[\\w.\\-]{1,64})#\\s*$'
config = '(?P<host>[\\w.\\-]{1,64})\\([\\w\\-]+\\)#\\s*$'
[session]
capture_mode = "privileged"
[capture]
items = [{ command = "show running-config" }]
[change]
enter = ["configure terminal"]
leave = ["end"]
save = ["keep all"]
[change.lines]
words = ["ntp", "keep all"]
"""


async def nothing() -> None:
    pass


@dataclass(kw_only=True)
class Change:
    """A call of the tool, as the desk makes it."""

    fleet: Fleet
    call_id: str = "c1"
    execution_id: str = field(default_factory=lambda: str(uuid4()))
    admitted: list[str] = field(default_factory=list)
    marks: list[tuple[bool, int]] = field(default_factory=list)
    device: SimulatedDevice | None = None
    meanwhile: Callable[[], Awaitable[None]] = nothing

    def __post_init__(self) -> None:
        parts = self.fleet.parts
        self.changes = ConfigChanges(
            devices=parts.devices.devices,
            credentials=parts.devices.credentials,
            sessions=self.fleet.sessions,
            configs=parts.configs.service,
            audit=self.fleet.installation.audit,
        )
        [self.tool] = self.changes.tools()

    def calling(self, approved: Mapping[str, Any] | None = None) -> Calling:
        work = self.fleet.work(bulk=True, execution_id=self.execution_id)
        return Calling(
            work=work,
            acting=self.fleet.acting(),
            http=GuardedClient(AddressRules()),
            admitted=self.admitted.append,
            execution_id=self.execution_id,
            call_id=self.call_id,
            writing=self.writing,
            approved=approved or {},
        )

    async def writing(self, begins: bool) -> None:
        self.marks.append((begins, len(self.device.commands) if self.device else 0))

    def arguments(self, **fields: Any) -> Any:
        return self.tool.parameters().load({"device": "sw1", "lines": LINES, **fields})

    async def plan(self, **fields: Any) -> Any:
        return await self.tool.plan(self.arguments(**fields), self.calling())

    async def do(self, **fields: Any) -> Any:
        """Make the call with the approval of what was planned at that time."""
        approved = (await self.plan(**fields)).bound
        await self.meanwhile()
        return await self.tool.call(self.arguments(**fields), self.calling(approved))


def switch(fleet: Fleet, **fields: Any) -> SimulatedDevice:
    return fleet.simulated("sw1", takes_lines=True, **fields)


async def test_a_plan_only_reads(fleet: Fleet) -> None:
    device = switch(fleet)
    device_id = await fleet.device(device)
    change = Change(fleet=fleet)
    plan = await change.plan(reason="more time")
    assert plan.request["lines"] == LINES
    assert plan.request["reason"] == "more time"
    assert plan.request["text"] == "Send one line of configuration to sw1, without storing it"
    assert "+ntp server 192.0.2.99" in plan.request["diff"].split("\n")
    [target] = plan.bound["targets"]
    assert (target["device_id"], target["host"], target["port"]) == (device_id, "127.0.0.1", device.port)
    assert target["host_key_fingerprint"] == device.fingerprint
    assert target["credential_id"] == fleet.credential_id
    assert change.admitted == [device_id]
    assert "configure terminal" not in device.commands


async def test_what_it_is_bound_to_follows_the_way_to_the_device(fleet: Fleet) -> None:
    device = switch(fleet)
    device_id = await fleet.device(device)
    change = Change(fleet=fleet)
    before = (await change.plan()).bound
    assert (await change.changes.bound(change.arguments(), change.calling())) == before
    jump = await fleet.entry("jump", 22)
    other = await fleet.credential("other")
    for fields in (
        {"port": 2222},
        {"host": "127.0.0.2"},
        {"default_credential_id": other},
        {"jump_device_id": jump},
        {"device_type": "cisco_nxos"},
    ):
        restored = (await fleet.api.get(f"/api/devices/{device_id}")).expect()
        (await fleet.api.put(f"/api/devices/{device_id}", fields)).expect()
        assert (await change.changes.bound(change.arguments(), change.calling())) != before, fields
        await fleet.api.put(f"/api/devices/{device_id}", {name: restored[name] for name in fields})
    assert (await change.changes.bound(change.arguments(), change.calling())) == before
    assert (await change.changes.bound(change.arguments(lines=["hostname x"]), change.calling())) != before
    assert (await change.changes.bound(change.arguments(save=True), change.calling())) != before


async def test_it_is_done_once_and_compared(fleet: Fleet) -> None:
    device = switch(fleet)
    await fleet.device(device)
    change = Change(fleet=fleet, device=device)
    done = await change.do()
    assert done.ok
    (begins, before), (goes_on, after) = change.marks
    assert (begins, goes_on) == (True, False)
    assert before <= device.commands.index("configure terminal") < after
    assert "All lines were taken." in done.text
    assert "+ntp server 192.0.2.99" in done.text.split("\n")
    assert device.commands.count(LINES[0]) == 1
    [event] = await fleet.audited("device.change")
    assert event["details"]["lines"] == LINES


async def test_what_is_edited_after_the_comparison_gets_no_line(fleet: Fleet) -> None:
    """Check that the login path which the session looks up must be the approved one."""
    device = switch(fleet)
    device_id = await fleet.device(device)
    other = await fleet.credential("other")

    async def edited() -> None:
        (await fleet.api.put(f"/api/devices/{device_id}", {"default_credential_id": other})).expect()

    change = Change(fleet=fleet, device=device, meanwhile=edited)
    done = await change.do()
    assert not done.ok
    assert "what was approved is not what would be done now" in done.text
    assert "Nothing is in force." in done.text
    assert [begins for begins, _ in change.marks] == [True, False]
    assert LINES[0] not in device.commands
    assert "configure terminal" not in device.commands


async def test_a_device_that_does_not_answer_any_more_leaves_an_unknown_outcome(fleet: Fleet) -> None:
    device = switch(fleet)
    await fleet.device(device)
    device.questions[LINES[0]] = "Do you really want that? [confirm]"
    change = Change(fleet=fleet)
    with pytest.raises(PermanentFailure, match="outcome unknown: sw1"):
        await change.do()


async def test_a_device_that_refuses_configuration_is_not_changed(fleet: Fleet) -> None:
    device = switch(fleet, script=replace(ios_script(), changes=()))
    await fleet.device(device)
    done = await Change(fleet=fleet).do()
    assert not done.ok
    assert "Nothing is in force." in done.text
    assert LINES[0] not in device.commands


async def test_a_refused_line_says_what_is_in_force(fleet: Fleet) -> None:
    device = switch(fleet)
    await fleet.device(device)
    device.responses["ip bad"] = "% Invalid input detected at '^' marker.\n"
    done = await Change(fleet=fleet).do(lines=[*LINES, "ip bad", "shutdown"])
    assert not done.ok
    assert "`ip bad` was refused" in done.text
    assert "The lines before it are in force." in done.text
    assert "+ntp server 192.0.2.99" in done.text.split("\n")
    assert "shutdown" not in device.commands


@pytest.mark.parametrize(
    ("fields", "device_type", "text"),
    [
        pytest.param({}, "linux", "changes are not supported", id="a host"),
        pytest.param({}, "cisco_xr", "a change is always kept", id="kept without saying so"),
        pytest.param({"save": True}, "huawei_vrp", "not supported on huawei_vrp", id="a save that asks"),
        pytest.param({"lines": []}, "cisco_ios", "there are none", id="no lines"),
    ],
)
async def test_what_cannot_be_planned(fleet: Fleet, fields: Any, device_type: str, text: str) -> None:
    device = switch(fleet)
    await fleet.entry("sw1", 22, device_type=device_type)
    with pytest.raises(InvalidInput, match=text):
        await Change(fleet=fleet).plan(**fields)
    assert device.commands == []


@pytest.mark.parametrize(
    "line",
    [
        *("", "  ", "a\nb", "a\rb", "a\x1bb", "a\x00b", "a\tb", "\tdo reload", "x" * 501),
        *("ntp\u202e server", "ntp server\u200b x", "\ufeffntp", "ntp\u2028server", "a\u00a0b", "a\u2066b"),
    ],
)
def test_what_is_no_line_on_any_platform(line: str) -> None:
    with pytest.raises(ValidationError):
        ChangeArguments().load({"device": "sw1", "lines": [line]})


@pytest.mark.parametrize(
    ("device_type", "line"),
    [
        pytest.param("cisco_ios", "cop run start", id="IOS, copy"),
        pytest.param("cisco_nxos", "delete bootflash:x", id="NX-OS, a file"),
        pytest.param("arista_eos", "bas rm -rf /mnt/flash", id="EOS, bash"),
        pytest.param("vyos", "sudo reboot; echo `id`", id="VyOS, a shell"),
        pytest.param("juniper_junos", "req system reboot", id="Junos, request"),
        pytest.param("cisco_asa", "failover exec mate reload", id="ASA, the other unit"),
    ],
)
async def test_a_command_is_refused_before_anything_is_asked_or_sent(
    fleet: Fleet, device_type: str, line: str
) -> None:
    device = switch(fleet)
    await fleet.entry("sw1", 22, device_type=device_type)
    change = Change(fleet=fleet)
    save = device_type == "juniper_junos"
    with pytest.raises(InvalidInput, match="lines: line 2: "):
        await change.plan(lines=[FIRST[device_type], line], save=save)
    assert change.admitted == []
    assert device.commands == []


async def test_a_platform_of_a_plugin_that_lists_a_storing_line_is_announced_as_storing(
    fleet: Fleet, tmp_path: Path
) -> None:
    """The sentence comes from the lines: the argument says `save: false`."""
    file = tmp_path / "acme_os.toml"
    file.write_text(STORING_PLATFORM)
    fleet.sessions.platforms.register(file)
    await fleet.device(switch(fleet, platform="acme_os", script=ios_script(), config="hostname sw1\n"))
    plan = await Change(fleet=fleet).plan(lines=["ntp server 192.0.2.99", "keep all"])
    assert plan.request["text"] == "Send 2 lines of configuration to sw1, and store it for the next start"
    assert plan.request["save"] is True
    plan = await Change(fleet=fleet).plan(lines=["ntp server 192.0.2.99"])
    assert plan.request["text"] == "Send one line of configuration to sw1, without storing it"
    assert plan.request["save"] is False
