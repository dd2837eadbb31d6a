"""The line of the log about a request that is over."""

import logging
from dataclasses import dataclass

from netautod.core.logs.lines import event
from netautod.secrets.redaction.patterns import without_secret_patterns

logger = logging.getLogger(__name__)
REQUEST = "request"
SHOWN = 256
# nginx's, for a client that has gone before it was answered (ngx_http_request.h).
CLIENT_GONE = 499
_REFUSED = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """`route` is the template; `error` the sentence of the answer, if there is one."""

    method: str
    route: str
    path: str
    status: int
    seconds: float
    client: str
    error: str = ""


def tell(told: Told) -> None:
    """The query is not in it, which may hold what somebody searches for."""
    if not logger.isEnabledFor(logging.INFO):
        return
    path, error = shown_path(told.path, told.status), ""
    fields = {
        "method": told.method[:SHOWN],
        "route": told.route,
        "path": path,
        "status": told.status,
        "seconds": round(told.seconds, 6),
        "client": told.client,
    }
    if told.error:
        fields["error"] = without_secret_patterns(told.error)
        error = f": {fields['error']}"
    text = (
        f"{fields['method']} {path} {told.status} in {told.seconds * 1000:.1f} ms from {told.client}{error}"
    )
    # Not logger.info, which spends a third of its time on the name of the calling function.
    line = event(REQUEST, fields)
    logger.handle(logger.makeRecord(logger.name, logging.INFO, __file__, 0, text, (), None, extra=line))


def shown_path(path: str, status: int) -> str:
    """What a client has put into it by mistake is hidden; of a request that was done it holds ids alone."""
    return without_secret_patterns(path[:SHOWN]) if status >= _REFUSED else path[:SHOWN]
