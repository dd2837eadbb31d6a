"""The requests that work when the disk of our own database is full: all others are refused."""

import re
from pathlib import Path
from uuid import uuid4

import pytest

from netautod.assembly.routes import ROUTES
from tests.assembly.route_table import normalised, table
from tests.support.client import ApiClient
from tests.support.programs.service import first_password, serving

# POST and PUT; GET and DELETE always go on.
GOES_ON = {
    "lets people in": [
        "POST /api/auth/login",
        "POST /api/auth/ldap",
        "POST /api/auth/refresh",
        "PUT /api/auth/password",
        "POST /api/auth/otp",
        "POST /api/auth/otp/confirm",
        "POST /api/vault/unlock",
    ],
    "ends or undoes": [
        "POST /api/auth/logout",
        "POST /api/tasks/executions/:/cancel",
        "POST /api/tasks/schedules/:/toggle",
        "POST /api/tasks/agent-schedules/:/toggle",
        "POST /api/system/pause",
        "POST /api/system/resume",
        "POST /api/vault/lock",
        "POST /api/ssh-ca/revoke",
        "POST /api/devices/:/host-key/reset",
        "PUT /api/users/:",
    ],
    "decides on what waits": [
        "POST /api/tasks/executions/:/approve",
        "POST /api/tasks/executions/:/reject",
        "POST /api/host-keys/prompts/:/approve",
        "POST /api/host-keys/prompts/:/reject",
    ],
    "leaves its event at most": [
        "POST /api/auth/ldap/test",
        "POST /api/auth/providers/:/test",
        "POST /api/webhooks/:/test",
        "POST /api/agents/tools/check",
        "POST /api/tasks/preview",
        "POST /api/docs/:/render",
        "POST /api/devices/:/exec-command",
        "POST /api/devices/:/test-credential",
        "POST /api/devices/bulk/test-credentials",
        "POST /api/devices/sync/inventory/test",
        "POST /api/devices/sources/inventory/:/test",
    ],
}
LISTED = {key for keys in GOES_ON.values() for key in keys}
CHANGING = ("POST", "PUT")
OPERATIONS = {
    f"{method} {normalised(route.path)}": operation
    for route in ROUTES
    for method, operation in route.operations().items()
}


def test_the_list_names_routes_that_there_are() -> None:
    assert LISTED - set(table()) == set()


@pytest.mark.parametrize("key", sorted(OPERATIONS))
def test_what_changes_something_needs_room_unless_it_is_listed(key: str) -> None:
    method = key.split()[0]
    assert OPERATIONS[key].needs_room(method) is (method in CHANGING and key not in LISTED)


@pytest.mark.slow
async def test_a_full_disk_refuses_what_grows_and_serves_the_rest(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    async with serving(data_dir) as service:
        client = await service.client()
        site = (await client.post("/api/sites", {"name": "made before"})).json["id"]
        schedule = {"name": "t", "task_type": "backup", "cron_expression": "0 0 1 1 *"}
        task = (await client.post("/api/tasks/schedules", schedule)).json["id"]
    # No disk has so much: this one is full.
    async with serving(data_dir, variables={"NETAUTOD_DATA_MIN_FREE_MB": "1000000000"}) as service:
        client = await service.client()  # which is a login
        await refused_but_for_the_listed(client)
        assert (await client.get("/health")).status == 200
        disk = (await client.get("/api/system/status")).json["database"]["disk"]
        assert (disk["full"], disk["min_free_mb"]) == (True, 1_000_000_000)
        assert disk["directory"] == str(data_dir / "mongodb")
        off = await client.post(f"/api/tasks/schedules/{task}/toggle", {"enabled": False})
        assert off.json["enabled"] is False
        assert (await client.delete(f"/api/sites/{site}")).status == 204
        changed = {"current_password": first_password(data_dir), "new_password": "another long passphrase"}
        assert (await client.put("/api/auth/password", changed)).status == 200
        log = service.log.read_text()
    assert log.count("what grows is refused") == 1
    async with serving(data_dir) as service:
        client = await service.client(password="another long passphrase")
        assert (await client.post("/api/sites", {"name": "made after"})).status == 201


async def refused_but_for_the_listed(client: ApiClient) -> None:
    for key in sorted(table()):
        method, path = key.split()
        if key in LISTED or method not in CHANGING:
            continue
        answer = await client.request(method, re.sub(":", str(uuid4()), path), {})
        assert answer.status == 503, key
        assert "is full: " in answer.json["error"], key
        assert "data.min_free_mb" in answer.json["error"], key
        assert (answer.headers["Retry-After"], set(answer.json)) == ("60", {"error"}), key
