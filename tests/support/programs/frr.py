"""FRR's zebra, private to the test: its vty and vtysh, each behind an sshd of its own."""

import os
import re
import shutil
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.programs import sshd
from tests.support.programs.sshd import Sshd
from tests.support.programs.started import listening, not_installed, started

PASSWORD = "simulated-pa55word"
ENABLE_PASSWORD = "en4ble-it"
PREFIX = "ip prefix-list CUSTOMERS seq "
# What stands between sshd and the vty. zebra pages only for a client that tells the size of its window (RFC
# 1073), as telnet does and nc does not; nc in turn leaves the options of telnet in what the engine gets, and
# must be kept from the echo of the terminal.
TELNET = "exec {enter} telnet --no-escape 127.0.0.1 2601"
NETCAT = "stty raw -echo; exec {enter} nc 127.0.0.1 2601"
_ZEBRA = Path("/usr/lib/frr/zebra")
_NEEDS = ("vtysh", "telnet", "nc", "stty", "unshare", "nsenter", "mount", "ip")
_CAPABILITIES = 1 << 12 | 1 << 13 | 1 << 21  # capabilities(7): NET_ADMIN, NET_RAW, SYS_ADMIN
# In a network of its own: zebra sweeps routes that it takes for those of an earlier zebra.
_OWN_NETWORK = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
# Seen by this sshd alone: the password of the account belongs to the test, not to the machine.
_OWN_SHADOW = ("unshare", "--mount", "sh", "-c", 'mount --bind "$1" /etc/shadow && shift && exec "$@"', "sh")
# Of PASSWORD, as in crypt(5): openssl passwd -6 -salt netautod
_HASH = "$6$netautod$F.4RMqeQOXes690L4kqcoBU5VI1V8K58ae4WcJT/U96Mdc8MOeHfrjxn.J4dzWYLIGLfYU2bMCtzN2uLkY.xW0"


@dataclass(frozen=True, kw_only=True)
class Frr:
    """A running zebra, `frr1`. `vty` asks for PASSWORD twice: sshd for the account, zebra for its terminal.

    `vtysh` is the integrated shell as a login shell, by key; `vtysh_command` is its command line.
    """

    vty: Sshd
    vtysh: Sshd
    vtysh_command: str
    zebra: Process

    @property
    def username(self) -> str:
        """The account of both sshds."""
        return self.vty.username


def require() -> None:
    """Skips the test where FRR is not installed (fails it in CI) or may not be started (a container)."""
    if os.geteuid() != 0 or _capabilities() & _CAPABILITIES != _CAPABILITIES:
        pytest.skip("zebra must be started by root, with its capabilities")
    absent = [name for name in _NEEDS if shutil.which(name) is None]
    if absent or not _ZEBRA.exists() or sshd.PROGRAM is None:
        not_installed("no FRR (apt packages frr, inetutils-telnet, netcat-openbsd, openssh-server)")


def _capabilities() -> int:
    found = re.search(r"^CapEff:\s*(\w+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1], 16) if found is not None else 0


@asynccontextmanager
async def running_frr(folder: Path, *, bridge: str = TELNET, prefixes: int = 40) -> AsyncIterator[Frr]:
    """`folder` is an empty one of its own; that of zebra is elsewhere, since zebra is no longer root then.

    `prefixes` is the number of lines in its configuration that begin with PREFIX.
    """
    for name in ("vty", "vtysh"):
        (folder / name).mkdir()
    (folder / "shadow").write_text(f"root:{_HASH}:19000:0:99999:7:::\n")
    async with AsyncExitStack() as stack:
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="frr-")))
        zebra = await stack.enter_async_context(_running_zebra(own, prefixes))
        vtysh = f"vtysh --vty_socket {own}"
        command = bridge.format(enter=f"nsenter --net=/proc/{zebra.pid}/ns/net")
        to_vty = sshd.running_sshd(
            folder / "vty",
            options=f"PermitRootLogin yes\nPasswordAuthentication yes\nForceCommand {command}\n",
            wrapper=(*_OWN_SHADOW, str(folder / "shadow")),
        )
        to_vtysh = sshd.running_sshd(folder / "vtysh", options=f"ForceCommand exec {vtysh}\n")
        yield Frr(
            vty=await stack.enter_async_context(to_vty),
            vtysh=await stack.enter_async_context(to_vtysh),
            vtysh_command=vtysh,
            zebra=zebra,
        )


@asynccontextmanager
async def _running_zebra(folder: Path, prefixes: int) -> AsyncIterator[Process]:
    (folder / "zebra.conf").write_text(_configuration(prefixes))
    for path in (folder, folder / "zebra.conf"):
        shutil.chown(path, "frr", "frr")
    command = (
        *_OWN_NETWORK,
        *(str(_ZEBRA), "--user", "frr", "--group", "frr", "--vty_addr", "127.0.0.1", "--vty_port", "2601"),
        *("--pid_file", str(folder / "pid"), "--socket", str(folder / "zserv")),
        *("--vty_socket", str(folder), "--config_file", str(folder / "zebra.conf")),
    )
    async with started(*command) as zebra:
        await listening(folder / "zebra.vty")  # which it opens last
        yield zebra


def _configuration(prefixes: int) -> str:
    lines = [
        "hostname frr1",
        f"password {PASSWORD}",
        f"enable password {ENABLE_PASSWORD}",
        "service terminal-length 24",
        "interface lo",
        " description loopback",
        "exit",
        *(f"{PREFIX}{n + 1} permit 10.{n // 256}.{n % 256}.0/24" for n in range(prefixes)),
    ]
    return "\n".join([*lines, ""])
