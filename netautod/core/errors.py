"""The typed errors of the product; http/errors.py is the one table that turns them into statuses.

A text is written for the API user: it names the field or the resource and says what to do.
"""


class NetautodError(Exception):
    """The base of all errors of the product. `text` is safe to show to an API user."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class InvalidInput(NetautodError):
    """The request (or a settings value) is wrong and stays wrong until it is changed."""


class Unauthenticated(NetautodError):
    """Raised when a request has no token, or one that is not valid."""


class Forbidden(NetautodError):
    """The caller is known but lacks the permission."""


class NotFound(NetautodError):
    """The resource does not exist, or belongs to another organization."""


class Conflict(NetautodError):
    """A unique value exists already, or the state forbids the change."""


class PreconditionFailed(NetautodError):
    """The record is not, or not any more, as the request says that it has to be."""


class Duplicate(Conflict):
    """A unique index refused the write; `fields` are the index's fields, in order."""

    def __init__(self, fields: tuple[str, ...]) -> None:
        super().__init__(f"A record with the same {' and '.join(fields) or 'key'} already exists")
        self.fields = fields


class TooLarge(NetautodError):
    """The request body is over the limit of its route."""


class TooManyRequests(NetautodError):
    """A rate limit or a lockout; `retry_after` is in whole seconds."""

    def __init__(self, text: str, *, retry_after: int) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class UpstreamFailed(NetautodError):
    """A device or another system that we asked answered with a failure."""


class Unavailable(NetautodError):
    """The service cannot serve this now (database down, starting, draining, overloaded)."""


class Overloaded(Unavailable):
    """Raised when others take up all capacity. `retry_after` is in whole seconds."""

    def __init__(self, text: str, *, retry_after: int) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class DiskFull(Overloaded):
    """Raised when there is no room on the disk for what is to be written; `text` names it."""


class UnknownOutcome(Unavailable):
    """A write was sent but not acknowledged: re-read before assuming anything."""
