"""What a credential is to its readers (never a secret), and the opened one that a login uses."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.core.errors import Conflict
from netautod.core.json_values import to_text
from netautod.credentials import hosts

# The secrets of an SNMPv3 user are its keys: `has_secret` covers them too.
SECRETS = ("secret", "auth_key", "priv_key")


class CredentialUnusable(Conflict):
    """There is no credential for a login, and nothing was sent to the device."""


class NoCredential(CredentialUnusable):
    """Neither the request, the device nor the organization names one that exists."""


class CredentialNotAllowed(CredentialUnusable):
    """The host is outside the credential's `allowed_hosts`."""


@dataclass(frozen=True, kw_only=True)
class Credential:
    """`stored` names the sealed fields that there are. `revision` grows with every change."""

    id: str
    name: str
    description: str | None
    credential_type: str
    username: str | None
    port: int | None
    allowed_hosts: tuple[str, ...]
    auth_protocol: str | None
    priv_protocol: str | None
    stored: frozenset[str]
    is_default: bool
    revision: int
    use_certificate: bool
    created_at: datetime
    updated_at: datetime

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "credential_type": self.credential_type,
            "username": self.username,
            "port": self.port,
            "allowed_hosts": list(self.allowed_hosts),
            "has_secret": not self.stored.isdisjoint(SECRETS),
            "has_passphrase": "passphrase" in self.stored,
            "has_enable_secret": "enable_secret" in self.stored,
            "is_default": self.is_default,
            "use_certificate": self.use_certificate,
            "created_at": to_text(self.created_at),
            "updated_at": to_text(self.updated_at),
        }


@dataclass(frozen=True, kw_only=True)
class UsableCredential:
    """Opened for one login; `secret` is the password, or the private key of an `ssh_key`.

    `revision` tells a later change of the credential from the one that was tried. With `use_certificate` the
    key logs in with a certificate of the organization's own authority. `allowed_hosts` as in the credential.
    """

    id: str
    name: str
    type: str
    username: str
    secret: str = field(repr=False)
    passphrase: str | None = field(repr=False)
    enable_secret: str | None = field(repr=False)
    revision: int
    use_certificate: bool = False
    allowed_hosts: tuple[str, ...] = ()

    def require_host(self, host: str) -> None:
        """Raises CredentialNotAllowed for a host that it must not be sent to, whatever its addresses are.

        A name that only networks could cover is held against them when it is connected to.
        """
        if not (hosts.allows(self.allowed_hosts, host) or hosts.needs_addresses(self.allowed_hosts, host)):
            raise CredentialNotAllowed("credential not allowed for this host")
