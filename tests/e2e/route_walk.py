"""Every route of the service, and how it is asked; one that stands in no table fails the walk.

A path that begins with a key of `IDS` has the id of that thing for its first parameter. What reads is asked
with all that exists and answers its success status; of what writes, the answers that hold what others have
stored or what a device says are asked for, and the rest is listed.
"""

import re
from collections.abc import Iterator
from itertools import product

# What only a holder of the right to secrets may read; the walk sees it refused.
FORBIDDEN = {
    "/api/credentials",
    "/api/credentials/{id}",
    "/api/config/devices/{device_id}/configs/{version}/raw",
}
# They lead to a provider's page and back, and ask nothing of what is stored; without a provider they are 400
# or 404.
ELSEWHERE = {
    "/api/auth/oidc/authorize",
    "/api/auth/oidc/callback",
    "/api/auth/providers/{name}/authorize",
    "/api/auth/providers/{name}/callback",
}

IDS = {
    "/api/tasks/schedules": "task",
    "/api/tasks/agent-schedules": "agent",
    "/api/tasks/executions": "run",
    "/api/admin/agent-tasks/history": "agent run",
    "/api/devices": "device",
    "/api/devices/sources/inventory": "source",
    "/api/config/devices": "device",
    "/api/config/snapshots": "snapshot",
    "/api/docs": "document",
    "/api/docs/versions": "version of a document",
    "/api/users": "user",
    "/api/roles": "role",
    "/api/sites": "site",
    "/api/webhooks": "webhook",
}
MORE = {"version": ("1", "2")}
# Behind a path, each of them, with each of the devices for <device>; the others are asked without.
_DIFFS = (
    *("", "?old_version=1&new_version=2", "?old_version=2&new_version=1", "?new_version=2&secrets=false"),
    *("?format=side_by_side", "?context=1000", "?format=side_by_side&context=1000"),
)
_OF_DEVICES = "?old_device_id=<device>&new_device_id=<device>&old_version=1&new_version=2"
QUERIES = {
    "/api/config/search": (
        "?q=e&limit=100",
        "?regex=.&limit=100&offset=100",
        "?q=e&device_type=cisco_ios&site=planted",
        "?q=e&limit=100&context=10",
        "?regex=.&limit=100&group=line&device_type=cisco_ios",
    ),
    "/api/config/diff": (_OF_DEVICES, f"{_OF_DEVICES}&format=side_by_side&context=1000"),
    "/api/config/devices/{device_id}/diff": _DIFFS,
    "/api/config/devices/{device_id}/diff-versions": _DIFFS,
    "/api/devices/find": ("?ip=127.0.0.1", "?mac=00:00:00:00:00:01"),
    "/api/tasks/history/search": ("?q=e",),
    "/api/admin/agent-tasks/history/search": ("?q=e",),
    "/api/audit": ("?limit=500",),
}
# Their answers hold what a device says or what is stored; test_canaries.py asks each.
ASKED = {
    "POST /api/devices/{id}/exec-command",
    "POST /api/devices/{id}/test-credential",
    "POST /api/devices/bulk/test-credentials",
    "POST /api/config/devices/{device_id}/pull",
    "POST /api/config/devices/bulk-pull",
    "PUT /api/config/devices/{device_id}/configs/{version}/notes",
    "POST /api/docs/{id}/render",
    "POST /api/docs/{id}/restore/{version_id}",
    "POST /api/tasks/schedules/{id}/run",
    "PUT /api/devices/{id}",
}
# What is deleted answers nothing of itself. These answer what was sent to them, or so much was done, or what
# the read of the same thing answers, which is asked.
ANSWER_WHAT_WAS_SENT = set(
    """
    PUT /api/tasks/schedules/{id}
    POST /api/tasks/schedules
    POST /api/tasks/schedules/{id}/toggle
    POST /api/tasks/agent-schedules
    PUT /api/tasks/agent-schedules/{id}
    POST /api/tasks/agent-schedules/{id}/run
    POST /api/tasks/agent-schedules/{id}/toggle
    POST /api/tasks/executions/{id}/cancel
    POST /api/tasks/executions/{id}/approve
    POST /api/tasks/executions/{id}/reject
    POST /api/tasks/executions/{id}/retry-failed
    POST /api/tasks/preview
    POST /api/agents/tools/check
    POST /api/auth/login
    POST /api/auth/ldap
    POST /api/auth/ldap/test
    POST /api/auth/providers/{name}/test
    POST /api/auth/refresh
    POST /api/auth/logout
    PUT /api/auth/password
    POST /api/auth/tokens
    POST /api/auth/otp
    POST /api/auth/otp/confirm
    POST /api/devices
    POST /api/devices/import/json
    POST /api/devices/import/csv
    POST /api/devices/sync/inventory
    POST /api/devices/sync/inventory/test
    POST /api/devices/{id}/poll
    POST /api/devices/sources/inventory
    PUT /api/devices/sources/inventory/{source_id}
    POST /api/devices/sources/inventory/{source_id}/sync
    POST /api/devices/sources/inventory/{source_id}/test
    POST /api/devices/{id}/host-key/reset
    POST /api/devices/{id}/vouch
    POST /api/devices/vouch
    POST /api/host-keys/prompts/{id}/approve
    POST /api/host-keys/prompts/{id}/reject
    POST /api/docs
    PUT /api/docs/{id}
    POST /api/vault/unlock
    POST /api/vault/lock
    POST /api/vault/password
    PUT /api/vault/password
    POST /api/ssh-ca/revoke
    POST /api/users
    PUT /api/users/{id}
    POST /api/roles
    PUT /api/roles/{id}
    POST /api/credentials
    PUT /api/credentials/{id}
    POST /api/sites
    PUT /api/sites/{id}
    POST /api/system/pause
    POST /api/system/resume
    POST /api/webhooks
    PUT /api/webhooks/{id}
    POST /api/webhooks/{id}/test
    """.strip().split("\n    ")
)


def reads(paths: dict[str, dict[str, object]]) -> list[str]:
    return [path for path, operations in paths.items() if "get" in operations and path not in ELSEWHERE]


def unlisted(paths: dict[str, dict[str, object]]) -> tuple[set[str], set[str]]:
    """The routes that write and stand in no table, and those of a table that there are not."""
    writes = {
        f"{method.upper()} {path}"
        for path, operations in paths.items()
        for method in operations
        if method in ("post", "put", "patch")
    }
    known = ASKED | ANSWER_WHAT_WAS_SENT
    return writes - known, (known - writes) | ((FORBIDDEN | ELSEWHERE | set(QUERIES)) - set(paths))


def asked(path: str, ids: dict[str, list[str]], parts: dict[str, list[str]]) -> Iterator[str]:
    """The path with all that exists; `parts` are the names of parts by device."""
    names = re.findall(r"{(\w+)}", path)
    if not names:
        for query in QUERIES.get(path, ("",)):
            devices = ids["device"] if "<device>" in query else [""]
            yield from (path + query.replace("<device>", device) for device in devices)
        return
    kind = IDS[max((known for known in IDS if path.startswith(f"{known}/{{")), key=len)]
    for first in ids[kind]:
        rest = [parts.get(first, []) if name == "name" else MORE[name] for name in names[1:]]
        for values in product((first,), *rest):
            whole = path
            for name, value in zip(names, values, strict=True):
                whole = whole.replace(f"{{{name}}}", value, 1)
            yield from (whole + query for query in QUERIES.get(path, ("",)))
