"""The values that a session is opened with: the device, its jump devices, the login, the limits."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import asyncssh

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.failures import NOT_VOUCHED, DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.profiles import profile_named

MIB = 1024 * 1024
Reach = Callable[[str, int], Awaitable[Sequence[str]]]
"""`await reach(host, port)`: what is connected to, in this order, and nothing else; a name among them is
resolved by the jump device. OSError or UnicodeError without any, DeviceFailed if it must not be reached."""


async def anywhere(host: str, port: int) -> Sequence[str]:
    """Return all addresses that the operating system's resolver knows, without any rule."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


async def as_named(host: str, port: int) -> Sequence[str]:
    """Return the name itself, for a target behind a jump device, which resolves the name."""
    return [host]


@dataclass(frozen=True, kw_only=True)
class Login:
    """A credential: a user name with either a password or a private key (text of the key file).

    With a `certificate` (OpenSSH's one-line form) for the key, the certificate alone is offered.

    `enable_withheld`: the credential has an enable secret that must not be sent to this device.

    A repr shows the user name only. InvalidInput when both or neither are given: a login tries exactly one
    thing, so that a wrong credential costs one attempt.
    """

    username: str
    password: str | None = field(default=None, repr=False)
    private_key: str | None = field(default=None, repr=False)
    passphrase: str | None = field(default=None, repr=False)
    enable_secret: str | None = field(default=None, repr=False)
    certificate: str | None = field(default=None, repr=False)
    enable_withheld: bool = False

    def __post_init__(self) -> None:
        if (self.password is None) == (self.private_key is None):
            raise InvalidInput("a login needs either a password or a private key")

    @property
    def knows_enable(self) -> bool:
        return self.enable_withheld or bool(self.enable_secret)

    def secret_for_enable(self) -> str | None:
        """Return the enable secret, or None without one; DeviceFailed `not_vouched` for one that is
        withheld.
        """
        if self.enable_withheld:
            raise DeviceFailed(NOT_VOUCHED, kind="not_vouched")
        return self.enable_secret

    @cached_property
    def key(self) -> asyncssh.SSHKey | None:
        """The decoded private key, None for a password login.

        Decoding an encrypted key is slow on purpose: call it in a thread first, and use one Login for all
        devices of a run (the result is kept). DeviceFailed `auth` says why a key cannot be read.
        """
        if self.private_key is None:
            return None
        try:
            return asyncssh.import_private_key(self.private_key, self.passphrase)
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as exc:
            text = f"the private key of the credential cannot be read: {exc}"
            raise DeviceFailed(text, kind="auth") from exc

    @property
    def key_pair(self) -> asyncssh.SSHKey | asyncssh.SSHKeyPair | None:
        """Return what is offered to the device: the key, or the key with its certificate."""
        key = self.key
        if key is None or self.certificate is None:
            return key
        certificate = asyncssh.import_certificate(self.certificate)
        # asyncssh lists the key with the certificate first, then without: that would be a second attempt.
        pair = asyncssh.load_keypairs(key, certlist=[certificate])[0]
        if pair.algorithm == b"ssh-rsa-cert-v01@openssh.com":
            # OpenSSH 8.8 refuses this name; asyncssh tries the other one only if another key follows.
            pair.algorithm = b"rsa-sha2-256-cert-v01@openssh.com"  # OpenSSH 7.8 and later
            pair.sig_algorithms = (b"rsa-sha2-256",)
            pair.set_sig_algorithm(b"rsa-sha2-256")
        return pair


@dataclass(frozen=True, kw_only=True)
class Hop:
    """A jump device: an SSH connection is made to it first, the next one goes through it.

    `name` is what failures call it; without one they use the address. `reach` as in Target.
    """

    host: str
    port: int = 22
    login: Login
    host_key_fingerprint: str | None = None
    ssh_profile: str = "modern"
    jump: "Hop | None" = None
    name: str | None = None
    reach: Reach | None = None

    def __post_init__(self) -> None:
        profile_named(self.ssh_profile)


@dataclass(frozen=True, kw_only=True)
class Target:
    """The device that a session is opened on.

    `host_key_fingerprint` is the pinned key as OpenSSH prints it (`SHA256:...`); None accepts the first key
    that the device shows. `connect_commands` are sent after the login. `ssh_profile` is `modern`,
    `compatible` or `legacy`. `reach` decides what is connected to; None: whatever `host` means. By the
    protocol `telnet` there is neither a profile nor a key; its jump devices are reached by SSH all the same.
    """

    host: str
    port: int = 22
    protocol: Literal["ssh", "telnet"] = "ssh"
    platform: Platform
    connect_commands: tuple[str, ...] = ()
    host_key_fingerprint: str | None = None
    ssh_profile: str = "modern"
    jump: Hop | None = None
    reach: Reach | None = None

    def __post_init__(self) -> None:
        profile_named(self.ssh_profile)


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of a session, for a person who watches it.

    `waits`: for the device, where `text` says what is missing while it lasts. `connected`: `text` is the
    host key, empty over telnet; `logged_in` and `enabled`: the prompt in that `mode`; `ran`: a command, its
    `output` (see encoding.py) and how long it took.
    """

    kind: Literal["waits", "connected", "logged_in", "enabled", "ran"]
    text: str
    mode: str = ""
    output: str = ""
    seconds: float = 0.0


OnStep = Callable[[Step], None]


def ignore_step(step: Step) -> None:
    """Ignore the step, for sessions that no one watches."""


@dataclass(frozen=True, kw_only=True)
class SessionLimits:
    """The limits of a session: times in seconds, sizes in bytes.

    `quiet_seconds` is how long a device must say nothing before a line without a prompt is taken for a
    question (or for log lines after the prompt); a slow device stays silent for less in the middle of a line.
    `prompt_seconds` is what learning the prompt has beyond the login. A read command of the platform ends
    when the device was silent for `silence_seconds`; a user's command has all of its time.
    """

    login_seconds: float = 45.0
    prompt_seconds: float = 10.0
    silence_seconds: float = 20.0
    command_seconds: float = 60.0
    capture_seconds: float = 300.0
    quiet_seconds: float = 1.0
    output_bytes: int = 8 * MIB
