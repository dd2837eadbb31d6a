"""Names of operations and their groups, by which generated clients call their functions and modules.

They follow from method and path, so that they stay while the path stays. A route whose path makes a poor name
declares another one (`name` of http/access.py).
"""

import re
from collections.abc import Iterator, Sequence

from marshmallow import fields

from netautod.http.access import Operation

# Routes about the service itself.
SERVICE = ("capabilities", "docs-ui", "health", "openapi.json")
GROUPS = {
    "admin": "Runs of agent tasks, for administrators.",
    "agents": "Runs of AI agents, and what they may do.",
    "audit": "Who did what, and when.",
    "auth": "Login, sessions, API tokens and one-time codes.",
    "config": "Stored configurations: pulls, versions, diffs, search.",
    "credentials": "Secrets for logging in to devices; no route ever returns one.",
    "devices": "The inventory, what polls find, and commands on devices.",
    "docs": "Documents with their versions, and templates.",
    "host-keys": "Changed SSH host keys that wait for a decision.",
    "roles": "Roles and their permissions.",
    "service": "The service itself: health, capabilities, this description.",
    "sites": "Sites of devices.",
    "ssh-ca": "SSH user certificates.",
    "system": "Nodes, database, plugins and queues.",
    "tasks": "Scheduled tasks and their executions.",
    "users": "Users of the organization.",
    "vault": "The lock of the notes.",
}
# Segments that only gather what is below them: the group has the same name.
GATHERING = ("admin", "auth", "config", "tasks")
ONE = {"GET": "get", "PUT": "update", "DELETE": "delete"}
PLUGINS = "plugins"


def group_of(path: str) -> str:
    """Return the tag of a path: its first segment below /api; of routes of plugins `plugins.NAME`."""
    first, *rest = _segments(path)
    if first == PLUGINS and rest:
        return f"{PLUGINS}.{rest[0]}"
    return "service" if first in SERVICE else first


def operation_id(path: str, method: str, operation: Operation) -> str:
    """Return the name of an operation, such as `list_devices`, `get_device`, `poll_device`."""
    segments = _segments(path)
    if segments[0] in GATHERING and len(segments) > 1:
        del segments[0]
    if not path.startswith("/api/"):
        segments.insert(0, "root")
    return operation.name or _snake(_words(segments, method, operation))


def _words(segments: Sequence[str], method: str, operation: Operation) -> list[str]:
    nouns = list(_nouns(segments))
    last_is_id = segments[-1].startswith(":")
    if method == "POST":
        if operation.status == 201:
            return ["create", *nouns[:-1], one_of(nouns[-1])]
        return [nouns[-1], *nouns[:-1]]
    if method == "GET" and not last_is_id:
        return ["list" if _lists(operation) else "get", *nouns]
    return [ONE[method], *nouns]


def _lists(operation: Operation) -> bool:
    """Return whether the operation answers an array, or one in an envelope."""
    answer = operation.answer_schema
    if answer is None:
        return False
    arrays = [field for field in answer.fields.values() if isinstance(field, fields.List)]
    return answer.many or "total" in answer.fields or len(arrays) == len(answer.fields) == 1


def _nouns(segments: Sequence[str]) -> Iterator[str]:
    """Yield the segments that are no parameters; those that a parameter follows in the singular."""
    for segment, following in zip(segments, [*segments[1:], ""], strict=True):
        if not segment.startswith(":"):
            yield one_of(segment) if following.startswith(":") else segment


def one_of(plural: str) -> str:
    """Return the singular: `device` for `devices`, `history` for `histories`."""
    if plural.endswith("ies"):
        return f"{plural[:-3]}y"
    return plural[:-1] if plural.endswith("s") and not plural.endswith("ss") else plural


def _segments(path: str) -> list[str]:
    return [part for part in path.split("/") if part and part != "api"] or ["service"]


def _snake(words: Sequence[str]) -> str:
    return re.sub(r"\W+", "_", "_".join(words)).lower()
