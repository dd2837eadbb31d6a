"""`netautod serve --demo`: devices at once, a stored config after the first run, and the same again later."""

from pathlib import Path

import pytest

from netautod.server import demo
from netautod.testing import ios_config
from tests.e2e.console import SCHEDULES, Console
from tests.support.programs.service import Service, serving

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("uvloop", ["false", "true"])
async def test_the_demo_shows_devices_and_a_stored_config(tmp_path: Path, uvloop: str) -> None:
    loop = {"NETAUTOD_SERVER_UVLOOP": uvloop}
    async with serving(tmp_path, "--demo", variables=loop) as service:
        assert "demo: switches demo-sw1 and demo-sw2, task 'demo backup' every minute" in service.printed
        console = await opened(service)
        devices = await demo_devices(console)
        assert sorted(devices) == ["demo-sw1", "demo-sw2"]
        [task] = (await console.read(SCHEDULES))["tasks"]
        assert (task["name"], task["cron_expression"], task["enabled"]) == ("demo backup", "* * * * *", True)
        await backed_up(console, task["id"])
        text = (await console.latest(devices["demo-sw1"]))["config_text"]
        assert "hostname demo-sw1" in text
        assert (tmp_path / "demo.json").stat().st_mode & 0o077 == 0
    async with serving(tmp_path, "--demo", variables=loop) as service:
        console = await opened(service)
        assert await demo_devices(console) == devices
        await backed_up(console, task["id"])
        assert "Traceback" not in service.log.read_text()


def test_the_first_switch_gets_something_to_diff() -> None:
    config = ios_config("demo-sw1", interfaces=4)
    before, after = config.splitlines(), demo.changed(config, "06:44:12").splitlines()
    differing = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert differing == [(" description access port 1", " description changed at 06:44:12")]


async def opened(service: Service) -> Console:
    return Console(client=await service.client())


async def demo_devices(console: Console) -> dict[str, str]:
    listed = await console.read("/api/devices")
    return {device["name"]: device["id"] for device in listed["devices"]}


async def backed_up(console: Console, task_id: str) -> None:
    run = await console.run(task_id)
    assert (run["state"], run["error_message"]) == ("completed", None)
    assert run["output"]["succeeded"] == 2
