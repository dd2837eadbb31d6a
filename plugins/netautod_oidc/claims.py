"""The identity in the claims of a user: username, groups, e-mail address and name."""

from collections.abc import Mapping
from typing import Any

from netautod.plugin_api import Identity, LoginRefused
from netautod_oidc.settings import OidcSettings

MAX_GROUPS = 1000


def wanted_claims(settings: OidcSettings) -> tuple[str, ...]:
    """Return the needed claims: if the id_token lacks one of these, userinfo is requested."""
    return settings.username_claim, settings.roles_claim, "email", "name"


def claim_at(claims: Mapping[str, Any], path: str) -> Any:
    """Return the claim of that name (it may be a URL); else `a.b` is the member b of the claim a."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for step in path.split("."):
        if not isinstance(found, Mapping) or step not in found:
            return None
        found = found[step]
    return found


def identity_of(claims: Mapping[str, Any], settings: OidcSettings) -> Identity:
    """Return the identity. Raises LoginRefused without a usable username."""
    username = claim_at(claims, settings.username_claim)
    if not isinstance(username, str) or not username.strip():
        raise LoginRefused(f"the provider sends no claim {settings.username_claim}")
    if settings.username_claim == "email" and claims.get("email_verified") is not True:
        # Else a person who can enter any address at the provider could log in here as any user.
        raise LoginRefused("the provider has not verified the mail address that is the username")
    return Identity(
        username=username.strip(),
        external_ids=(claims["sub"],),
        email=_text(claims.get("email")),
        display_name=_text(claims.get("name")),
        groups=_groups(claim_at(claims, settings.roles_claim)),
    )


def _groups(value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list):
        return ()
    return tuple(group for group in values[:MAX_GROUPS] if isinstance(group, str))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
