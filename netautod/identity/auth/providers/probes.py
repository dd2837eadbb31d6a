"""The result of a provider's test, with what the service itself would refuse about the user."""

from netautod.identity.users.models import USERNAME_RULE, canonical_username
from netautod.plugin_api.auth import ProbeResult

SHOWN = 80


def with_own_rules(result: ProbeResult) -> ProbeResult:
    """Return the result; one that found a user whose name no user can have here is a failure that says so."""
    if not result.success or result.username is None or canonical_username(result.username) is not None:
        return result
    wrong = f"the username {result.username[:SHOWN]!r} is not valid here, which takes {USERNAME_RULE}"
    return ProbeResult(success=False, message=f"{result.message}; but {wrong}", username=result.username)
