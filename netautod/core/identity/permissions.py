"""The permission keys: which there are, which imply others, and what a set of held keys grants.

A held key may be a wildcard: `*` grants everything, `devices.*` every key that begins with `devices.`, but
neither grants a key that has to be named. The wildcards of roles grant those, too: `of_roles` adds them.
"""

from collections.abc import Iterable, Mapping

# By key: what it allows, as the console and the manual say it.
DESCRIPTIONS: Mapping[str, str] = {
    "devices.access": "See devices, configs, discovered data; pull configs; poll and test devices",
    "devices.manage": "Add, change and delete devices; run single commands",
    "credentials.manage": "Make and change credentials, vouch for devices, reveal secrets",
    "config.deploy": "Let agents and tasks write to devices",
    "users.manage": "Make and change users and roles",
    "system.manage": "Audit, nodes, plugins, webhooks, pause of the service",
    "tasks.operate": "Make, run and approve tasks",
    "docs.read": "Read documents other than notes, render templates",
    "docs.manage": "Make and change documents",
    "notes.read": "Read notes; an API token has to name it",
}
KNOWN_PERMISSIONS = tuple(DESCRIPTIONS)
# Holding the key also grants those behind it.
IMPLIED = {"devices.manage": ("devices.access",), "docs.manage": ("docs.read",)}
# An API token grants these if it names them, not by a wildcard.
NAMED_ONLY = frozenset({"notes.read"})


# What keys of ours begin with, and those that clients are shown (system/capabilities): of no plugin.
OWN_BEGINNINGS = frozenset({key.partition(".")[0] for key in KNOWN_PERMISSIONS} | {"sessions", "agents"})


class PermissionKeys:
    """The keys that there are: ours, and those that plugins bring, which the composition root adds."""

    def __init__(self) -> None:
        self._of_plugins: dict[str, str] = {}

    @property
    def of_plugins(self) -> Mapping[str, str]:
        """Return the permissions of plugins: descriptions by key."""
        return self._of_plugins

    @property
    def each(self) -> tuple[str, ...]:
        """Return all permissions without wildcards: those of the service, then those of plugins, sorted."""
        return (*KNOWN_PERMISSIONS, *sorted(self._of_plugins))

    @property
    def choices(self) -> tuple[str, ...]:
        """Return what a role may hold: `*`, the wildcards `x.*`, and each permission."""
        parts = (key.split(".") for key in self.each)
        wild = (".".join((*some[:end], "*")) for some in parts for end in range(1, len(some)))
        return ("*", *dict.fromkeys(wild), *self.each)

    def add(self, descriptions: Mapping[str, str]) -> None:
        self._of_plugins |= descriptions

    def is_known(self, key: str) -> bool:
        """Return whether the key is `*`, a known key, or `x.*` where a known key begins with `x.`."""
        if is_permission(key) or key in self._of_plugins:
            return True
        return key.endswith(".*") and any(known.startswith(key[:-1]) for known in self._of_plugins)

    def unknown(self, keys: Iterable[str]) -> dict[int, str]:
        """Return a sentence for each unknown key, by its place in the list."""
        return {
            place: f"There is no permission {key[:64]!r}."
            for place, key in enumerate(keys)
            if not self.is_known(key)
        }


def is_permission(key: str) -> bool:
    """Return whether a key of the service itself is `*`, a known key, or `x.*` where a known key begins with
    `x.`.
    """
    if key == "*" or key in KNOWN_PERMISSIONS:
        return True
    return key.endswith(".*") and any(known.startswith(key[:-1]) for known in KNOWN_PERMISSIONS)


def grants(held: Iterable[str], wanted: str) -> bool:
    """Return whether one of the held keys grants the wanted one: `*`, the key itself, `x.*`, or by
    implication.

    `wanted` may itself be a wildcard; then only an equal or wider wildcard grants it.
    """
    by_wildcard = wanted not in NAMED_ONLY
    for key in held:
        if key == wanted or wanted in IMPLIED.get(key, ()):
            return True
        if by_wildcard and _covers(key, wanted):
            return True
    return False


def covered(keys: Iterable[str]) -> frozenset[str]:
    """Return the keys that a token has to name and that wildcards among the keys of a role grant."""
    held = frozenset(keys)
    return frozenset(named for named in NAMED_ONLY if any(_covers(key, named) for key in held))


def of_roles(keys: Iterable[str]) -> frozenset[str]:
    """Return what a user with roles of these keys holds: their wildcards also grant what a token has to
    name."""
    held = frozenset(keys)
    return held | covered(held)


def _covers(key: str, wanted: str) -> bool:
    return key == "*" or (key.endswith(".*") and wanted.startswith(key[:-1]))


def common_permissions(first: frozenset[str], second: frozenset[str]) -> frozenset[str]:
    """Return what both sets of keys grant. Of two keys of which one grants the other, the lesser is kept."""
    lesser = {key for key in first if grants(second, key)} | {key for key in second if grants(first, key)}
    return frozenset(lesser)
