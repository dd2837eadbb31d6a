"""The answers that are tried again; pure."""

LONGEST = 300.0  # seconds between two tries, whatever a receiver requests
TOO_MANY = 429
# Kinds of RequestFailed: no connection, no answer. Not a redirect.
RETRIED = frozenset({"dns", "connect", "certificate", "timeout", "answer"})


def is_retried(status: int) -> bool:
    """Return whether to try again.

    Other 3xx and 4xx say that the same request will not be accepted later either.
    """
    return status == TOO_MANY or status >= 500
