"""A platform that one TOML file brings, over HTTP: captured, its secrets hidden, a cut reading refused."""

import re
from pathlib import Path

from netautod.testing import (
    CliScript,
    Faults,
    ModeChange,
    PagerScript,
    ScriptedCommand,
    SimulatedDevice,
)
from tests.configs.fleet import PASSWORD, Fleet

SCRIPT = CliScript(
    prompts={"exec": "{host}>", "privileged": "{host}#"},
    mode="privileged",
    unprivileged="exec",
    changes=(ModeChange(command="enable", to="privileged", password_prompt="Password: ", refusal="No\n"),),
    commands=(ScriptedCommand(command="show config all", modes=("privileged",)),),
    pager=PagerScript(text="--more (42%)--", erase="\r              \r", off=("set pager off",)),
    unknown="Unknown command\n",
)
PORTS = "".join(f"port {number} up\n" for number in range(1, 40))
CONFIG = f"hostname sw1\nuser admin password s3cret\n{PORTS}# end of configuration\n"


async def test_one_file_makes_a_platform(fleet: Fleet, repository_root: Path, tmp_path: Path) -> None:
    guide = (repository_root / "plugins" / "README.md").read_text(encoding="utf-8")
    example = re.search(r"<!-- platform example -->\n```toml\n(.*?)```", guide, re.DOTALL)
    assert example is not None
    (tmp_path / "acme_os.toml").write_text(example[1])
    fleet.sessions.platforms.register(tmp_path / "acme_os.toml")
    switch = SimulatedDevice(
        hostname="sw1",
        platform="acme_os",
        script=SCRIPT,
        config=CONFIG,
        password=PASSWORD,
        host_key=fleet.host_key,
    )
    device_id = await fleet.device(switch)
    assert (await fleet.pulled(device_id))["version"] == 1
    latest = f"/api/config/devices/{device_id}/configs/latest"
    shown = str((await fleet.api.get(latest)).expect())
    assert "port 39 up" in shown
    assert "s3cret" not in shown
    assert "s3cret" in str((await fleet.api.get(f"{latest}?secrets=true")).expect())

    switch.faults = Faults(truncate_after=200)
    refused = await fleet.api.post(f"/api/config/devices/{device_id}/pull", None)
    assert refused.status == 502
    assert "instead of its end marker" in refused.json["error"]
