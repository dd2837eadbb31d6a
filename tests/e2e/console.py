"""What a person with curl does, one method each: credentials, devices, tasks, runs and stored configs."""

from dataclasses import dataclass
from typing import Any

from tornado.simple_httpclient import HTTPStreamClosedError

from tests.support.client import ApiClient
from tests.support.execution import eventually

SCHEDULES = "/api/tasks/schedules"
EXECUTIONS = "/api/tasks/executions"
CONFIGS = "/api/config/devices"
TERMINAL = ("completed", "failed", "cancelled", "timeout")
NEW_YEAR = "0 0 1 1 *"


@dataclass(frozen=True, kw_only=True)
class Console:
    """Speaks as one user; every answer is held to the OpenAPI description by the client."""

    client: ApiClient

    async def read(self, path: str) -> Any:
        return (await self.client.get(path)).expect()

    async def add(self, path: str, **fields: Any) -> dict[str, Any]:
        made: dict[str, Any] = (await self.client.post(path, fields)).expect(201)
        return made

    async def credential(self, name: str, **fields: Any) -> str:
        """For an SSH login with a password unless the fields say otherwise."""
        known = {"credential_type": "ssh_password", "username": "admin", "secret": "simulated"}
        sent = fields if "credential_type" in fields else {**known, **fields}
        return str((await self.add("/api/credentials", name=name, **sent))["id"])

    async def device(self, name: str, port: int, **fields: Any) -> str:
        known = {"host": "127.0.0.1", "device_type": "cisco_ios", "site": name}
        return str((await self.add("/api/devices", name=name, port=port, **{**known, **fields}))["id"])

    async def backup(self, name: str, site: str, **fields: Any) -> str:
        """A backup task of a site that does not fire by itself within the test."""
        known = {
            "cron_expression": NEW_YEAR,
            "max_retries": 0,
            "retry_delay_seconds": 0,
            "parameters": {"device_filter": {"site": site}},
        }
        return await self.task(name, "backup", **{**known, **fields})

    async def task(self, name: str, task_type: str, **fields: Any) -> str:
        known = {"cron_expression": NEW_YEAR}
        made = await self.add(SCHEDULES, name=name, task_type=task_type, **{**known, **fields})
        return str(made["id"])

    async def start(self, task_id: str) -> str:
        response = await self.client.post(f"{SCHEDULES}/{task_id}/run")
        assert response.status == 202, response.content
        run = response.json
        assert (run["state"], run["triggered_by"], run["retry_count"]) == ("pending", "manual", 0)
        assert (run["started_at"], run["completed_at"], run["output"]) == (None, None, None)
        return str(run["id"])

    async def run(self, task_id: str, *, seconds: float = 30) -> dict[str, Any]:
        """Runs the task now and answers the ended execution."""
        return await self.ended(await self.start(task_id), seconds=seconds)

    async def ended(self, execution_id: str, *, seconds: float = 30) -> dict[str, Any]:
        return await self.until(execution_id, *TERMINAL, seconds=seconds)

    async def until(self, execution_id: str, *states: str, seconds: float = 30) -> dict[str, Any]:
        """The execution once it is in one of the states.

        A connection that breaks is made anew: the worker that was about to answer has died.
        """

        async def look() -> Any:
            try:
                found = await self.read(f"{EXECUTIONS}/{execution_id}")
            except HTTPStreamClosedError:
                return None
            return found if found["state"] in states else None

        found: dict[str, Any] = await eventually(look, seconds=seconds)
        return found

    async def versions(self, device_id: str) -> list[int]:
        """The stored versions, newest first."""
        listed = await self.read(f"{CONFIGS}/{device_id}/configs")
        return [config["version"] for config in listed["configs"]]

    async def latest(self, device_id: str) -> dict[str, Any]:
        found: dict[str, Any] = await self.read(f"{CONFIGS}/{device_id}/configs/latest")
        return found

    async def log_texts(self, execution_id: str) -> list[str]:
        log = await self.read(f"{EXECUTIONS}/{execution_id}/log")
        return [entry["message"] for entry in log["entries"]]
