"""The SSH side of a simulated device: logins, and the channel that each session gets."""

import re
from collections.abc import Sequence

import asyncssh

from netautod.testing.devices import cli, linux_host
from netautod.testing.devices.state import DeviceState, LoginAttempt
from netautod.testing.devices.tty import Tty


class DeviceServer(asyncssh.SSHServer):
    """The callbacks of one connection to the device."""

    def __init__(self, device: DeviceState) -> None:
        self._device = device
        self._connection: asyncssh.SSHServerConnection | None = None
        self._keys_seen: set[bytes] = set()

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._device.note_connection(conn, opened=True)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._connection is not None:
            self._device.note_connection(self._connection, opened=False)

    def begin_auth(self, username: str) -> bool:
        return not self._device.faults.open_to_all

    def public_key_auth_supported(self) -> bool:
        return self._device.authorized_key is not None

    def password_auth_supported(self) -> bool:
        return self._device.password is not None and not self._device.keyboard_interactive_only

    def kbdint_auth_supported(self) -> bool:
        return self._device.password is not None

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Check a key; called for the question whether a key would do, and again for the signature."""
        wanted = self._device.authorized_key
        accepted = (
            wanted is not None
            and self._is_user(username)
            and key == asyncssh.import_public_key(wanted)
            and not self._device.faults.refuse_logins
        )
        if key.public_data not in self._keys_seen:
            self._keys_seen.add(key.public_data)
            self._note("publickey", accepted)
        return accepted

    def validate_password(self, username: str, password: str) -> bool:
        if self._device.faults.expired_password:
            raise asyncssh.PasswordChangeRequired("Your password has expired")
        return self._note("password", self._matches(username, password))

    def get_kbdint_challenge(
        self, username: str, lang: str, submethods: str
    ) -> tuple[str, str, str, list[tuple[str, bool]]]:
        return "", "", "", [("Password: ", False)]

    def validate_kbdint_response(self, username: str, responses: Sequence[str]) -> bool:
        return self._note("keyboard-interactive", self._matches(username, "".join(responses)))

    def session_requested(self) -> Tty:
        return Tty(self._device, linux_host.serve if self._device.script is None else cli.serve)

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        """Forward to loopback only, as a jump device."""
        return dest_host == "127.0.0.1"

    def _matches(self, username: str, password: str) -> bool:
        device = self._device
        if device.faults.refuse_logins:
            return False
        return self._is_user(username) and device.password is not None and password == device.password

    def _is_user(self, name: str) -> bool:
        """Return whether this is the name of the user, with the options behind it that the device
        understands.
        """
        options = self._device.script.login_options if self._device.script is not None else ""
        return re.fullmatch(f"{re.escape(self._device.username)}(?:{options})?", name) is not None

    def _note(self, method: str, accepted: bool) -> bool:
        self._device.login_attempts.append(LoginAttempt(method, accepted))
        self._device.note_change()
        if self._device.faults.hang_up_on_login and self._connection is not None:
            self._connection.abort()
        return accepted
