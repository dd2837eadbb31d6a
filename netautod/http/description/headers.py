"""The headers of conditional and repeated requests, and their statuses, in the OpenAPI description."""

from typing import Any

from netautod.http.access import Operation
from netautod.http.conditions.preconditions import CONDITIONAL
from netautod.http.idempotency.request import HEADER, REPLAYED

RETRY_AFTER = {
    "Retry-After": {"description": "Seconds until it is worth another try.", "schema": {"type": "integer"}}
}
NOT_MODIFIED = "What the client has is what there is"

_TAGS = "Entity tags in quotes, separated by commas, or `*`."
_TAG = '(W/)?"[!#-~]*"'
_LIST = {"pattern": rf"^(\*|{_TAG}( *, *{_TAG})*)$"}
_KEY = (
    "1 to 255 visible ASCII characters, chosen anew for each request. A repeat under the same key within 24 "
    "hours gets the first answer again and does nothing; it gets 409 while the first is in work, or if its "
    "body or query is another one."
)


def request_headers(method: str, operation: Operation) -> list[dict[str, Any]]:
    """Return the parameters of the operation that are headers."""
    found = []
    if operation.etag and method == "GET":
        found.append(_header("If-None-Match", f"{_TAGS} With one that matches the answer is 304.", _LIST))
    if operation.etag and method in CONDITIONAL:
        found.append(_header("If-Match", f"{_TAGS} Without one that matches nothing is done (412).", _LIST))
    if operation.repeat is not None:
        form = {"minLength": 1, "maxLength": 255, "pattern": "^[\\x21-\\x7e]+$"}
        found.append(_header(HEADER, _KEY, form))
    return found


def answer_headers(method: str, operation: Operation) -> dict[str, Any]:
    """Return the headers of a success."""
    found = {}
    if operation.etag and method != "DELETE":
        found["ETag"] = _described("The entity tag of what is answered.")
    if operation.repeat is not None:
        found[REPLAYED] = _described("`true` where the answer is the first one again.")
    return found


def not_modified(method: str, operation: Operation) -> dict[str, Any]:
    """Return the response 304 of an operation that can answer it."""
    if not operation.etag or method != "GET":
        return {}
    return {"304": {"description": NOT_MODIFIED, "headers": answer_headers(method, operation)}}


def conditional_failures(method: str, operation: Operation) -> set[int]:
    """Return the statuses of failed preconditions; a route without tags refuses an If-Match with one."""
    return ({412} if method in CONDITIONAL else set()) | (set() if operation.repeat is None else {409})


def _header(name: str, text: str, form: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "header", "description": text, "schema": {"type": "string", **form}}


def _described(text: str) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "string"}}
