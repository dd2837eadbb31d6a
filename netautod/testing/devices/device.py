"""The simulated device: an SSH server on loopback that behaves, or misbehaves, like a network device."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import asyncssh

from netautod.testing.devices.ios import ios_config, ios_script
from netautod.testing.devices.server import DeviceServer
from netautod.testing.devices.state import DeviceState

_OLD_ALGORITHMS: Mapping[str, dict[str, list[str]]] = {
    "modern": {},
    "compatible": {"kex_algs": ["diffie-hellman-group14-sha1"], "mac_algs": ["hmac-sha1"]},
    "legacy": {
        "kex_algs": ["diffie-hellman-group1-sha1"],
        "encryption_algs": ["aes128-cbc", "3des-cbc"],
        "mac_algs": ["hmac-sha1"],
    },
}
_LINUX_FILES = {
    "/etc/hostname": "host1\n",
    "/etc/hosts": "127.0.0.1\tlocalhost\n",
    "/etc/resolv.conf": "nameserver 192.0.2.53\n",
    "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\n",
}
_LINUX_COMMANDS = {
    "uname -srm": "Linux 6.1.0-28-amd64 x86_64\n",
    "ip route show": "default via 192.0.2.1 dev eth0 proto dhcp metric 100\n",
}


@dataclass(kw_only=True, eq=False)
class SimulatedDevice(DeviceState):
    """A device that listens from `async with` on `host`:`port` (a free port of 127.0.0.1) to its end.

    `platform` is `cisco_ios` (a shell with prompts, `enable`, a pager and an echo like that of a tty), or
    `linux` (exec channels; `files` and `responses` are what there is), or any other name: then `script` (see
    `read_script`) is its command line, and without a script it has exec channels as a `linux` has. `config`
    is the whole output of `show running-config` (of what the script names) and may be assigned while it runs;
    `responses` maps other commands to their output, `questions` those that ask something first. With
    `takes_lines` the lines of the configuration mode change `config`. With `password` None only
    `authorized_key` (a public key in OpenSSH form) logs in. With `enable_password` a session begins in the
    unprivileged mode; `terminal_password` is what a script that asks for a password wants (default:
    `password`). `prompt` is the host name in the prompt unless it is set. `latency` in seconds is waited
    before each answer. `algorithms` names the oldest SSH profile that the device needs. Give 200 devices one
    `host_key` to save their generation.

    What happened: `commands` (lines as received, secrets not among them), `answers` (to questions, an empty
    line too), `login_attempts`, `open_sessions` (shells and running commands), `open_connections`.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._acceptor: asyncssh.SSHAcceptor | None = None
        if self.platform == "cisco_ios":
            self.script = self.script or ios_script()
            self.config = self.config or ios_config(self.hostname)
        if self.platform == "linux":
            self.files = self.files or dict(_LINUX_FILES)
            self.responses = self.responses or dict(_LINUX_COMMANDS)

    @property
    def fingerprint(self) -> str:
        """The host key as `SHA256:...`; the device must have been started."""
        if self.host_key is None:
            raise RuntimeError("the device was not started")
        return self.host_key.get_fingerprint("sha256")

    async def __aenter__(self) -> Self:
        if self.host_key is None:
            self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        options = _OLD_ALGORITHMS[self.algorithms]
        self._acceptor = await asyncssh.listen(
            self.host,
            self.port,
            config=None,
            server_factory=lambda: DeviceServer(self),
            server_host_keys=[self.host_key],
            encoding=None,
            line_editor=False,
            gss_host=None,
            **options,
        )
        self.port = self._acceptor.get_port()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Close the port and cuts every connection."""
        if self._acceptor is not None:
            self._acceptor.close()
            await self._acceptor.wait_closed()
        for task in list(self._tasks):
            task.cancel()
        self.cut_connections()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(connection.wait_closed() for connection in list(self._connections)))

    def cut_connections(self) -> None:
        """Drop the TCP connections of all sessions, as a reload of the device would."""
        for connection in list(self._connections):
            connection.abort()

    def change_host_key(self) -> None:
        """Show new connections another host key, as after a replacement of the hardware."""
        if self._acceptor is None:
            raise RuntimeError("the device was not started")
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        self._acceptor.update(server_host_keys=[self.host_key])
