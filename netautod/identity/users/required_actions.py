"""The action that a user must take on the own account before anything else is allowed. Pure.

The result travels with the caller, and the base of all handlers refuses every route but those of /api/auth
with it: a route that is added later is closed without further code.
"""

from collections.abc import Collection

from netautod.identity.users.models import LOCAL, User

CHANGE_IT = "Change your password first"
SET_UP_CODES = "Set up a one-time code first"


class RequiredActions:
    """The required actions. `require_otp_roles` is the setting auth.require_otp_roles."""

    def __init__(self, *, require_otp_roles: Collection[str] = ()) -> None:
        self._require_otp_roles = frozenset(require_otp_roles)

    def of(self, user: User, *, by_session: bool) -> str | None:
        """Return the sentence with which the user is refused, if there is one.

        A password that has to be changed stops API tokens too, since a person who knows it could have created
        them. A one-time code is required of sessions alone, since machines type no codes.
        """
        if user.must_change_password:
            return CHANGE_IT
        is_required = by_session and user.auth_provider == LOCAL and not user.otp_enabled
        if is_required and not self._require_otp_roles.isdisjoint(user.role_names):
            return SET_UP_CODES
        return None
