"""The SSH certificate authority's own key, and the certificates that it signs, as values."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.core.json.values import to_text


@dataclass(frozen=True, kw_only=True)
class SshCertificate:
    """A signed user certificate in OpenSSH's one-line form, and the authority's public key likewise."""

    certificate: str
    ca_public_key: str
    valid_after: datetime
    valid_before: datetime
    serial: int

    def to_json(self) -> dict[str, Any]:
        return {
            "certificate": self.certificate,
            "ca_public_key": self.ca_public_key,
            "valid_after": to_text(self.valid_after),
            "valid_before": to_text(self.valid_before),
            "serial": self.serial,
        }


@dataclass(frozen=True, kw_only=True)
class IssuedCertificate:
    """The record of a certificate until it expires everywhere.

    `user_id`: the user for whom it was signed; `session_id`: the login that it came with, None for the
    service's own login on a device.
    """

    id: str
    org_id: OrgId
    serial: int
    key_id: str
    user_id: str
    session_id: str | None
    principals: tuple[str, ...]
    valid_before: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class AuthorityKey:
    """The key that servers have to trust (TrustedUserCAKeys of sshd_config(5))."""

    ca_public_key: str
    fingerprint: str

    def to_json(self) -> dict[str, Any]:
        return {"ca_public_key": self.ca_public_key, "fingerprint": self.fingerprint}
