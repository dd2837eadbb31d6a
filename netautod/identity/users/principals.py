"""SSH principals: the names for which a user's certificate is valid, which are never given, and to whom.

A principal opens every server that trusts the authority and has an account (or a list) of that name. So only
holders of system.manage give them. A user whom such a holder creates, or whom a login through a directory
creates, gets the own name, unless another user holds it: a directory gives the name of a renamed user to
another person. A user created with users.manage alone gets none. If such a caller sets a user's password, the
user loses them, since the caller could log in as that user.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from netautod.core.errors import Forbidden, InvalidInput
from netautod.core.identity.caller import Caller

FORM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+:/\\$-]{0,254}")
MOST = 32
GRANT = "system.manage"
logger = logging.getLogger(__name__)


class PrincipalHolders(Protocol):
    """The users of the installation."""

    async def others_hold_principal(self, username: str) -> bool:
        """Return whether another user than that of the name holds it as a principal, in either case."""
        ...


class PrincipalRules:
    """The rules. `reserved` is the setting ssh_ca.reserved_principals; names are compared in lower case, as
    some servers do.
    """

    def __init__(self, reserved: Iterable[str]) -> None:
        self._reserved = frozenset(name.strip().lower() for name in reserved)

    def fit(self, name: str) -> bool:
        """Return False for a reserved name, and for one that some reader of principals takes for a list or a
        pattern.
        """
        return FORM.fullmatch(name) is not None and name.lower() not in self._reserved

    def valid(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names that a certificate may hold now: a name may have been reserved after it was
        given."""
        return tuple(name for name in names if self.fit(name))

    async def default(self, username: str, holders: PrincipalHolders) -> tuple[str, ...]:
        """Return the principals of a new user for whom no one names any; a refused one is logged."""
        names = self.valid([username])
        if names and await holders.others_hold_principal(username):
            logger.warning("%s gets no SSH principal: another user holds that name as one", username)
            return ()
        return names

    async def for_new_user(
        self, caller: Caller, username: str, wanted: Sequence[str] | None, holders: PrincipalHolders
    ) -> tuple[str, ...]:
        """Return the principals of a new user; `wanted` None: the request has none.

        Raises InvalidInput or Forbidden for refused ones.
        """
        if wanted is None:
            return await self.default(username, holders) if caller.can(GRANT) else ()
        return self.check_change(caller, wanted) if wanted else ()

    def check_change(self, caller: Caller, wanted: Sequence[str]) -> tuple[str, ...]:
        """Return the principals that the caller writes to a user. Raises InvalidInput or Forbidden."""
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
