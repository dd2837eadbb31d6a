"""A platform that one TOML file brings, from start to end: what is kept can be restored, nothing leaks."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from netautod.testing import CliScript, Faults, ModeChange, PagerScript, ScriptedCommand, SimulatedDevice
from tests.e2e.console import CONFIGS, Console
from tests.support.client import ApiClient
from tests.support.guide import write_entry_point, write_example
from tests.support.programs.service import Service, serving

pytestmark = pytest.mark.slow

SCRIPT = CliScript(
    prompts={"exec": "{host}>", "privileged": "{host}#"},
    mode="privileged",
    unprivileged="exec",
    changes=(ModeChange(command="enable", to="privileged", password_prompt="Password: ", refusal="No\n"),),
    commands=(ScriptedCommand(command="show config all", modes=("privileged",)),),
    pager=PagerScript(text="--more (42%)--", erase="\r              \r", off=("set pager off",)),
    unknown="Unknown command\n",
)
PASSWORD = "pa55word-of-a-reader"
# The file announces the first one; the others are of forms that no word of it names.
LEAKS = """\
user admin password c4nary-user
snmp-server community c4nary-snmp ro
archive path ftp://backup:c4nary-url@192.0.2.9/sw1
tacacs-server host 192.0.2.7 key 7 c4nary-key
ntp authentication-key 1 md5 c4nary-md5
"""
PORTS = "".join(f"port {number} up\n" for number in range(1, 40))
CONFIG = f"hostname sw1\ndescription Z\udcfcrich\nsw1#\n{LEAKS}{PORTS}# end of configuration\n"
DATA = CONFIG.encode(errors="surrogateescape")
# In a word, behind the line that looks like the prompt, and shortly before the end.
CUTS = (20, DATA.index(b"sw1#\n") + 5, len(DATA) - 6)


@pytest.fixture
async def with_acme(tmp_path: Path) -> AsyncIterator[Service]:
    """One that finds the files of the guide for plugin authors."""
    folder = tmp_path / "plugin"
    folder.mkdir()
    write_example("acme_platform", "test_acme_os", folder)
    write_entry_point("acme_platform", folder)
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    async with serving(tmp_path / "data", variables={"PYTHONPATH": path}) as running:
        yield running


@dataclass(frozen=True, kw_only=True)
class Story:
    console: Console
    reader: ApiClient
    switch: SimulatedDevice
    device_id: str

    @property
    def configs(self) -> str:
        return f"{CONFIGS}/{self.device_id}/configs"

    async def pulled(self) -> tuple[int, str]:
        answer = await self.console.client.post(f"{CONFIGS}/{self.device_id}/pull")
        return answer.status, answer.content.decode()

    async def seen_by_a_reader(self) -> str:
        """All that shows a text of the device."""
        words = ("c4nary", *(line.split()[0] for line in LEAKS.splitlines()))
        paths = (
            f"{self.configs}/latest",
            f"{self.configs}/2",
            f"{CONFIGS}/{self.device_id}/diff",
            *(f"/api/config/search?q={word}" for word in words),
        )
        answers = [await self.reader.get(path) for path in paths]
        assert [answer.status for answer in answers] == [200] * len(paths)
        sent = {"command": "show config all"}
        answers.append(await self.reader.post(f"/api/devices/{self.device_id}/exec-command", sent))
        return "\n".join(answer.content.decode() for answer in answers)


async def test_a_switch_of_a_new_platform(with_acme: Service) -> None:
    console = Console(client=await with_acme.client())
    await console.credential("lab", is_default=True)
    await console.add("/api/roles", name="hands", permissions=["devices.manage"])
    await console.add("/api/users", username="reader", password=PASSWORD, roles=["hands"])
    switch = SimulatedDevice(hostname="sw1", platform="acme_os", script=SCRIPT, config=CONFIG)
    async with switch:
        device_id = await console.device("sw1", switch.port, device_type="acme_switch")
        reader = await with_acme.client("reader", PASSWORD)
        story = Story(console=console, reader=reader, switch=switch, device_id=device_id)
        await what_no_config_is_makes_no_version(story)
        await the_whole_one_is_kept_byte_by_byte(story)
        await no_secret_is_shown(story)
        await a_cut_one_changes_nothing(story)


async def what_no_config_is_makes_no_version(story: Story) -> None:
    story.switch.responses = {"show config all": "Unknown command\n", "show config": "Unknown command\n"}
    assert "refused" in str(await story.pulled())
    story.switch.responses = {}
    for cut in CUTS:
        story.switch.faults = Faults(truncate_after=cut)
        status, said = await story.pulled()
        assert (status, "instead of its end marker" in said) == (502, True), (cut, said)
    story.switch.faults = Faults()
    assert await story.console.versions(story.device_id) == []


async def the_whole_one_is_kept_byte_by_byte(story: Story) -> None:
    assert (await story.pulled())[0] == 200
    story.switch.config = CONFIG.replace("c4nary-user", "c4nary-new").replace("port 1 up", "port 1 down")
    for _ in range(2):  # the second one says the same
        assert (await story.pulled())[0] == 200
    assert await story.console.versions(story.device_id) == [2, 1]
    newest = await story.console.latest(story.device_id)
    assert (newest["encoding"], "description Zürich" in newest["config_text"]) == ("latin-1", True)
    raw = await story.console.client.get(f"{story.configs}/1/raw")
    assert raw.content == DATA
    assert (await story.reader.get(f"{story.configs}/1/raw")).status == 403


async def no_secret_is_shown(story: Story) -> None:
    seen = await story.seen_by_a_reader()
    assert "c4nary" not in seen
    for kept in ("port 39 up", "-port 1 up", "+port 1 down", "archive path ftp://", "192.0.2.9/sw1"):
        assert kept in seen
    assert (await story.reader.get(f"{story.configs}/latest?secrets=true")).status == 403
    whole = await story.console.client.get(f"{story.configs}/latest?secrets=true")
    assert whole.content.decode().count("c4nary") == LEAKS.count("c4nary")


async def a_cut_one_changes_nothing(story: Story) -> None:
    story.switch.faults = Faults(truncate_after=len(DATA) - 60)
    status, said = await story.pulled()
    assert (status, "instead of its end marker" in said) == (502, True)
    assert await story.console.versions(story.device_id) == [2, 1]
    (info,) = (await story.console.read("/api/devices/with-backup-info"))["devices"]
    assert (info["last_backup_status"], info["config_version"]) == ("failed", 2)
    assert "end marker" in info["last_backup_error"]
