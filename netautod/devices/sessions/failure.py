"""Why there is no session on a device, or why it ended."""

from datetime import datetime

from netautod.ssh.failures import DeviceFailure, FailureKind

FINAL_KINDS = frozenset({"auth", "credential", "host_key", "suspended"})


class SessionFailure(DeviceFailure):
    """`credential_id` is the chosen credential, None before the choice.

    `final`: trying again by itself cannot help soon, or would lock an account. `suspended_until`: after a
    refused login, when background work will try it again.
    """

    def __init__(
        self,
        kind: FailureKind,
        text: str,
        *,
        credential_id: str | None = None,
        hop: str | None = None,
        partial: str = "",
        suspended_until: datetime | None = None,
    ) -> None:
        super().__init__(kind, text, hop=hop, partial=partial)
        self.credential_id = credential_id
        self.final = kind in FINAL_KINDS
        self.suspended_until = suspended_until
