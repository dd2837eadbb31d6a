"""OpenSSH's sshd, private to the test, on a free port, for one key."""

import getpass
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from tests.support.programs.started import free_port, listening, program, started

PROGRAM = program("sshd")


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
    revoked: Path | None = None,
    options: str = "",
    wrapper: Sequence[str] = (),
) -> AsyncIterator[Sshd]:
    """Needs PROGRAM; `folder` is an empty one of its own.

    With `trusted_ca` (a public key) it trusts nothing but certificates of that authority, and of those only
    the ones for the given principals, without those of the list `revoked`, which it reads at each login.
    `options` are lines of sshd_config that win over those here; `wrapper`
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
    if revoked is not None:
        trust += f"RevokedKeys {revoked}\n"
    if os.geteuid() == 0:  # sshd run by root insists on its privilege separation folder
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    port = free_port()
    configuration = folder / "sshd_config"
    configuration.write_text(
        f"{options}ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host_key\nPidFile none\nUsePAM no\n"
        f"StrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n"
        f"KbdInteractiveAuthentication no\n{trust}"
    )
    async with started(*wrapper, PROGRAM, "-D", "-e", "-f", str(configuration)):
        await listening(port)
        yield Sshd(
            port=port,
            username=getpass.getuser(),
            private_key=key.export_private_key().decode(),
            fingerprint=host_key.get_fingerprint("sha256"),
        )
