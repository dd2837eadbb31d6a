"""Loaded by schemathesis: most ids that it makes up become those of things that exist.

KNOWN_IDS names a JSON file: lists of ids by kind. What deletes gets those that nothing else needs.
"""

import json
import os
import re
from pathlib import Path
from typing import Any
from uuid import UUID

import schemathesis

# Why a request that is as described may be refused: what exists, is turned on, or fits beside another field.
OF_THE_WORLD = re.compile(
    r"[Tt]here is no |not enabled|cannot be changed|[Ee]xactly one of|not used by the type"
    r"|only for users of another provider|must be UTC or an IANA name|cron_expression |must be in the future"
    r"|parameters\.|required for a local user|not allowed here"
    r"|Must be an address, a network|The URL has no valid host"
    r"|Only a document of|needed for the type|The file is empty|must be an active user"
    r"|the setting outbound.allow|an OpenSSH public key|a search is always redacted"
)
KNOWN: dict[str, list[str]] = json.loads(Path(os.environ["KNOWN_IDS"]).read_text())
# By the longest beginning of the path.
KINDS = {
    "/api/admin/agent-tasks/history": "agent_execution",
    "/api/config/devices": "device",
    "/api/config/snapshots": "snapshot",
    "/api/credentials": "credential",
    "/api/devices": "device",
    "/api/devices/sources/inventory": "source",
    "/api/docs": "document",
    "/api/docs/versions": "document_version",
    "/api/roles": "role",
    "/api/sites": "site",
    "/api/tasks/agent-schedules": "agent_task",
    "/api/tasks/executions": "execution",
    "/api/tasks/schedules": "task",
    "/api/users": "user",
}
FIELDS = {
    "credential_id": "credential",
    "automation_credential_id": "credential",
    "default_credential_id": "credential",
    "snmp_credential_id": "credential",
    "device_id": "device",
    "device_ids": "device",
    "jump_device_id": "device",
    "site_id": "site",
    "task_id": "task",
    "user_id": "user",
    "version_id": "document_version",
}


def is_id(value: object) -> bool:
    try:
        return isinstance(value, str) and str(UUID(value)) == value
    except ValueError:
        return False


def known(kind: str, made_up: str) -> str:
    """One that exists in three of four cases; the same one for the same value."""
    ids, number = KNOWN.get(kind, []), UUID(made_up).int
    return ids[number // 4 % len(ids)] if ids and number % 4 else made_up


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: Any) -> Any:
    path, spare = context.operation.path, "spare_" if context.operation.method == "delete" else ""
    within = max((prefix for prefix in KINDS if path.startswith(f"{prefix}/{{")), key=len, default="")
    names = re.findall(r"{(\w+)}", path)
    for name, value in (path_parameters or {}).items():
        if is_id(value):
            wanted = KINDS.get(within, "nothing") if name == names[0] else FIELDS.get(name, "nothing")
            path_parameters[name] = known(spare + wanted, value)
        elif name == "version" and isinstance(value, int):
            path_parameters[name] = value % 3 + 1
    return path_parameters


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    return with_known_ids(body)


@schemathesis.hook
def map_query(context: Any, query: Any) -> Any:
    return with_known_ids(query)


def with_known_ids(value: Any, kind: str = "nothing") -> Any:
    if isinstance(value, dict):
        return {name: with_known_ids(inner, FIELDS.get(name, "nothing")) for name, inner in value.items()}
    if isinstance(value, list):
        return [with_known_ids(inner, kind) for inner in value]
    return known(kind, value) if kind != "nothing" and is_id(value) else value


@schemathesis.check
def refused_by_surprise(ctx: Any, response: Any, case: Any) -> None:
    """A request that is as described is refused for a reason that no description can hold, or not at all."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code != 400:
        return
    error = response.json()["error"]
    if error.startswith(("If-Match:", "If-None-Match:")):
        return  # texts of headers are made up without their pattern
    assert OF_THE_WORLD.search(error), f"as described, and refused: {error}"
