"""The identity in the claims of a user: username, groups, e-mail address and name."""

from collections.abc import Mapping
from typing import Any

from netautod.plugin_api import Identity, LoginRefused
from netautod_oidc.groups import Groups, claim_at
from netautod_oidc.settings import OidcSettings


def wanted_claims(settings: OidcSettings) -> tuple[str, ...]:
    """Return the needed claims: if the id_token lacks one of these, userinfo is requested."""
    return settings.username_claim, settings.roles_claim, "email", "name"


def identity_of(
    claims: Mapping[str, Any], settings: OidcSettings, groups: Groups, known_name: str | None = None
) -> Identity:
    """Return the identity, under `known_name` if the claims have none. Raises LoginRefused without a usable
    username.
    """
    username = claim_at(claims, settings.username_claim)
    is_known = username is None and known_name is not None
    username = known_name if is_known else username
    if not isinstance(username, str) or not username.strip():
        raise LoginRefused(f"the provider sends no claim {settings.username_claim}")
    if not is_known and settings.username_claim == "email" and claims.get("email_verified") is not True:
        # Else a person who can enter any address at the provider could log in here as any user.
        raise LoginRefused("the provider has not verified the mail address that is the username")
    return Identity(
        username=username.strip(),
        external_ids=(claims["sub"],),
        email=_text(claims.get("email")),
        display_name=_text(claims.get("name")),
        groups=groups.names,
        groups_unknown=groups.unknown,
        possible_groups=groups.possible,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
