"""What a user has to do for the own account before anything else is allowed. Pure.

The answer travels with the caller, and the base of all handlers refuses every route but those of /api/auth
with it: a route that is added later is closed without knowing of it.
"""

from collections.abc import Collection

from netautod.identity.users.models import LOCAL, User

CHANGE_IT = "Change your password first"
SET_UP_CODES = "Set up a one-time code first"


class RequiredActions:
    """`require_otp_roles` is the setting auth.require_otp_roles."""

    def __init__(self, *, require_otp_roles: Collection[str] = ()) -> None:
        self._require_otp_roles = frozenset(require_otp_roles)

    def of(self, user: User, *, by_session: bool) -> str | None:
        """The sentence that the user is refused with, if there is one.

        A password that has to be changed stops API tokens too: whoever knows it could have made them.
        Machines type no codes, so those are asked of sessions alone.
        """
        if user.must_change_password:
            return CHANGE_IT
        asked = by_session and user.auth_provider == LOCAL and not user.otp_enabled
        if asked and not self._require_otp_roles.isdisjoint(user.role_names):
            return SET_UP_CODES
        return None
