"""What the SSH certificate authority answers: its own key, and the certificates that it signs."""

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
    """What is kept of a certificate until nobody accepts it any more. `user_id`: for whom it was made;
    `session_id`: the login that it came with, None for the service's own login on a device.
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
    """What servers are told to trust (TrustedUserCAKeys of sshd_config(5))."""

    ca_public_key: str
    fingerprint: str

    def to_json(self) -> dict[str, Any]:
        return {"ca_public_key": self.ca_public_key, "fingerprint": self.fingerprint}
