"""SSH principals: the names that a user's certificate is good for, which are never given, and to whom.

A principal opens every server that trusts the authority and has an account (or a list) of that name. So it
is for holders of system.manage to give: a user whom they made, or whom a login through a directory made,
gets the own name; one made with users.manage alone gets none, and one whose password such a caller sets
loses them, since the caller could log in with it.
"""

import re
from collections.abc import Iterable, Sequence

from netautod.core.errors import Forbidden, InvalidInput
from netautod.core.identity.caller import Caller

FORM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+:/\\$-]{0,254}")
MOST = 32
GRANT = "system.manage"


class PrincipalRules:
    """`reserved` is the setting ssh_ca.reserved_principals; names are compared in lower case, since there are
    servers that do."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self._reserved = frozenset(name.strip().lower() for name in reserved)

    def fit(self, name: str) -> bool:
        """False for what is reserved, and for what is a list or a pattern to some reader of principals."""
        return FORM.fullmatch(name) is not None and name.lower() not in self._reserved

    def given(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those that a certificate may hold: a name may have been reserved after it was given."""
        return tuple(name for name in names if self.fit(name))

    def at_creation(self, caller: Caller, username: str, wanted: Sequence[str] | None) -> tuple[str, ...]:
        """Of a new user. Raises InvalidInput or Forbidden for what `wanted` may not be; None: not said."""
        if wanted is None:
            return self.given([username]) if caller.can(GRANT) else ()
        return self.written(caller, wanted) if wanted else ()

    def written(self, caller: Caller, wanted: Sequence[str]) -> tuple[str, ...]:
        """Of a user whose principals are changed to these. Raises InvalidInput or Forbidden."""
        if not caller.can(GRANT):
            raise Forbidden(f"ssh_principals: writing them needs the permission {GRANT}")
        for name in wanted:
            if FORM.fullmatch(name) is None:
                raise InvalidInput(
                    "ssh_principals: each is 1 to 255 characters of A-Z a-z 0-9 . _ @ + : / \\ $ -, "
                    "the first one a letter, a digit or _"
                )
            if not self.fit(name):
                raise InvalidInput(f"ssh_principals: the name {name} is reserved")
        return tuple(dict.fromkeys(wanted))
