"""The SSH connection to a device, through its jump devices; each failure is a DeviceFailed."""

import asyncio
import errno
import socket
from collections.abc import Sequence
from dataclasses import dataclass

import asyncssh
from asyncssh.saslprep import SASLPrepError

from netautod.core.work.guard import Guard
from netautod.transport.ssh.connection.client import OneAttemptClient
from netautod.transport.ssh.failures import DeviceFailed, FailureKind
from netautod.transport.ssh.platform.redact import quoted
from netautod.transport.ssh.profiles import explain_mismatch, profile_named
from netautod.transport.ssh.target import Hop, Login, OnStep, Reach, Target, anywhere, as_named, ignore_step

_KEEPALIVE_SECONDS = 15
_CLOSE_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class Connection:
    """An authenticated connection; the connections of the jump devices live exactly as long as it does.

    `fingerprints` are the host keys (`SHA256:...`) in the order of the path, the device's own last.
    `offered`: the device requested the credential; a device without SSH authentication prompts on its
    terminal.
    """

    ssh: asyncssh.SSHClientConnection
    hops: tuple[asyncssh.SSHClientConnection, ...]
    fingerprints: tuple[str, ...]
    offered: bool

    def abort(self) -> None:
        """Close the TCP connections at once, without an SSH disconnect message."""
        for connection in (self.ssh, *reversed(self.hops)):
            connection.abort()

    async def close(self) -> None:
        """Disconnect (RFC 4253 11.1), and abort when that takes over two seconds."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                for connection in (self.ssh, *reversed(self.hops)):
                    connection.close()
                    await connection.wait_closed()
        except TimeoutError:
            pass  # a peer that does not close its side is not waited for
        finally:
            self.abort()


@dataclass(frozen=True, kw_only=True)
class _Leg:
    """A leg of the path: One connection of the path; `hop` is its name in a failure, None for the device
    itself.

    `suffix` are the options that a platform wants behind the user name.
    """

    host: str
    port: int
    login: Login
    pinned: str | None
    profile: str
    hop: str | None
    reach: Reach | None
    suffix: str = ""

    @property
    def name(self) -> str:
        return f"{self.host} port {self.port}" if self.hop is None else f"jump device {self.hop}"

    def failure(self, kind: FailureKind, text: str) -> DeviceFailed:
        return DeviceFailed(f"{self.name}: {text}", kind=kind, hop=self.hop)


async def connect(
    target: Target, login: Login, *, guard: Guard, seconds: float, on_step: OnStep = ignore_step
) -> Connection:
    """Connect and log in, each leg of the path within `seconds`. The DeviceFailed says which leg failed and
    why.

    `guard` is called before each connection and before a credential is sent; what it raises is passed on.
    `on_step` is called with the name of each step that is waited for.
    """
    own = _Leg(
        host=target.host,
        port=target.port,
        login=login,
        pinned=target.host_key_fingerprint,
        profile=target.ssh_profile,
        hop=None,
        reach=target.reach,
        suffix=target.platform.login_suffix,
    )
    return await _connected([*_jumps(target), own], guard=guard, seconds=seconds, on_step=on_step)


async def connect_jumps(
    target: Target, *, guard: Guard, seconds: float, on_step: OnStep
) -> Connection | None:
    """Connect to the last jump device on the way to a target that takes no SSH; return None without one."""
    legs = _jumps(target)
    return await _connected(legs, guard=guard, seconds=seconds, on_step=on_step) if legs else None


async def _connected(legs: Sequence[_Leg], *, guard: Guard, seconds: float, on_step: OnStep) -> Connection:
    opened: list[asyncssh.SSHClientConnection] = []
    fingerprints: list[str] = []
    try:
        for leg in legs:
            guard()
            tunnel = opened[-1] if opened else None
            client = OneAttemptClient(
                login=leg.login, pinned=leg.pinned, guard=guard, name=leg.name, on_step=on_step
            )
            ssh = await _open(leg, client, tunnel, guard=guard, seconds=seconds)
            opened.append(ssh)
            fingerprints.append(client.fingerprint or "")
    except BaseException:
        for ssh in reversed(opened):
            ssh.abort()
        raise
    return Connection(
        ssh=opened[-1], hops=tuple(opened[:-1]), fingerprints=tuple(fingerprints), offered=client.offered
    )


def _jumps(target: Target) -> list[_Leg]:
    """Return the jump devices, the first one of the path first."""
    legs: list[_Leg] = []
    hop: Hop | None = target.jump
    while hop is not None:
        legs.append(
            _Leg(
                host=hop.host,
                port=hop.port,
                login=hop.login,
                pinned=hop.host_key_fingerprint,
                profile=hop.ssh_profile,
                hop=hop.name or hop.host,
                reach=hop.reach,
            )
        )
        hop = hop.jump
    return legs[::-1]


async def _open(
    leg: _Leg,
    client: OneAttemptClient,
    tunnel: asyncssh.SSHClientConnection | None,
    *,
    guard: Guard,
    seconds: float,
) -> asyncssh.SSHClientConnection:
    if leg.login.private_key is not None:
        await asyncio.to_thread(lambda: leg.login.key)
    try:
        async with asyncio.timeout(seconds):
            return await _connect_checked(leg, client, tunnel, guard)
    except TimeoutError as exc:
        raise leg.failure("timeout", f"no login within {seconds:g} s") from exc
    except (asyncssh.Error, SASLPrepError) as exc:
        raise _explain(leg, client, exc) from exc
    except (OSError, UnicodeError) as exc:
        raise leg.failure(*network_problem(exc)) from exc


async def _connect_checked(
    leg: _Leg, client: OneAttemptClient, tunnel: asyncssh.SSHClientConnection | None, guard: Guard
) -> asyncssh.SSHClientConnection:
    """Connect to an address that was checked once: a name that changes its address meanwhile leads
    nowhere.
    """
    reach = leg.reach or (anywhere if tunnel is None else as_named)
    client.waits("no answer to the look-up of its name")
    try:
        places = await reach(leg.host, leg.port)
    except DeviceFailed as exc:
        raise leg.failure(exc.kind, exc.text) from exc
    client.waits("no connection")
    for number, place in enumerate(places, start=1):
        guard()
        try:
            return await _handshake(leg, client, place, tunnel)
        except (OSError, asyncssh.ChannelOpenError):
            if number == len(places) or client.fingerprint is not None:  # else no connection came about there
                raise
    raise OSError(errno.EHOSTUNREACH, "the name has no address")


async def _handshake(
    leg: _Leg, client: OneAttemptClient, place: str, tunnel: asyncssh.SSHClientConnection | None
) -> asyncssh.SSHClientConnection:
    """Open one TCP connection, exchange keys and log in; use no file of the user and no agent.

    `client_keys=None` is what keeps asyncssh from ~/.ssh and the agent (an empty list does not); the key is
    given by the client's callback. The empty trust lists make asyncssh ask the client about the host key.
    """
    profile = profile_named(leg.profile)
    return await asyncssh.connect(
        place,
        leg.port,
        tunnel=tunnel,
        config=None,
        client_factory=lambda: client,
        known_hosts=([], [], []),
        x509_trusted_certs=None,
        username=leg.login.username + leg.suffix,
        client_keys=None,
        agent_path=None,
        gss_host=None,
        gss_kex=False,
        gss_auth=False,
        host_based_auth=False,
        public_key_auth=leg.login.private_key is not None,
        password_auth=leg.login.password is not None,
        kbdint_auth=leg.login.password is not None,
        preferred_auth=["publickey", "password", "keyboard-interactive"],
        kex_algs=list(profile.key_exchanges),
        encryption_algs=list(profile.ciphers),
        mac_algs=list(profile.macs),
        server_host_key_algs=list(profile.host_keys),
        compression_algs=["none"],
        login_timeout=0,
        keepalive_interval=_KEEPALIVE_SECONDS,
    )


def _explain(leg: _Leg, client: OneAttemptClient, exc: Exception) -> DeviceFailed:
    if client.host_key_changed:
        changed = leg.failure(
            "host_key",
            f"host key changed: pinned is {leg.pinned}, the device shows {client.fingerprint}. "
            "Nothing was sent. Approve the new key, or reset the pinned one, if the change is yours",
        )
        changed.shown_key = client.fingerprint
        return changed
    if isinstance(exc, asyncssh.KeyExchangeFailed):
        return leg.failure("kex", explain_mismatch(str(exc), leg.profile))
    if isinstance(exc, asyncssh.HostKeyNotVerifiable):
        return leg.failure("host_key", f"the host key cannot be used ({quoted(str(exc))})")
    if client.refusal is not None:
        return leg.failure("auth", f"login of {leg.login.username!r} stopped: {client.refusal}")
    if isinstance(exc, asyncssh.PermissionDenied | SASLPrepError):
        return leg.failure("auth", _refusal(leg, client))
    if isinstance(exc, asyncssh.ChannelOpenError):
        return leg.failure("refused", f"the jump device could not connect to it ({quoted(str(exc))})")
    if client.offered:
        # Some devices hang up instead of saying no. Taken as a refusal: repeating it may lock the account.
        return leg.failure(
            "auth", f"the device hung up on the login of {leg.login.username!r} ({quoted(str(exc))})"
        )
    return leg.failure("lost", f"the device hung up before the login ({quoted(str(exc))})")


def _refusal(leg: _Leg, client: OneAttemptClient) -> str:
    what = "password" if leg.login.private_key is None else "key"
    if not client.offered:
        return f"the device does not accept a login of {leg.login.username!r} by {what}"
    return f"login of {leg.login.username!r} refused (wrong user name or {what}, or account locked)"


def network_problem(exc: OSError | UnicodeError, *, service: str = "SSH") -> tuple[FailureKind, str]:
    """Return why the connection failed, as the end of a sentence; `service` is what should listen there."""
    if isinstance(exc, socket.gaierror | UnicodeError):
        return "dns", f"the host name does not resolve ({exc})"
    if isinstance(exc, ConnectionRefusedError):
        return "refused", f"connection refused (is {service} enabled on this port?)"
    if exc.errno == errno.ETIMEDOUT:
        return "timeout", "the connection attempt timed out"
    if isinstance(exc, ConnectionError):
        return "lost", f"the device hung up before the login ({exc.strerror or exc})"
    return "refused", f"no connection ({exc.strerror or exc})"
