"""What the OpenAPI description promises of an answer: its status, headers, media type and shape.

The validators are compiled once for each shape that a test has met, and they are those of jsonschema-rs,
because all tests over HTTP come along here (a list of 20 devices: 0.04 ms instead of 5 ms of jsonschema).
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol

import jsonschema_rs

from netautod.http.description.answers import ERRORS, error_name

JSON = "application/json"
EVENTS = "text/event-stream"
BODILESS = (204, 302, 304)


class Answered(Protocol):
    """A response of whichever client."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def content(self) -> bytes: ...


class Promises:
    """Of one description."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.description = description
        self._paths = [
            (template.count("{"), re.compile(re.sub(r"{\w+}", "[^/]*", template)), operations)
            for template, operations in description["paths"].items()
        ]
        self._paths.sort(key=lambda each: each[0])
        self._validators: dict[str, Any] = {}

    def hold(self, method: str, path: str, response: Answered) -> None:
        """Raises AssertionError for an answer that is not as it is described."""
        assert response.headers.get("X-Request-Id")
        operation = self._operation(method, path.partition("?")[0])
        told = self._answer(operation, method, path, response.status)
        if told is None:
            return
        for name, header in told.get("headers", {}).items():
            missing = self._resolved(header).get("required") and name not in response.headers
            assert not missing, f"{method} {path} answers {response.status} without {name}"
        if method != "HEAD":
            self._hold_content(told, response, f"{method} {path}")

    def has_no_end(self, path: str) -> bool:
        """A stream of events: who wants to read it listens (tests/support/listening.py)."""
        operation = self._operation("GET", path.partition("?")[0])
        return operation is not None and EVENTS in operation["responses"].get("200", {}).get("content", {})

    def _answer(self, operation: Any, method: str, path: str, status: int) -> Any:
        """The described answer; None for a success of what is not described."""
        if operation is None:
            return {"content": {JSON: {"schema": ERRORS[error_name(status)]}}} if status >= 400 else None
        listed = operation["responses"]
        assert str(status) in listed, f"{method} {path} answers {status}, which the description does not name"
        return self._resolved(listed[str(status)])

    def _hold_content(self, told: Any, response: Answered, name: str) -> None:
        content = told.get("content", {})
        if response.status in BODILESS:
            assert response.content == b"", f"{name} answers {response.status} with a body"
        if not content:
            return
        content = {media.partition(";")[0]: described for media, described in content.items()}
        media = response.headers.get("Content-Type", "").partition(";")[0]
        assert media in content, f"{name} answers {media!r}, described are {sorted(content)}"
        if media == JSON:
            self._validator(content[media]["schema"]).validate(json.loads(response.content))

    def _validator(self, schema: Mapping[str, Any]) -> Any:
        key = json.dumps(schema)
        if key not in self._validators:
            whole = {**schema, "components": self.description["components"]}
            self._validators[key] = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
        return self._validators[key]

    def _resolved(self, value: Any) -> Any:
        while "$ref" in value:
            _, *steps = value["$ref"].split("/")
            value = self.description
            for step in steps:
                value = value[step]
        return value

    def _operation(self, method: str, path: str) -> Any:
        """Of the paths that match, the one with the fewest parameters that has the method."""
        name = method.lower() if method != "HEAD" else "get"
        return next(
            (found[name] for _, form, found in self._paths if form.fullmatch(path) and name in found), None
        )


_KEPT: dict[int, Promises] = {}


def promises_of(description: dict[str, Any]) -> Promises:
    """Made once for each description, which it keeps, so that no other one gets its id."""
    if id(description) not in _KEPT:
        _KEPT[id(description)] = Promises(description)
    return _KEPT[id(description)]
