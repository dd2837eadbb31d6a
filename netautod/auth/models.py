"""Sessions, refresh tokens and what a login answers, as values; secrets in them stay out of their repr."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.store.client import OrgId
from netautod.users.models import User

ADMIN_UI, TERMINAL = "admin_ui", "terminal"
CLIENT_TYPES = (ADMIN_UI, TERMINAL)


@dataclass(frozen=True, kw_only=True)
class Session:
    """One login. Its refresh tokens are one family: they end with the session, at the latest at
    `family_expires_at`; `expires_at` is when neither refresh nor access token can be valid any more.
    """

    id: str
    org_id: OrgId
    user_id: str
    epoch: int
    client_type: str
    auth_provider: str
    ip_address: str
    user_agent: str
    created_at: datetime
    last_activity_at: datetime
    expires_at: datetime
    family_expires_at: datetime
    ended_at: datetime | None = None

    def holds(self, user: User, now: datetime) -> bool:
        """True while this session may act as the user."""
        same = self.user_id == user.id and self.org_id == user.org_id
        alive = self.ended_at is None and now < self.expires_at
        return same and alive and user.is_active and self.epoch == user.session_epoch


@dataclass(frozen=True, kw_only=True)
class RefreshToken:
    """What is stored of a refresh token; `hash` is its SHA-256, in hex. `used_at` is set once."""

    hash: str = field(repr=False)
    org_id: OrgId
    user_id: str
    session_id: str
    epoch: int
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class IssuedTokens:
    """The token response (service.md "Token response"); `expires_in` in seconds."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_in: int

    def to_json(self) -> dict[str, Any]:
        return {
            "access_token": self.access_token,
            "refresh_token": self.refresh_token,
            "token_type": "Bearer",
            "expires_in": self.expires_in,
        }


@dataclass(frozen=True, kw_only=True)
class LoginRequest:
    """What a client sends to log in with a name and a password."""

    username: str
    password: str = field(repr=False)
    client_type: str = ADMIN_UI
    public_key: str | None = None
