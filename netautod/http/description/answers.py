"""The answers of an operation: its success, and each failure with its sentence and headers."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from netautod.http.access import Operation
from netautod.http.description.examples import MESSAGES
from netautod.http.description.headers import answer_headers

SENTENCE = {"type": "string", "description": "One sentence that names the field or the resource."}
SECONDS = {"type": "integer", "minimum": 1, "description": "When to ask again, as in Retry-After."}
ERROR_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "description": "Every error, of whatever status but 429.",
    "properties": {"error": SENTENCE},
    "required": ["error"],
    "additionalProperties": False,
}
LIMIT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "description": "The error of a rate limit or a lockout.",
    "properties": {"error": SENTENCE, "retry_after_secs": SECONDS},
    "required": ["error", "retry_after_secs"],
    "additionalProperties": False,
}
ERRORS: Mapping[str, Mapping[str, Any]] = {"Error": ERROR_SCHEMA, "LimitError": LIMIT_SCHEMA}
HEADERS: Mapping[str, Mapping[str, Any]] = {
    "X-Request-Id": {
        "description": "In every line of the log about this request.",
        "required": True,
        "schema": {"type": "string"},
    },
    "Retry-After": {"description": "Seconds.", "required": True, "schema": {"type": "integer", "minimum": 0}},
    "WWW-Authenticate": {"required": True, "schema": {"type": "string", "enum": ["Bearer"]}},
    "Location": {"required": True, "schema": {"type": "string"}},
}
MORE_HEADERS: Mapping[int, tuple[str, ...]] = {
    302: ("Location",),
    401: ("WWW-Authenticate",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
WHEN: Mapping[int, str] = {
    400: "The request is wrong; the error names the field.",
    401: "No token, or one that is not valid any more.",
    403: "The caller lacks the permission, must first change something in the own account, or is a page of "
    "another origin.",
    404: "The resource does not exist, or belongs to another organization.",
    409: "Another resource is in the way, or the state forbids it.",
    412: "The resource has changed: its entity tag is not the one in If-Match.",
    415: "The body is compressed, or of a type that the operation does not take.",
    421: "The host is not in `server.hosts`, the names of the service.",
    429: "A rate limit or a lockout.",
    500: "A mistake in the service; the error names the request id, under which the log has the details.",
    502: "A device or another system that the request needs has failed.",
    503: "The node starts, stops, is overloaded, or is without its database or disk.",
}
SUCCESSES: Mapping[int, str] = {
    200: "Done.",
    201: "Created.",
    202: "Accepted; the work goes on in the background.",
    204: "Done; the answer has no body.",
    302: "The answer is at the address in Location.",
}
BINARY = "application/octet-stream"
RAW: Mapping[str, str] = {BINARY: "hostname core-1\n", "text/html": "<!doctype html>"}
"""Examples of what is no JSON."""


def headers_of(status: int) -> dict[str, Any]:
    names = ("X-Request-Id", *MORE_HEADERS.get(status, ()))
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def success(method: str, operation: Operation) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "description": SUCCESSES.get(operation.status, "Done."),
        "headers": {**headers_of(operation.status), **answer_headers(method, operation)},
    }
    if operation.answer:
        answer["content"] = {"application/json": {"schema": operation.answer}}
    if operation.produces:
        shape = {"type": "string", "format": "binary"} if operation.produces == BINARY else {"type": "string"}
        example = RAW.get(operation.produces, "text")
        answer["content"] = {operation.produces: {"schema": shape, "example": example}}
    return answer


def other_successes(operation: Operation) -> dict[str, dict[str, Any]]:
    return {
        str(status): {
            "description": SUCCESSES.get(status, "Done."),
            "headers": headers_of(status),
            "content": {"application/json": {"schema": answer}},
        }
        for status, answer in operation.other_answers.items()
    }


def error_name(status: int) -> str:
    """Return the name of the schema of an error's body."""
    return "LimitError" if status == 429 else "Error"


def failure_name(status: int) -> str:
    return f"Failure{status:d}"


def failures() -> dict[str, dict[str, Any]]:
    """Return a component for every status of an error, by its name."""
    return {failure_name(status): _failure(status) for status in HTTPStatus if status >= 400}


def _failure(status: HTTPStatus) -> dict[str, Any]:
    example: dict[str, Any] = {"error": MESSAGES.get(status, status.phrase)}
    if status == 429:
        example["retry_after_secs"] = 12
    content = {"schema": {"$ref": f"#/components/schemas/{error_name(status)}"}, "example": example}
    return {
        "description": WHEN.get(status, f"{status.phrase}."),
        "headers": headers_of(status),
        "content": {"application/json": content},
    }
