"""Sessions, tokens and the answer to a login, as values; secrets in them stay out of their repr."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.core.identity.caller import OrgId, UsedToken
from netautod.core.json.values import optional_text, to_text
from netautod.identity.auth.ssh_ca.models import SshCertificate
from netautod.identity.users.models import User

ADMIN_UI, TERMINAL = "admin_ui", "terminal"
CLIENT_TYPES = (ADMIN_UI, TERMINAL)
NEVER = "never"  # the end of an API token that has none


@dataclass(frozen=True, kw_only=True)
class LoginSession:
    """A session of one login. Its refresh tokens are one family.

    They end with the session, at the latest at `family_expires_at`; after `expires_at` neither a refresh nor
    an access token can be valid. A session of the console has no tokens but a cookie, whose SHA-256 in hex is
    `cookie_hash`; it ends at `expires_at` unless a person makes a request before.
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
    cookie_hash: str | None = field(default=None, repr=False)

    def holds(self, user: User, now: datetime) -> bool:
        """Return whether this session may act as the user."""
        same = self.user_id == user.id and self.org_id == user.org_id
        alive = self.ended_at is None and now < self.expires_at
        current = self.epoch == user.session_epoch or self.id == user.kept_session_id
        return same and alive and user.is_active and current

    def to_json(self, *, current: bool) -> dict[str, Any]:
        """Return the session for an answer. `current`: the request was made with this session."""
        return {
            "id": self.id,
            "user_id": self.user_id,
            "client_type": self.client_type,
            "auth_provider": self.auth_provider,
            "ip_address": self.ip_address,
            "user_agent": self.user_agent,
            "created_at": to_text(self.created_at),
            "last_activity_at": to_text(self.last_activity_at),
            "expires_at": to_text(self.expires_at),
            "current": current,
        }


@dataclass(frozen=True, kw_only=True)
class SeatSlot:
    """A numbered seat of a terminal. `holder` is the id of a session; `confirmed` once that is stored."""

    holder: str
    taken_at: datetime
    confirmed: bool


@dataclass(frozen=True, kw_only=True)
class RefreshToken:
    """A refresh token as stored; `hash` is its SHA-256, in hex. `used_at` is set once."""

    hash: str = field(repr=False)
    org_id: OrgId
    user_id: str
    session_id: str
    epoch: int
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class StoredSigningKey:
    """A stored key that signs access tokens. Keys are numbered by `generation`.

    `signs_from`: its tokens are issued from then on. `alone_from`: older keys are not needed any more.
    """

    kid: str
    generation: int
    signs_from: datetime
    alone_from: datetime
    sealed: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class ApiToken:
    """A machine's token; `hash` is the SHA-256 of its plain text, in hex. `expires_at` None: never.

    `epoch` is the owner's at creation: the token ends when the owner's increases, as after a password reset.
    """

    id: str
    org_id: OrgId
    user_id: str
    name: str
    hash: str = field(repr=False)
    permissions: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    epoch: int = 0

    def holds(self, owner: User, now: datetime) -> bool:
        """Return whether the token may act for its owner."""
        same = self.user_id == owner.id and self.org_id == owner.org_id
        current = self.epoch == owner.token_epoch and owner.is_active
        return same and current and (self.expires_at is None or now < self.expires_at)

    @property
    def used(self) -> UsedToken:
        """Return the token as the caller of a request carries it."""
        return UsedToken(id=self.id, name=self.name, expires_at=self.expires_at)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "permissions": list(self.permissions),
            "created_at": to_text(self.created_at),
            "expires_at": optional_text(self.expires_at),
            "last_used_at": optional_text(self.last_used_at),
        }


@dataclass(frozen=True, kw_only=True)
class IssuedTokens:
    """The tokens that a login and a refresh answer; `expires_in` in seconds."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_in: int
    ssh_certificate: SshCertificate | None = None

    def to_json(self) -> dict[str, Any]:
        tokens: dict[str, Any] = {
            "access_token": self.access_token,
            "refresh_token": self.refresh_token,
            "token_type": "Bearer",
            "expires_in": self.expires_in,
        }
        if self.ssh_certificate is not None:
            tokens["ssh_certificate"] = self.ssh_certificate.to_json()
        return tokens


@dataclass(frozen=True, kw_only=True)
class LoginRequest:
    """A request to log in with a name and a password."""

    username: str
    password: str = field(repr=False)
    client_type: str = ADMIN_UI
    public_key: str | None = None
    otp: str | None = field(default=None, repr=False)
