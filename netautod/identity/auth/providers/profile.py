"""The name, mail and warning that an identity of a directory brings to its user; pure."""

from typing import Any

from netautod.identity.auth.providers.role_map import granted
from netautod.identity.users.models import User, canonical_username
from netautod.plugin_api.auth import Identity, RoleMap

MAX_EMAIL, MAX_NAME, MAX_REASON = 254, 255, 300
STAYS = "the roles stay as they are"
ONE_TEXT = "the groups came as one text, which keeps roles and gives none"


def profile_of(identity: Identity) -> dict[str, Any]:
    """Return the fields of a user that the directory tells and that fit."""
    texts = {"email": (identity.email, MAX_EMAIL), "display_name": (identity.display_name, MAX_NAME)}
    return {name: text for name, (text, most) in texts.items() if text and len(text) <= most}


def profile_changes(user: User, identity: Identity) -> dict[str, Any]:
    """Return the fields that differ; what the directory does not tell stays."""
    return {name: text for name, text in profile_of(identity).items() if text != getattr(user, name)}


def new_username(user: User, identity: Identity) -> str | None:
    """Return the username in the directory; None if the user has it, or none of the names is valid here."""
    names = [canonical_username(name) for name in (identity.username, *identity.other_usernames)]
    return None if user.username in names else names[0]


def group_warning(role_map: RoleMap, identity: Identity) -> str | None:
    """Return why the roles do not follow the groups; None if they do, or no role depends on them."""
    if not role_map:
        return None
    if identity.groups_unknown is not None:
        return f"{identity.groups_unknown[:MAX_REASON]}: {STAYS}"
    if identity.possible_groups and not granted(role_map, identity.groups):
        return ONE_TEXT
    return None
