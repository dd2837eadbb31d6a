"""The groups in the claims of a user, or the reason why these may not be all."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_GROUPS = 1000
SEPARATOR = re.compile(r"[,\s]+")


@dataclass(frozen=True, kw_only=True)
class Groups:
    """The names of groups; `unknown` is the reason why there may be more.

    `possible` are the names that a single text may hold. Without `is_present` the claims do not name any.
    """

    names: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()
    unknown: str | None = None
    is_present: bool = True


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


def groups_of(claims: Mapping[str, Any], path: str) -> Groups:
    """Return the groups of the claim `path`; a claim that is missing is not the same as no group."""
    value = claim_at(claims, path)
    if value is not None:
        return parsed(value, f"the claim {path}")
    if _is_elsewhere(claims, path):
        return Groups(unknown=f"the token leaves the claim {path} out because of its size", is_present=False)
    return Groups(unknown=f"the provider sends no claim {path}", is_present=False)


def parsed(value: Any, source: str) -> Groups:
    """Return the groups of a list of texts, or of a text; `source` is what brought it, for the reason."""
    if isinstance(value, str):
        parts = tuple(part for part in SEPARATOR.split(value.strip()) if part)
        return Groups(names=(value,), possible=parts[:MAX_GROUPS] if len(parts) > 1 else ())
    if not isinstance(value, list):
        return Groups(unknown=f"{source} is no list of texts")
    names = tuple(name for name in value[:MAX_GROUPS] if isinstance(name, str))
    if len(value) > MAX_GROUPS:
        return Groups(names=names, unknown=f"{source} has more than {MAX_GROUPS} groups")
    if len(names) < len(value):
        return Groups(names=names, unknown=f"{source} is no list of texts")
    return Groups(names=names)


def _is_elsewhere(claims: Mapping[str, Any], path: str) -> bool:
    """Return whether the token names another place for the claim (OpenID Connect Core 5.6.2).

    Entra ID does so for users of more than 200 groups ("groups overage claim"). The place is not called: it
    may be any address.
    """
    names = claims.get("_claim_names")
    return isinstance(names, Mapping) and not names.keys().isdisjoint({path, path.split(".")[0]})
