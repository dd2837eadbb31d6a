"""A real snmpd on a port of loopback."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from netautod.plugin_api import SnmpAccess
from netautod_snmp.gufo_agent import GufoAgent
from tests.support.programs.started import free_port

NAME = "1.3.6.1.2.1.1.5.0"


@asynccontextmanager
async def serving_snmpd(folder: Path, config: str) -> AsyncIterator[int]:
    """Start snmpd and yield its port; `config` is its snmpd.conf, beside a community `public`."""
    program = shutil.which("snmpd", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("snmpd is not installed")
        pytest.skip("snmpd is not installed")
    number = free_port()
    file = folder / "snmpd.conf"
    file.write_text(f"rocommunity public 127.0.0.1\n{config}")
    process = await asyncio.create_subprocess_exec(
        *(program, "-f", "-C", "-c", str(file), "-m", "", "-Lf", str(folder / "log")),
        f"udp:127.0.0.1:{number}",
        env={**os.environ, "SNMP_PERSISTENT_DIR": str(folder / "state")},
    )
    await _until_it_answers(number)
    yield number
    process.terminate()
    await process.wait()


async def _until_it_answers(number: int) -> None:
    access = SnmpAccess(address="127.0.0.1", port=number, community="public")
    async with asyncio.timeout(60), GufoAgent(access, seconds=0.2, tries=200).opened() as agent:
        await agent.get([NAME])
