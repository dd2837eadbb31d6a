"""The state of a notes vault: as its service knows it, and as a caller sees it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.documents.notes.passphrases import PassphraseWrap


@dataclass(frozen=True, kw_only=True)
class VaultState:
    """The stored state. `open_key` as sealed, None while locked; without `unlocked_until` there is no
    auto-lock.
    """

    open_key: Any = field(repr=False)
    unlocked_until: datetime | None
    passphrase: PassphraseWrap | None

    def unlocked(self, now: datetime) -> bool:
        in_time = self.unlocked_until is None or self.unlocked_until > now
        return self.open_key is not None and in_time


@dataclass(frozen=True, kw_only=True)
class VaultStatus:
    unlocked: bool
    has_master_password: bool

    def to_json(self) -> dict[str, Any]:
        return {"unlocked": self.unlocked, "has_master_password": self.has_master_password}
