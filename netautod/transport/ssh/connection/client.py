"""The client side of one SSH login: checks the pinned host key and sends the credential at most once."""

from collections.abc import Sequence

import asyncssh

from netautod.core.work.guard import Guard
from netautod.transport.ssh.platform.redact import quoted
from netautod.transport.ssh.target import Login, OnStep, Step, ignore_step

_Prompts = Sequence[tuple[str, bool]]


class OneAttemptClient(asyncssh.SSHClient):
    """The callbacks that asyncssh makes during a login.

    asyncssh asks for a password again when one method was refused and the next begins (`password`, then
    `keyboard-interactive`): the second answer is None here, because accounts lock after a few tries.
    """

    def __init__(
        self,
        *,
        login: Login,
        pinned: str | None,
        guard: Guard,
        name: str = "",
        on_step: OnStep = ignore_step,
    ) -> None:
        """Create the client of one connection; `name` is that of the device in the steps."""
        self._login = login
        self._pinned = pinned
        self._guard = guard
        self._name = name
        self._on_step = on_step
        self.fingerprint: str | None = None  # of the key that the device showed
        self.host_key_changed = False
        self.offered = False  # the credential was sent
        self.refusal: str | None = None  # what the device wanted beyond the credential

    def waits(self, missing: str) -> None:
        """Say what is missing from now on."""
        self._on_step(Step(kind="waits", text=f"{self._name}: {missing}"))

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        """Say that the device has accepted the connection: something listens there, if it speaks or not."""
        self.waits("it accepted the connection, but there was no key exchange")

    def begin_auth(self, username: str) -> None:
        """Say that the keys are exchanged."""
        self.waits("no answer to the login")

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Trust on first use; called before any credential is sent, and again when keys are exchanged anew.

        The first key counts for the whole connection: one that comes later is never pinned.
        """
        expected = self._pinned or self.fingerprint
        self.fingerprint = key.get_fingerprint("sha256")
        self.host_key_changed = expected is not None and self.fingerprint != expected
        return not self.host_key_changed

    def public_key_auth_requested(self) -> asyncssh.SSHKey | asyncssh.SSHKeyPair | None:
        """Return the key (with its certificate), once."""
        key = self._login.key_pair
        if key is None or self.offered:
            return None
        self._offer()
        return key

    def password_auth_requested(self) -> str | None:
        """Return the password, once."""
        if self._login.password is None or self.offered:
            return None
        self._offer()
        return self._login.password

    def kbdint_auth_requested(self) -> str | None:
        """Accept keyboard-interactive (RFC 4256) as long as the password was not tried before."""
        return None if self._login.password is None or self.offered else ""

    def kbdint_challenge_received(
        self, name: str, instructions: str, lang: str, prompts: _Prompts
    ) -> list[str] | None:
        """Answer one hidden prompt with the password; any further prompt ends the login."""
        if not prompts:  # a message without a question must be answered with nothing (RFC 4256, 3.4)
            return []
        if self.offered or len(prompts) > 1 or prompts[0][1]:
            self.refusal = (
                f"it asks {quoted(prompts[-1][0], most=80)!r}, which a password alone cannot answer"
            )
            return None
        self._offer()
        return [self._login.password or ""]

    def password_change_requested(self, prompt: str, lang: str) -> tuple[str, str]:
        """Refuse to change an expired password, which a person must do."""
        self.refusal = "it wants the password to be changed first"
        return NotImplemented  # type: ignore[no-any-return]  # asyncssh's documented way to decline

    def _offer(self) -> None:
        self._guard()
        self.offered = True
