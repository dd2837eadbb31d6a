"""One-time codes as values: which code fits when, recovery codes, and what is stored. Pure."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyotp

from netautod.identity.users.models import User

ISSUER = "netautod"
STEP_SECONDS = 30
RECOVERY_CODES = 10
_CODE = re.compile(r"[0-9]{6}")
_RECOVERY = re.compile(r"[a-z2-7]{16}")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


@dataclass(frozen=True, kw_only=True)
class PendingCodes:
    """The codes that were set up and are not confirmed yet. `recovery` are keyed hashes."""

    id: str
    sealed: Mapping[str, Any] = field(repr=False)
    recovery: tuple[str, ...] = field(repr=False)
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class ActiveCodes:
    """The codes that a login requires. No code of `last_step` or an earlier step is accepted any more."""

    id: str
    sealed: Mapping[str, Any] = field(repr=False)
    recovery: tuple[str, ...] = field(repr=False)
    last_step: int
    confirmed_at: datetime


@dataclass(frozen=True, kw_only=True)
class NewCodes:
    """The new codes, which a user sees once."""

    secret: str = field(repr=False)
    otpauth_uri: str = field(repr=False)
    recovery_codes: tuple[str, ...] = field(repr=False)

    @classmethod
    def generate(cls, user: User) -> "NewCodes":
        secret = pyotp.random_base32()
        uri = pyotp.TOTP(secret).provisioning_uri(name=user.username, issuer_name=ISSUER)
        codes = tuple(_recovery_code() for _ in range(RECOVERY_CODES))
        return cls(secret=secret, otpauth_uri=uri, recovery_codes=codes)

    def to_json(self) -> dict[str, Any]:
        return {
            "secret": self.secret,
            "otpauth_uri": self.otpauth_uri,
            "recovery_codes": list(self.recovery_codes),
        }


def fitting_steps(secret: str, typed: str, now: datetime) -> list[int]:
    """Return the steps whose code this is: this one and its two neighbours (RFC 6238, 5.2)."""
    code = typed.replace(" ", "")
    if not _CODE.fullmatch(code):
        return []
    totp, current = pyotp.TOTP(secret), int(now.timestamp()) // STEP_SECONDS
    steps = range(current - 1, current + 2)
    return [step for step in steps if hmac.compare_digest(totp.generate_otp(step), code)]


def recovery_hash(key: bytes, user_id: str, typed: str) -> str | None:
    """Return the stored hash of a recovery code, None for text of another form; ignores blanks, dashes and
    case.
    """
    code = re.sub(r"[\s-]", "", typed).lower()
    if not _RECOVERY.fullmatch(code):
        return None
    return hmac.new(key, f"{user_id} {code}".encode(), hashlib.sha256).hexdigest()


def _recovery_code() -> str:
    """Generate a code of 80 random bits."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(16))
    return "-".join(letters[at : at + 4] for at in range(0, 16, 4))
