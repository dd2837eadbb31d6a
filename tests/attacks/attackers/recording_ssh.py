"""An SSH server of an attacker: it lets everybody in and writes down every secret that it is told.

As a jump host it connects wherever its owner likes, whatever it is asked for.
"""

from collections.abc import Sequence
from typing import Any, Self

import asyncssh


class RecordingSsh:
    """Listens on `host`:`port` (any free one) from `async with` to its end.

    It offers logins by key and by the `methods`. `heard`: passwords, answers to questions, and what was typed
    at a password prompt, in their order. `forwards_to`: where connections through it end.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        methods: Sequence[str] = ("password",),
        forwards_to: tuple[str, int] | None = None,
    ) -> None:
        self.host, self.port = host, port
        self.methods = methods
        self.forwards_to = forwards_to
        self.heard: list[str] = []
        self.logins = 0
        self._acceptor: asyncssh.SSHAcceptor | None = None

    async def __aenter__(self) -> Self:
        self._acceptor = await asyncssh.listen(
            self.host,
            self.port,
            config=None,
            server_factory=lambda: _Server(self),
            process_factory=self._typed_at,
            server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
            line_editor=False,
            gss_host=None,
        )
        self.port = self._acceptor.get_port()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._acceptor is not None:
            self._acceptor.close()

    async def _typed_at(self, process: asyncssh.SSHServerProcess[str]) -> None:
        """A switch in its unprivileged mode; `telnet` seems to lead to another one, in the same mode."""
        prompt = "sw1>"
        process.stdout.write(f"\r\n{prompt}")
        while (line := await _line(process)) is not None:
            process.stdout.write(f"{line}\r\n")
            if line == "enable":
                process.stdout.write("Password: ")
                self.heard.append(await _line(process) or "")
                prompt = "sw1#"
            if line.startswith("telnet"):
                prompt = "sw1>"
            process.stdout.write(f"\r\n{prompt}")


async def _line(process: asyncssh.SSHServerProcess[str]) -> str | None:
    """The next line without its end; None when the client is gone."""
    found = ""
    while True:
        try:
            character = await process.stdin.read(1)
        except (asyncssh.BreakReceived, asyncssh.TerminalSizeChanged):
            continue
        if not character:
            return None
        if character in "\r\n":
            return found
        found += character


class _Server(asyncssh.SSHServer):
    def __init__(self, recording: RecordingSsh) -> None:
        self._recording = recording
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn

    def begin_auth(self, username: str) -> bool:
        return True

    def auth_completed(self) -> None:
        self._recording.logins += 1

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return "password" in self._recording.methods

    def validate_password(self, username: str, password: str) -> bool:
        self._recording.heard.append(password)
        return True

    def kbdint_auth_supported(self) -> bool:
        return "keyboard-interactive" in self._recording.methods

    def get_kbdint_challenge(
        self, username: str, lang: str, submethods: str
    ) -> tuple[str, str, str, list[tuple[str, bool]]]:
        return "", "", "", [("Password: ", False)]

    def validate_kbdint_response(self, username: str, responses: Sequence[str]) -> bool:
        self._recording.heard += responses
        return True

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> Any:
        if self._connection is None or self._recording.forwards_to is None:
            return False
        return self._connection.forward_connection(*self._recording.forwards_to)
