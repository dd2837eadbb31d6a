"""Two network namespaces with a cable between them: lldpd on both ends, and snmpd beside the near one."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAMS = ("ip", "snmpd", "lldpd", "lldpcli")
# RFC 2544: reserved for tests of networks, so nobody's own.
HERE, NEAR, FAR = "198.18.77.1", "198.18.77.2", "198.18.78.9"
PORT = 16161


@dataclass(frozen=True, kw_only=True)
class Network:
    """A network of two namespaces. `near` and `far` are their names; the cable is `near0` - `far0`."""

    near: str
    far: str
    folder: Path

    def addresses(self, namespace: str) -> dict[str, str]:
        """Return MAC addresses by interface."""
        shown = run("ip", "-n", namespace, "-o", "link").splitlines()
        words = [line.split() for line in shown if "link/ether" in line]
        return {line[1].partition("@")[0]: line[line.index("link/ether") + 1] for line in words}

    def hears(self) -> bool:
        socket = str(self.folder / "near.sock")
        answer = subprocess.run(
            ("lldpcli", "-u", socket, "-f", "keyvalue", "show", "neighbors"),
            capture_output=True,
            text=True,
            check=False,
        )
        return "chassis.name=far-switch" in answer.stdout


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def refuse_or_skip() -> None:
    """Skip the test without the programs; in CI it fails instead."""
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    reason = f"not installed: {', '.join(missing)}" if missing else ""
    if not missing:
        probe = f"probe{os.getpid()}"
        made = subprocess.run(("ip", "netns", "add", probe), capture_output=True, text=True, check=False)
        if made.returncode == 0:
            run("ip", "netns", "del", probe)
            return
        reason = f"no network namespaces: {made.stderr.strip()}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def cabled(folder: Path) -> Iterator[Network]:
    own = os.getpid()
    network = Network(near=f"near{own}", far=f"far{own}", folder=folder)
    outside = f"t{own}"
    run("ip", "netns", "add", network.near)
    run("ip", "netns", "add", network.far)
    try:
        run(*f"ip link add near0 netns {network.near} type veth peer name far0 netns {network.far}".split())
        run(*f"ip link add outside0 netns {network.near} type veth peer name {outside}".split())
        run(*f"ip addr add {HERE}/30 dev {outside}".split())
        run(*f"ip link set {outside} up".split())
        run(*f"ip -n {network.near} addr add {NEAR}/30 dev outside0".split())
        run(*f"ip -n {network.far} addr add {FAR}/30 dev far0".split())
        for namespace, interfaces in ((network.near, ("lo", "near0", "outside0")), (network.far, ("far0",))):
            for interface in interfaces:
                run("ip", "-n", namespace, "link", "set", interface, "up")
        yield network
    finally:
        run("ip", "netns", "del", network.near)
        run("ip", "netns", "del", network.far)


@asynccontextmanager
async def daemons(network: Network) -> AsyncIterator[None]:
    """Start snmpd, which listens on NEAR:PORT; both ends send each second."""
    folder = network.folder
    agentx = folder / "agentx"
    (folder / "snmpd.conf").write_text(
        f"agentAddress udp:{NEAR}:{PORT}\nrocommunity public\nmaster agentx\nagentXSocket {agentx}\n"
    )
    (folder / "near.conf").write_text("configure lldp tx-interval 1\n")
    (folder / "far.conf").write_text("configure system hostname far-switch\nconfigure lldp tx-interval 1\n")
    near, far = (("ip", "netns", "exec", name) for name in (network.near, network.far))
    commands = (
        (*near, *f"snmpd -f -Lf {folder}/snmpd.log -C -c {folder}/snmpd.conf -I -smux".split()),
        (*near, *f"lldpd -d -u {folder}/near.sock -X {agentx} -I near0 -O {folder}/near.conf".split()),
        (*far, *f"lldpd -d -u {folder}/far.sock -I far0 -m {FAR} -O {folder}/far.conf".split()),
    )
    started = []
    try:
        for command in commands:
            process = await asyncio.create_subprocess_exec(
                *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
            )
            started.append(process)
        yield
    finally:
        for process in started:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
        for process in started:
            await process.wait()
