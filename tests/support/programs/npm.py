"""npm packages that serve as counterparts, installed once per machine."""

import asyncio
import os
import shutil
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from pathlib import Path

import pytest

NODE, NPM = shutil.which("node"), shutil.which("npm")


async def installed(package: str, version: str) -> Path:
    """The folder of the package, with or without a scope; skips where there is no Node."""
    if NODE is None or NPM is None:
        pytest.skip("node or npm is not installed")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "netautod-tests" / f"{package.rpartition('/')[2]}-{version}"
    found = folder / "node_modules" / package
    if not (found / "package.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = (NPM, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts")
        process = await asyncio.create_subprocess_exec(
            *command, f"{package}@{version}", stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
        )
        told = (await process.communicate())[0].decode()
        if process.returncode != 0:
            # Not to be missed where the suite must be complete.
            (pytest.fail if os.environ.get("CI") else pytest.skip)(f"npm cannot install it: {told[-500:]}")
    return found


async def node_release() -> int:
    """The first number of Node's version."""
    assert NODE is not None
    asked = await asyncio.create_subprocess_exec(NODE, "--version", stdout=PIPE)
    version = (await asked.communicate())[0].decode()
    return int(version.lstrip("v").split(".")[0])
