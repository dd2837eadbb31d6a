"""FRR's zebra, private to the test: its vty and vtysh, each behind an sshd of its own."""

import asyncio
import os
import shutil
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import sshd
from tests.support.sshd import Sshd, free_port, listening

PASSWORD = "simulated-pa55word"
ENABLE_PASSWORD = "en4ble-it"
HOSTNAME = "frr1"
_ZEBRA = Path("/usr/lib/frr/zebra")
_NEEDS = ("vtysh", "telnet", "nc", "stty", "unshare", "mount")
# zebra pages only for a client that tells the size of its window (RFC 1073), as telnet does and nc does not;
# nc in turn leaves the options of telnet in what the engine gets.
TELNET = "exec telnet --no-escape 127.0.0.1 {port}"
NETCAT = "stty raw -echo; exec nc 127.0.0.1 {port}"  # or the terminal in between would echo each line, too
# Of PASSWORD, as in crypt(5): openssl passwd -6 -salt netautod
_HASH = "$6$netautod$F.4RMqeQOXes690L4kqcoBU5VI1V8K58ae4WcJT/U96Mdc8MOeHfrjxn.J4dzWYLIGLfYU2bMCtzN2uLkY.xW0"
# Seen by this sshd alone: the password of the account belongs to the test, not to the machine.
_OWN_SHADOW = 'mount --bind "$1" /etc/shadow && shift && exec "$@"'
_PREFIXES = "".join(
    f"ip prefix-list CUSTOMERS seq {5 * number} permit 10.{number}.0.0/16\n" for number in range(1, 41)
)
_CONFIGURATION = f"""
hostname {HOSTNAME}
password {PASSWORD}
enable password {ENABLE_PASSWORD}
service terminal-length 24
{_PREFIXES}
interface lo
 description loopback
"""


@dataclass(frozen=True, kw_only=True)
class Frr:
    """A running zebra. `vty` asks for PASSWORD twice: sshd for the account `username`, zebra for its line.

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


def missing() -> str | None:
    """Why FRR cannot be started here, None when it can."""
    absent = [name for name in _NEEDS if shutil.which(name) is None]
    if not _ZEBRA.exists() or absent or sshd.PROGRAM is None:
        return "no FRR (apt packages frr, inetutils-telnet, netcat-openbsd, openssh-server)"
    return "zebra must be started by root" if os.geteuid() != 0 else None


def require() -> None:
    """Skips the test where FRR is missing, fails it in CI."""
    reason = missing()
    if reason is not None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@asynccontextmanager
async def running_frr(folder: Path, *, bridge: str = TELNET) -> AsyncIterator[Frr]:
    """`folder` is an empty one of its own; that of zebra is elsewhere, since zebra is no longer root then.

    `bridge` is the command between sshd and the vty.
    """
    port = free_port()
    async with AsyncExitStack() as stack:
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="frr-")))
        zebra = await stack.enter_async_context(_zebra(own, port))
        vtysh = f"vtysh --vty_socket {own}"
        (folder / "vty").mkdir()
        (folder / "vtysh").mkdir()
        (folder / "shadow").write_text(f"root:{_HASH}:19000:0:99999:7:::\n")
        to_vty = sshd.running_sshd(
            folder / "vty",
            options="PermitRootLogin yes\nPasswordAuthentication yes\n"
            f"ForceCommand {bridge.format(port=port)}\n",
            wrapper=("unshare", "--mount", "sh", "-c", _OWN_SHADOW, "sh", str(folder / "shadow")),
        )
        to_vtysh = sshd.running_sshd(folder / "vtysh", options=f"ForceCommand exec {vtysh}\n")
        yield Frr(
            vty=await stack.enter_async_context(to_vty),
            vtysh=await stack.enter_async_context(to_vtysh),
            vtysh_command=vtysh,
            zebra=zebra,
        )


@asynccontextmanager
async def _zebra(folder: Path, port: int) -> AsyncIterator[Process]:
    (folder / "zebra.conf").write_text(_CONFIGURATION)
    for path in (folder, folder / "zebra.conf"):
        shutil.chown(path, "frr", "frr")
    process = await asyncio.create_subprocess_exec(
        str(_ZEBRA),
        *("--user", "frr", "--group", "frr", "--vty_addr", "127.0.0.1", "--vty_port", str(port)),
        *("--pid_file", str(folder / "pid"), "--socket", str(folder / "zserv")),
        *("--vty_socket", str(folder), "--config_file", str(folder / "zebra.conf")),
        stdout=DEVNULL,
        stderr=DEVNULL,
    )
    try:
        await listening(port)
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
