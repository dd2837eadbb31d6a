"""The one exception for a failure of a device, from the engine up to the executors of plugins; its kinds."""

from datetime import datetime
from typing import Literal

from netautod.core.errors import UpstreamFailed
from netautod.transport.ssh.encoding import readable, readable_beginning, without_c1

FailureKind = Literal[
    "dns",  # the name of the host does not resolve
    "refused",  # nothing accepts the connection there (closed port, no route, channel refused)
    "timeout",  # connection, login or command took too long
    "kex",  # no common SSH algorithm
    "host_key",  # the device shows another host key than the pinned one
    "auth",  # the device refused the login; a repeat may lock the account
    "enable",  # the enable secret is missing or refused
    "prompt",  # no prompt came, or the device waits for an answer instead
    "pager",  # text of the pager is left in a configuration
    "incomplete",  # a configuration stops before its end
    "refused_command",  # the device does not accept the command
    "lost",  # the connection dropped in the middle
    "flood",  # more output than the cap allows
    # Known before the engine connects; nothing was sent to the device.
    "not_found",  # the device was deleted meanwhile
    "credential",  # there is none that may be used
    "suspended",  # background use of the credential waits after refused logins
    "address",  # it stands where no device may be looked for, such as on this machine
    "not_vouched",  # no user who may manage credentials has vouched for its address
    "busy",  # another session is open on the device
]
FINAL_KINDS = frozenset(
    {"address", "auth", "credential", "host_key", "not_found", "not_vouched", "suspended"}
)
NEVER_TRIED = frozenset({"address", "credential", "not_vouched", "suspended"})  # and would not be next time
# The sentence of `not_vouched`, wherever it is found out.
NOT_VOUCHED = "credential waits for approval of this device's address"


class DeviceFailed(UpstreamFailed):
    """Raised if a device could not be reached or read; `text` is a sentence for the operator and holds no
    secret.

    `kind` is what programs branch on. `final`: trying again by itself cannot help soon, or would lock an
    account; it follows from the kind unless it is given. `credential_id` is the credential that was used or
    would have been, None if none was selected yet. `hop` is the name of the jump device (`Hop.name`, else its
    address) when that one failed, so that a refused login there is not held against the device behind it.
    `partial` is what a command had printed before it failed. `suspended_until`: background work does not
    repeat the refused login before then. `shown_key`: the fingerprint of a key that is not the pinned one.
    """

    def __init__(
        self,
        text: str,
        *,
        kind: FailureKind,
        final: bool | None = None,
        credential_id: str | None = None,
        hop: str | None = None,
        partial: str = "",
    ) -> None:
        super().__init__(readable(text))
        self.kind = kind
        self.final = kind in FINAL_KINDS if final is None else final
        self.credential_id = credential_id
        self.hop = hop
        self._partial = without_c1(readable_beginning(partial))
        self.suspended_until: datetime | None = None
        self.shown_key: str | None = None
        self.logged = False  # to the log, by the innermost of those that it passes

    @property
    def partial(self) -> str:
        return self._partial

    @partial.setter
    def partial(self, text: str) -> None:
        self._partial = without_c1(readable_beginning(text))
