"""The permission keys: which there are, which imply others, and what a set of held keys grants.

A held key may be a wildcard: `*` grants everything, `devices.*` every key that begins with `devices.`.
"""

from collections.abc import Iterable

KNOWN_PERMISSIONS = (
    "devices.access",
    "devices.manage",
    "credentials.manage",
    "config.deploy",
    "users.manage",
    "system.manage",
    "tasks.operate",
    "docs.manage",
)
# Holding the key also grants those behind it.
IMPLIED = {"devices.manage": ("devices.access",)}


def is_permission(key: str) -> bool:
    """True for `*`, a known key, and `x.*` if a known key begins with `x.`."""
    if key == "*" or key in KNOWN_PERMISSIONS:
        return True
    return key.endswith(".*") and any(known.startswith(key[:-1]) for known in KNOWN_PERMISSIONS)


def grants(held: Iterable[str], wanted: str) -> bool:
    """True if one of the held keys grants the wanted one: `*`, the key itself, `x.*`, or by implication.

    `wanted` may itself be a wildcard; then only an equal or wider wildcard grants it.
    """
    for key in held:
        if key == "*" or key == wanted or wanted in IMPLIED.get(key, ()):
            return True
        if key.endswith(".*") and wanted.startswith(key[:-1]):
            return True
    return False


def common_permissions(first: frozenset[str], second: frozenset[str]) -> frozenset[str]:
    """What both sets of keys grant: of two keys of which one grants the other, the lesser is kept."""
    lesser = {key for key in first if grants(second, key)} | {key for key in second if grants(first, key)}
    return frozenset(lesser)
