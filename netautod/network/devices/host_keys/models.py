"""A changed host key that waits for a decision."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.core.json.values import to_text


@dataclass(frozen=True, kw_only=True)
class HostKeyPrompt:
    """The newest key that the device has shown instead of the pinned one, and where it was visited.

    `trusted`: the device and the way to it were vouched for at that visit, and the device still is. Another
    key is another prompt, so that users decide only about keys that they have seen.
    """

    id: str
    device_id: str
    device_name: str
    host: str
    port: int
    jump_device_id: str | None
    fingerprint: str
    previous_fingerprint: str
    trusted: bool
    created_at: datetime

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "host": self.host,
            "port": self.port,
            "device_id": self.device_id,
            "device_name": self.device_name,
            "is_changed_key": True,
            "fingerprint": self.fingerprint,
            "previous_fingerprint": self.previous_fingerprint,
            "created_at": to_text(self.created_at),
        }
