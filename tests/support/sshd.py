"""OpenSSH's sshd, private to the test, on a free port, for one key."""

import asyncio
import getpass
import os
import shutil
import socket
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncssh

PROGRAM = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


@dataclass(frozen=True, kw_only=True)
class Sshd:
    """A running server, and the key that logs in to it as `username` where no authority is trusted."""

    port: int
    username: str
    private_key: str
    fingerprint: str


@asynccontextmanager
async def running_sshd(
    folder: Path,
    *,
    trusted_ca: str | None = None,
    principals: str = "",
    options: str = "",
    wrapper: Sequence[str] = (),
) -> AsyncIterator[Sshd]:
    """Needs PROGRAM; `folder` is an empty one of its own.

    With `trusted_ca` (a public key) it trusts nothing but certificates of that authority, and of those only
    the ones for the given principals. `options` are lines of sshd_config that win over those here; `wrapper`
    is a command that ends by executing its remaining arguments.
    """
    assert PROGRAM is not None
    host_key = asyncssh.generate_private_key("ssh-ed25519")
    host_key.write_private_key(folder / "host_key")
    (folder / "host_key").chmod(0o600)
    key = asyncssh.generate_private_key("ssh-ed25519")
    (folder / "authorized_keys").write_bytes(key.export_public_key())
    trust = f"AuthorizedKeysFile {folder}/authorized_keys\n"
    if trusted_ca is not None:
        (folder / "ca.pub").write_text(trusted_ca + "\n")
        (folder / "principals").write_text(principals + "\n")
        trust = (
            f"AuthorizedKeysFile none\nTrustedUserCAKeys {folder}/ca.pub\n"
            f"AuthorizedPrincipalsFile {folder}/principals\n"
        )
    if os.geteuid() == 0:  # sshd run by root insists on its privilege separation folder
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    port = free_port()
    configuration = folder / "sshd_config"
    configuration.write_text(
        f"{options}ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host_key\nPidFile none\nUsePAM no\n"
        f"StrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n"
        f"KbdInteractiveAuthentication no\n{trust}"
    )
    process = await asyncio.create_subprocess_exec(
        *wrapper, PROGRAM, "-D", "-e", "-f", str(configuration), stderr=DEVNULL
    )
    try:
        await listening(port)
        yield Sshd(
            port=port,
            username=getpass.getuser(),
            private_key=key.export_private_key().decode(),
            fingerprint=host_key.get_fingerprint("sha256"),
        )
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


async def listening(port: int) -> None:
    """Waits until somebody accepts connections there."""
    async with asyncio.timeout(5):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.02)  # sshd has no way to say that it is ready
            else:
                writer.close()
                await writer.wait_closed()
                return
