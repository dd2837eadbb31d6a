"""The units of systemd: how much they leave open, and that the service works under what they take away."""

import asyncio
import os
import re
import shutil
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

import pytest

from netautod.http.settings import ServerSettings
from netautod.plugin_host.offers.services import STEP_SECONDS
from netautod.server.supervisor import STOP_MARGIN
from netautod.server.telemetry.opening import LAST_SECONDS
from netautod.store.client import Database
from netautod.testing import SimulatedDevice
from tests.e2e.console import Console
from tests.support.programs.confined import allowed_calls, values
from tests.support.programs.service import NETAUTOD, serving

CONFIG = Path(__file__).parents[2] / "config"
UNIT, TEMPLATE = CONFIG / "netautod.service", CONFIG / "netautod@.service"
README = CONFIG.parent / "README.md"
CONFINED = Path(__file__).parents[1] / "support" / "programs" / "confined.py"
MOST_EXPOSED = 1.5


@pytest.fixture
def analyze() -> str:
    program = shutil.which("systemd-analyze")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("systemd-analyze is not installed")
        pytest.skip("systemd-analyze is not installed")
    return program


async def told(*command: str) -> str:
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=STDOUT)
    return (await process.communicate())[0].decode()


@pytest.mark.parametrize("unit", [UNIT, TEMPLATE], ids=lambda unit: str(unit.name))
async def test_little_is_left_open(analyze: str, unit: Path) -> None:
    answer = await told(analyze, "security", "--offline=true", "--no-pager", str(unit))
    found = re.search(r"Overall exposure level for \S+: ([\d.]+) ", answer)
    assert found is not None, answer
    assert float(found[1]) <= MOST_EXPOSED


@pytest.mark.parametrize("unit", [UNIT, TEMPLATE], ids=lambda unit: str(unit.name))
async def test_systemd_understands_it(analyze: str, unit: Path, tmp_path: Path) -> None:
    copy = with_a_program(unit, tmp_path)
    answer = await told(analyze, "verify", "--man=no", "--recursive-errors=no", str(copy))
    assert unit.name.partition(".")[0] not in answer


def with_a_program(unit: Path, folder: Path) -> Path:
    """The unit with a program in the place of ours."""
    copy = folder / unit.name
    copy.write_text(unit.read_text().replace("/opt/netautod/bin/netautod", "/bin/true"))
    return copy


def test_nodes_of_a_host_differ_in_their_files_only() -> None:
    one, several = UNIT.read_text().splitlines(), TEMPLATE.read_text().splitlines()
    added = [line for line in several if line not in one and not line.startswith("#")]
    assert all("%i" in line for line in added), added
    missing = [line for line in one if line not in several and not line.startswith("#")]
    assert len(added) == len(missing)  # the environment of the node, and the port of its metrics


def test_the_stop_leaves_time_to_end() -> None:
    """For the drain, the services of plugins, the last traces, and the supervisor's patience with workers."""
    settings, ending = ServerSettings(), STEP_SECONDS + STOP_MARGIN + LAST_SECONDS
    for unit in (UNIT, TEMPLATE):
        assert int(values(unit, "TimeoutStopSec")[0]) > settings.drain_seconds + ending
        assert int(values(unit, "WatchdogSec")[0]) > settings.max_stall_seconds


def test_a_stop_goes_to_the_service_and_not_to_its_children() -> None:
    """systemd would end the children that render and compare while their requests still wait for them."""
    for unit in (UNIT, TEMPLATE):
        assert values(unit, "KillMode") == ["mixed"]


def test_the_units_point_to_the_manual_that_is_installed() -> None:
    installed = f"file:/opt/netautod/share/netautod/{README.name}"
    assert '("share/netautod", ["README.md", ' in (README.parent / "setup.py").read_text()
    for unit in (UNIT, TEMPLATE):
        assert values(unit, "Documentation") == [installed]


def credentials(folder: Path) -> Path:
    """What systemd makes of LoadCredential=: files of these names in a folder of the service's own."""
    made = folder / "credentials"
    made.mkdir(mode=0o500)
    for unit in (UNIT, TEMPLATE):
        for line in values(unit, "LoadCredential"):
            (made / line.partition(":")[0]).write_bytes(bytes(range(32)))
    return made


@pytest.mark.slow
async def test_it_works_with_what_is_left(
    analyze: str, tmp_path: Path, mongo_uri: str, database: Database
) -> None:
    """Under the filter of system calls, without new rights or memory that is both written and executed."""
    calls = allowed_calls(UNIT)
    assert {"execve", "setpriority"} <= calls
    assert calls.isdisjoint({"ptrace", "mount", "bpf", "chown", "setuid", "init_module"})
    place = {
        "NETAUTOD_MONGODB_URI": mongo_uri,
        "NETAUTOD_MONGODB_DATABASE": database.name,
        "CREDENTIALS_DIRECTORY": str(credentials(tmp_path)),
    }
    command = (sys.executable, str(CONFINED), str(UNIT), *NETAUTOD, "serve")
    async with (
        SimulatedDevice(hostname="sw1") as switch,
        serving(tmp_path / "data", command=command, variables=place) as service,
    ):
        console = Console(client=await service.client())
        await console.credential("lab", is_default=True)
        device = await console.device("sw1", switch.port)
        run = await console.run(await console.backup("nightly", "sw1"))
        assert (run["state"], run["error_message"]) == ("completed", None)
        assert await console.versions(device) == [1]
        document = await console.add(
            "/api/docs",
            name="greeting",
            category="templates",
            content_type="jinja",
            content="Hi {{ name }}!",
        )
        path = f"/api/docs/{document['id']}/render"
        rendered = await console.client.post(path, {"variables": {"name": "you"}})
        assert rendered.expect()["output"] == "Hi you!"
        polled = await console.client.post(f"/api/devices/{device}/poll", {})
        assert polled.status == 202
        assert await service.stop() == 0
    assert not (tmp_path / "data" / "master.key").exists()  # the one that systemd hands over is used
