"""Which roles the groups of a directory give: the settings ldap.role_map and oidc.role_map.

Each line is `ROLE = GROUP`. The roles that a map names are the directory's: they come and go with the
groups at every login. Roles that it does not name are left as an administrator has set them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from netautod.users.external_ids import canonical_name, first_value, folded


@dataclass(frozen=True, kw_only=True)
class RoleMap:
    """Pairs of a role's name and a group."""

    lines: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """ValueError for a line that is not `ROLE = GROUP`."""
        lines = []
        for text in texts:
            role, _, group = (part.strip() for part in text.partition("="))
            if not role or not group:
                raise ValueError(f"{text!r} is not of the form ROLE = GROUP")
            lines.append((role, group))
        return cls(lines=tuple(lines))

    def __bool__(self) -> bool:
        return bool(self.lines)

    @property
    def managed(self) -> frozenset[str]:
        """The roles that the directory decides on."""
        return frozenset(role for role, _ in self.lines)

    def granted(self, groups: Iterable[str]) -> frozenset[str]:
        """The roles of somebody in these groups."""
        held = list(groups)
        return frozenset(role for role, wanted in self.lines if any(_same(wanted, group) for group in held))

    def applied(self, roles: Iterable[str], groups: Iterable[str]) -> list[str]:
        """What a user with these roles has after a login with these groups, sorted."""
        return sorted((frozenset(roles) - self.managed) | self.granted(groups))


def _same(wanted: str, group: str) -> bool:
    """Equal; or the same LDAP name; or a bare name that is the first part of the group's LDAP name."""
    if wanted == group:
        return True
    name = canonical_name(group)
    if name is None:
        return False
    return canonical_name(wanted) == name if "=" in wanted else folded(wanted) == first_value(group)
