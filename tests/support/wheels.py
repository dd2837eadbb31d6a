"""An environment with a wheel of netautod and wheels of plugins, as an administrator installs them."""

import asyncio
import sys
import sysconfig
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Sequence
from pathlib import Path

from tests.repository.test_packaging import CLEAN, PACKAGED, ROOT, copy
from tests.support.programs.service import environment


class Environment:
    """A folder with a virtual environment that holds wheels, and what they need from that of the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "venv" / "bin"
        self.python = self.programs / "python"

    def variables(self, **changes: str) -> dict[str, str]:
        """Return the variables of its commands: nothing of the checkout, no look for a newer pip."""
        return environment(**CLEAN, PYTEST_ADDOPTS="", PIP_DISABLE_PIP_VERSION_CHECK="1", **changes)

    async def run(self, *command: str | Path, cwd: Path | None = None) -> str:
        """Run a command and return what it prints; a failure is one of the test."""
        process = await asyncio.create_subprocess_exec(
            *map(str, command), stdout=PIPE, stderr=STDOUT, cwd=cwd or self.folder, env=self.variables()
        )
        out = (await process.communicate())[0].decode()
        assert process.returncode == 0, f"{command}\n{out[-6000:]}"
        return out


async def environment_of_wheels(folder: Path, projects: Sequence[Path] = ()) -> Environment:
    """Build wheels of this checkout and of the projects, and install them into a new environment."""
    made = Environment(folder)
    source = folder / "source"
    source.mkdir()
    for name in PACKAGED:
        copy(ROOT / name, source / name)
    await made.run(sys.executable, "-m", "venv", folder / "venv")
    pip = (made.python, "-m", "pip", "-q")
    await made.run(*pip, "install", "setuptools>=77", "wheel")
    wheels = folder / "wheels"
    building = ("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", wheels)
    await made.run(*pip, *building, source, *projects)
    await made.run(*pip, "install", "--no-deps", "--no-index", *sorted(wheels.glob("*.whl")))
    # A plain path: files .pth of that folder, such as the one of an editable netautod, are not read.
    [libraries] = (folder / "venv").glob("lib/*/site-packages")
    (libraries / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return made
