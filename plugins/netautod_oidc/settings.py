"""The part of the section `oidc` that concerns the identity provider, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class OidcSettings:
    """The settings of these names; `timeout_seconds` bounds each request to the provider."""

    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    algorithms: tuple[str, ...] = ("RS256", "PS256", "ES256", "EdDSA")
    username_claim: str = "preferred_username"
    roles_claim: str = "groups"
    ca_file: str = ""
    timeout_seconds: float = 10.0

    @classmethod
    def from_section(cls, section: Mapping[str, Any]) -> Self:
        return cls(**{known.name: section[known.name] for known in fields(cls)})
