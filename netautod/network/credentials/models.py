"""A credential as its readers see it (never a secret), and the opened one that a login uses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.core.errors import Conflict
from netautod.core.json.values import to_text
from netautod.network.credentials import hosts
from netautod.transport.ssh.failures import NOT_VOUCHED

# The secrets of an SNMPv3 user are its keys: `has_secret` covers them too.
SECRETS = ("secret", "auth_key", "priv_key")


class CredentialUnusable(Conflict):
    """Raised when there is no credential for a login; nothing was sent to the device."""


class NoCredential(CredentialUnusable):
    """Raised when neither the request, the device nor the organization names a credential that exists."""


class CredentialNotAllowed(CredentialUnusable):
    """The host is outside the credential's `allowed_hosts`."""


class NotVouched(CredentialUnusable):
    """Raised when no user with the permission to manage credentials has vouched that its secrets may go
    there.
    """

    def __init__(self) -> None:
        super().__init__(NOT_VOUCHED)


@dataclass(frozen=True, kw_only=True)
class Destination:
    """The destination of the secrets of a login, and what vouches for it: by default nothing.

    `vouched`: a user who may manage credentials sent them to this address, or the device's pinned key alone
    gets them. `way_vouched`: that is true of all jump devices before it. `may_be_pinned`: the key that
    answers may be pinned.
    """

    host: str
    vouched: bool = False
    way_vouched: bool = False
    may_be_pinned: bool = False


@dataclass(frozen=True, kw_only=True)
class LoginSecrets:
    """The secrets that may be used for one destination. `enable_withheld`: there is an enable secret, but not
    for it.
    """

    password: str | None = field(default=None, repr=False)
    private_key: str | None = field(default=None, repr=False)
    passphrase: str | None = field(default=None, repr=False)
    enable_secret: str | None = field(default=None, repr=False)
    enable_withheld: bool = False


@dataclass(frozen=True, kw_only=True)
class AgentSecrets:
    """The secrets of an SNMP agent: a community (v2c), or the keys of a user (v3)."""

    community: str | None = field(default=None, repr=False)
    auth_key: str | None = field(default=None, repr=False)
    priv_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Credential:
    """A credential without its secrets. `stored` names the sealed fields that exist. `revision` grows with
    every change.
    """

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
    """A credential opened for use; its secrets leave it by `secrets_for` and `agent_for`, which check the
    destination.

    `revision` tells a later change of the credential from the one that was tried. With `use_certificate` the
    key logs in with a certificate of the organization's own authority. `allowed_hosts` as in the credential.
    """

    id: str
    name: str
    type: str
    username: str
    revision: int
    use_certificate: bool = False
    allowed_hosts: tuple[str, ...] = ()
    port: int | None = None
    auth_protocol: str | None = None
    priv_protocol: str | None = None
    _opened: Mapping[str, str] = field(repr=False)

    def secrets_for(self, destination: Destination) -> LoginSecrets:
        """Return the secrets for a login. Raises CredentialNotAllowed or NotVouched, before anything is sent.

        A key proves itself without being given away; the device keeps whatever else a login sends. Only what
        is known to be a key counts as one.
        """
        self.require_host(destination.host)
        if self.allowed_hosts and not destination.way_vouched:
            raise NotVouched  # where a jump device really connects is its own affair
        enable = self._opened.get("enable_secret")
        sent = enable if destination.vouched else None
        if self.type == "ssh_key":
            return LoginSecrets(
                private_key=self._opened["secret"],
                passphrase=self._opened.get("passphrase"),
                enable_secret=sent,
                enable_withheld=enable is not None and sent is None,
            )
        if not destination.vouched:
            raise NotVouched
        return LoginSecrets(password=self._opened["secret"], enable_secret=sent)

    def agent_for(self, destination: Destination) -> AgentSecrets:
        """Return the secrets of an SNMP credential; raises as `secrets_for`.

        A community is sent as it is. The keys of a user are not, but the agent can try pass phrases against
        what they have signed.
        """
        self.require_host(destination.host)
        if not destination.vouched:
            raise NotVouched
        opened = self._opened.get
        return AgentSecrets(
            community=opened("secret"), auth_key=opened("auth_key"), priv_key=opened("priv_key")
        )

    def require_host(self, host: str) -> None:
        """Raise CredentialNotAllowed for a host that it must not be sent to, whatever its addresses are.

        A name that only networks could cover is checked against them when it is connected to.
        """
        if not (hosts.allows(self.allowed_hosts, host) or hosts.needs_addresses(self.allowed_hosts, host)):
            raise CredentialNotAllowed("credential not allowed for this host")
