"""The part of the section `ldap` that concerns the directory, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self
from urllib.parse import urlsplit

DEFAULT_PORTS = {"ldap": 389, "ldaps": 636}


@dataclass(frozen=True, kw_only=True)
class ServerAddress:
    host: str
    port: int
    ldaps: bool

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'ldaps' if self.ldaps else 'ldap'}://{host}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class LdapSettings:
    """The settings of these names; `timeout_seconds` bounds each step, `deadline` a whole login."""

    urls: tuple[str, ...]
    start_tls: bool = True
    verify_tls: bool = True
    ca_file: str = ""
    bind_dn: str = ""
    bind_password: str = field(default="", repr=False)
    user_dn: str = ""
    base_dn: str = ""
    user_filter: str = "(uid={username})"
    username_attribute: str = "uid"
    id_attribute: str = "entryUUID"
    email_attribute: str = "mail"
    name_attribute: str = "displayName"
    group_attribute: str = "memberOf"
    group_base_dn: str = ""
    group_filter: str = "(|(member={dn})(uniqueMember={dn})(memberUid={username}))"
    timeout_seconds: int = 5
    threads: int = 8

    @classmethod
    def from_section(cls, section: Mapping[str, Any]) -> Self:
        return cls(**{known.name: section[known.name] for known in fields(cls)})

    @property
    def deadline(self) -> float:
        """Seconds after which a login is given up, also by servers that answer byte by byte."""
        return 3.0 * self.timeout_seconds

    @property
    def servers(self) -> list[ServerAddress]:
        """In the order in which they are tried."""
        found = []
        for url in self.urls:
            parts = urlsplit(url)
            port = parts.port or DEFAULT_PORTS[parts.scheme]
            found.append(ServerAddress(host=parts.hostname or "", port=port, ldaps=parts.scheme == "ldaps"))
        return found

    @property
    def user_attributes(self) -> list[str]:
        """What is read of a user's entry."""
        names = (
            self.username_attribute,
            self.id_attribute,
            self.email_attribute,
            self.name_attribute,
            self.group_attribute,
        )
        return [name for name in dict.fromkeys(names) if name]
